import subprocess
import sys
from pathlib import Path

import pytest

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


def test_emulate_and_reproduce_are_verbs_of_the_package(tmp_path: Path) -> None:
    import lasthop as lh

    with pytest.raises(lh.UserError, match="neither a subject nor a claim"):
        lh.reproduce(["xyzzy"], directory=tmp_path)
    # a claim of the models alone, which simulates nothing
    found = lh.reproduce(["acsma-16"], directory=tmp_path)
    assert [each.claim.id for each in found.results] == ["acsma-16"]
    with pytest.raises(lh.UserError, match="webs"):
        lh.emulate({"duration": "1 s", "webs": {}})
