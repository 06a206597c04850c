"""Docstrings of public functions: their sections and examples."""

import doctest
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh

VERBS = sorted(
    name
    for name in lh.__all__
    if inspect.isfunction(getattr(lh, name)) and not name.startswith("_")
)

CANNOT_FAIL = {"schema"}
"""Functions that have no parameters and raise no errors."""

SKIPPED = {
    "emulate": "Real time needs Linux and root rights",
    "write_report": "This needs the template of reports, which Node builds",
}
"""Functions whose examples are not run, with the reason in the docstring."""


def documented(name: str) -> str:
    return inspect.getdoc(getattr(lh, name)) or ""


def sections(text: str) -> dict[str, str]:
    """Return the sections of a numpydoc docstring by name."""
    parts = re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_verbs_are_those_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text("utf-8")
    assert set(VERBS) == set(re.findall(r"^\| `(\w+)` \| [a-z].*? \|$", page, re.M)) & set(VERBS)
    assert {"simulate", "predict", "load", "emulate", "schema"} <= set(VERBS)


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_documents_parameters_result_errors_and_an_example(name: str) -> None:
    parts = sections(documented(name))
    parameters = inspect.signature(getattr(lh, name)).parameters
    needed = {"Returns", "Examples"}
    needed |= {"Parameters"} if parameters else set()
    needed |= set() if name in CANNOT_FAIL else {"Raises"}
    assert needed <= set(parts)
    rows = re.findall(r"^([a-z_, ]+)(?: : .*)?$", parts.get("Parameters", ""), re.M)
    assert {each for line in rows for each in line.split(", ")} == set(parameters)
    assert ">>> " in parts["Examples"]


def test_sections_are_found() -> None:
    text = "Do it.\n\nParameters\n----------\na : int\n    A.\n\nReturns\n-------\nint\n"
    assert sections(text) == {"Parameters": "a : int\n    A.\n\n", "Returns": "int\n"}


@pytest.mark.parametrize("name", VERBS)
def test_the_example_of_a_verb_prints_the_shown_output(name: str) -> None:
    verb: Callable[..., Any] = getattr(lh, name)
    module = sys.modules[verb.__module__]
    [test] = doctest.DocTestFinder(recurse=False).find(verb, name, module=module)
    skipped = [each for each in test.examples if each.options.get(doctest.SKIP)]
    assert bool(skipped) == (name in SKIPPED)
    if skipped:
        assert SKIPPED[name] in documented(name)
    printed: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=printed.append)
    assert not result.failed, "".join(printed)
