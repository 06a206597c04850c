"""The documentation page of the paper names existing functions, and tests that check its
statements.
"""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/papers/hotspot.md").read_text(encoding="utf-8")
TABLE = PAGE[PAGE.index("## Equations") : PAGE.index("## Figures")]
ROWS = [line.split("|")[1:-1] for line in TABLE.splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_every_row_names_functions_that_exist(row):
    names = re.findall(r"`([\w.]+)`", row[1])
    module = import_module(f"lasthop.models.hotspot.{names[0].split('.')[0]}")
    for name in names:
        assert hasattr(module, name.split(".")[-1]), name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_every_row_names_tests_that_exist(row):
    for name in re.findall(r"`(\w+)`", row[2]):
        assert (ROOT / f"tests/equations/test_hotspot_{name}.py").exists(), name


def test_every_checked_equation_has_a_row():
    listed = " ".join(row[0] for row in ROWS)
    for path in sorted(Path(__file__).parent.glob("test_hotspot_*.py")):
        for number in re.findall(r'equation\("hotspot", "?([\w ]+)"?\)', path.read_text("utf-8")):
            assert re.search(rf"\({number}\)|\b{number}\b", listed), f"{number} in {path.name}"
