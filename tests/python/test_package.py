import importlib
import re
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


def test_completion_offers_public_names_alone() -> None:
    import lasthop
    import lasthop.caution
    import lasthop.result

    offered = {name for name in dir(lasthop) if not name.startswith("__")}
    packages = {"models", "relay", "stability", "studies"}
    assert offered == {*lasthop.__all__, *packages} - {"__version__"}
    assert all(hasattr(lasthop, name) for name in offered)
    assert lasthop.caution is not None  # what is imported by its name is there all the same


def test_modules_that_the_documentation_names_are_there() -> None:
    root = Path(__file__).parents[2]
    pages = [root / "README.md", *(root / "docs").rglob("*.md"), *(root / "docs").rglob("*.rst")]
    named = {
        name.removesuffix(".")
        for page in pages
        for name in re.findall(r"\b(?:lasthop|lh)((?:\.[A-Za-z_]\w*)+)", page.read_text("utf-8"))
    }
    assert {".models.vbs", ".stability", ".simulate"} <= named
    missing = [name for name in sorted(named) if not is_there(name.split(".")[1:])]
    assert missing == []


FILES = {"toml", "md", "lasthop", "abi3", "conf"}
"""Names behind a dot that are no names of Python: ends of files."""


def is_there(steps: list[str]) -> bool:
    """Whether these names, one in the other, lead from the package to something."""
    if steps[0] in FILES:
        return True
    node = importlib.import_module("lasthop")
    path = "lasthop"
    for step in steps:
        path = f"{path}.{step}"
        if not hasattr(node, step):
            try:
                importlib.import_module(path)
            except ImportError:
                return False
        node = getattr(node, step)
    return True


def test_emulate_and_reproduce_are_verbs_of_the_package(tmp_path: Path) -> None:
    import lasthop as lh

    with pytest.raises(lh.UserError, match="neither a subject nor a claim"):
        lh.reproduce(["xyzzy"], directory=tmp_path)
    # a claim of the models alone, which simulates nothing
    found = lh.reproduce(["acsma-16"], directory=tmp_path)
    assert [each.claim.id for each in found.results] == ["acsma-16"]
    with pytest.raises(lh.UserError, match="webs"):
        lh.emulate({"duration": "1 s", "webs": {}})
