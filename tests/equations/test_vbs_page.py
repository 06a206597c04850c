"""The documentation page of the paper names existing functions, and tests that check its
statements.
"""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

from lasthop.models.vbs import Options

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/papers/vbs.md").read_text(encoding="utf-8")
TABLE = PAGE[PAGE.index("### Equations of the model") : PAGE.index("### Model against simulation")]
ROWS = [line.split("|")[1:-1] for line in TABLE.splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_every_row_names_functions_that_exist(row):
    names = [name.split(".") for name in re.findall(r"`([\w.]+)`", row[1])]
    for name in names:
        if name[0] == "Cell":
            name = ["cell", *name]
        module, path = (name[0], name[1:]) if len(name) > 1 else (names[0][0], name)
        function = reduce(getattr, path, import_module(f"lasthop.models.vbs.{module}"))
        assert function is not None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_every_row_names_tests_that_exist(row):
    for name in re.findall(r"`(\w+)`", row[2]):
        assert (ROOT / f"tests/equations/test_vbs_{name}.py").exists(), name


def test_every_checked_equation_has_a_row():
    listed = " ".join(row[0] for row in ROWS)
    for path in sorted(Path(__file__).parent.glob("test_vbs_*.py")):
        for number in re.findall(r'equation\("vbs", (\d+)\)', path.read_text("utf-8")):
            assert f"({number})" in listed, f"{number} in {path.name}"


def test_readings_named_on_the_page_are_the_options():
    readings = PAGE[PAGE.index("### Interpretations in the model") : PAGE.index("### Limits")]
    named = re.findall(r"^\*\*`(\w+)`", readings, re.MULTILINE)
    assert set(named) == set(Options().to_dict())
