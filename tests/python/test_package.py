import subprocess
import sys

HEAVY = ("pandas", "scipy", "matplotlib", "pyarrow", "numpy")


def loaded_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*[m for m in {HEAVY} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_import_loads_no_heavy_package() -> None:
    assert loaded_after("import lasthop") == set()
