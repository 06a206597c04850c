"""The documentation page of the paper names existing functions, and tests that check its
statements.
"""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/papers/acsma.md").read_text(encoding="utf-8")
TABLE = PAGE[PAGE.index("## Equations") : PAGE.index("## Solvers")]
ROWS = [line.split("|")[1:-1] for line in TABLE.splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_every_row_names_functions_that_exist(row):
    for name in re.findall(r"`([\w.]+)`", row[1]):
        module, *path = name.split(".")
        assert reduce(getattr, path, import_module(f"lasthop.models.acsma.{module}"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_every_row_names_tests_that_exist(row):
    for name in re.findall(r"`(\w+)`", row[2]):
        assert (ROOT / f"tests/equations/test_acsma_{name}.py").exists(), name


def test_every_checked_equation_has_a_row():
    listed = " ".join(row[0] for row in ROWS)
    for path in sorted(Path(__file__).parent.glob("test_acsma_*.py")):
        for number in re.findall(r'equation\("acsma", "([AB\d.]+)"\)', path.read_text("utf-8")):
            assert f"({number})" in listed, f"{number} in {path.name}"


def test_every_equation_with_a_row_is_checked():
    listed = [re.findall(r"\(([AB]?\d?\.\d+)\)", row[0]) for row in ROWS]
    texts = [path.read_text("utf-8") for path in Path(__file__).parent.glob("test_acsma_*.py")]
    for numbers in listed:
        assert any(f'equation("acsma", "{n}")' in text for n in numbers for text in texts), numbers
