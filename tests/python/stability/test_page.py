"""The documentation pages of the papers name functions and tests that exist."""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent


def stability_part(page: str) -> str:
    """Return the part of the page before the section on the models of lasthop.models."""
    return (ROOT / f"docs/papers/{page}.md").read_text("utf-8").split("## The model")[0]


ROWS = [
    (page, line.split("|")[1:-1])
    for page in ("red", "vbs")
    for line in stability_part(page).splitlines()
    if line.startswith("| (")
]


@pytest.mark.parametrize(("page", "row"), ROWS, ids=lambda x: str(x)[:20])
def test_row_names_functions_and_tests_that_exist(page: str, row: list[str]) -> None:
    for name in re.findall(r"`((?:models\.)?\w+)\.([\w.]+)`", row[1]):
        module = import_module(f"lasthop.stability.{name[0]}")
        assert reduce(getattr, name[1].split("."), module)
    for name in re.findall(r"`(\w+)`", row[2]):
        assert (HERE / f"test_{name}.py").exists(), name


def test_every_checked_equation_has_a_row() -> None:
    for page in ("red", "vbs"):
        listed = " ".join(row[0] for each, row in ROWS if each == page)
        for path in HERE.glob("test_*.py"):
            for number in re.findall(rf'equation\("{page}", (\d+)\)', path.read_text("utf-8")):
                assert f"({number})" in listed, f"{page} ({number}) in {path.name}"
