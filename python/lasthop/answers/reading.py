"""Functions that read and check saved results of all kinds."""

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lasthop import _core
from lasthop.answers.envelope import fault_in, fault_in_version
from lasthop.errors import ScenarioError, UserError
from lasthop.scenario.files import in_utf8
from lasthop.scenario.origin import scenario_of
from lasthop.scenario.scenario import Scenario

__all__ = [
    "SUMMARY_ONLY",
    "WRONG_SHAPE",
    "base_of",
    "scenario_in",
    "short",
    "summary_of",
    "text_of",
    "tree_of",
]

SUMMARY_ONLY = "only a summary was loaded"
"""Reason why a result has no scenario, samples or series: it was read from a summary."""

WRONG_SHAPE = (KeyError, TypeError, ValueError, AttributeError)
"""Exceptions that are raised when JSON data have an unexpected structure."""


def text_of(file: Path) -> str:
    """Return the text of a file."""
    if not file.exists():
        raise UserError(f"{file}: no such file or directory")
    if not file.is_file():
        raise UserError(f"{file}: neither a file nor a directory")
    try:
        return in_utf8(file.read_bytes()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{file}: not JSON: it is no text in UTF-8") from None
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None


def tree_of(file: Path, text: str) -> Mapping[str, Any]:
    """Return the JSON object of a file."""
    if not text.strip():
        raise UserError(f"{file}: it is empty")
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        what = "cut short" if is_cut else "not JSON"
        raise UserError(f"{file}: {what}: {error.msg} in line {error.lineno}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file}: not JSON of lasthop: {short(error)}") from None
    if not isinstance(tree, dict):
        raise UserError(f"{file}: no answer of lasthop: it is no JSON object")
    return tree


def summary_of(file: Path, tree: Any) -> Mapping[str, Any]:
    """Return a summary after its structure was checked."""
    fault = fault_in(tree)
    if fault is not None:
        raise UserError(f"{file}: {fault}")
    known: Mapping[str, Any] = tree
    return known


def scenario_in(file: Path, tree: Mapping[str, Any]) -> Scenario:
    """Return the scenario from the JSON object of a record or a sweep."""
    try:
        origin = tree["origin"]
        scenario = scenario_of(origin)
    except ScenarioError as error:
        first = str(error).partition("\n")[0]
        message = f"{file}: its scenario is refused by lasthop {_core.VERSION}: {first}"
        raise UserError(message) from None
    except WRONG_SHAPE:
        raise UserError(f"{file}: has no scenario: `origin` is missing or damaged") from None
    if scenario.key != origin.get("key"):
        message = (
            f"{file}: lasthop {_core.VERSION} reads the scenario otherwise than "
            f"{tree.get('version')}, which simulated it: a default has changed"
        )
        warnings.warn(message, RuntimeWarning, stacklevel=4)
    return scenario


def base_of(file: Path, tree: Mapping[str, Any]) -> Scenario:
    """Return the scenario of a sweep or a what-if after its version was checked."""
    if (fault := fault_in_version(tree)) is not None:
        raise UserError(f"{file}: {fault}")
    return scenario_in(file, tree)


def short(what: object) -> str:
    """Return a value as short text on one line, for a message."""
    text = " ".join(repr(what).split())
    return text if len(text) <= 60 else f"{text[:60]}..."
