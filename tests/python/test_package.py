import subprocess
import sys

HEAVY = ("pandas", "scipy", "matplotlib", "pyarrow", "numpy")


def loaded_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*[m for m in {HEAVY} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_import_loads_no_heavy_package() -> None:
    assert loaded_after("import lasthop") == set()


def test_help_loads_no_heavy_package() -> None:
    assert loaded_after("import lasthop.cli; lasthop.cli.main(['--help'])") & set(HEAVY) == set()


def test_a_gateways_command_loads_no_heavy_package() -> None:
    start = "from lasthop.cli import main; main(['gateway', 'status', '/dev/null'])"
    assert loaded_after(start) == set()


def test_every_public_name_is_there() -> None:
    import lasthop

    assert all(hasattr(lasthop, name) for name in lasthop.__all__)
