"""The documentation page of the paper names existing functions, and tests that check its
statements.
"""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/papers/edca.md").read_text(encoding="utf-8")
TABLE = PAGE[PAGE.index("## Equations") : PAGE.index("## Solvers")]
ROWS = [line.split("|")[1:-1] for line in TABLE.splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_every_row_names_functions_that_exist(row):
    names = [name.split(".") for name in re.findall(r"`([\w.]+)`", row[1])]
    for name in names:
        module, path = (name[0], name[1:]) if len(name) > 1 else (names[0][0], name)
        assert reduce(getattr, path, import_module(f"lasthop.models.edca.{module}"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_every_row_names_tests_that_exist(row):
    for name in re.findall(r"`(\w+)`", row[2]):
        assert (ROOT / f"tests/equations/test_edca_{name}.py").exists(), name


def test_every_checked_equation_has_a_row():
    listed = " ".join(row[0] for row in ROWS)
    for path in sorted(Path(__file__).parent.glob("test_edca_*.py")):
        for number in re.findall(r'equation\("edca", (\d+)\)', path.read_text("utf-8")):
            assert f"({number})" in listed, f"{number} in {path.name}"


def test_readings_named_on_the_page_are_the_options():
    from lasthop.models.edca.options import Options

    readings = PAGE[PAGE.index("## Readings") : PAGE.index("## What is refused")]
    named = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\*\*.*$", readings, re.MULTILINE)))
    assert set(named) == set(Options().to_dict()) - {"solver"}
