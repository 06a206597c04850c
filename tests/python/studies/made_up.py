"""Runs of made-up numbers, and comparison of measured values with values computed by hand."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest

from lasthop.scenario.scenario import Scenario
from lasthop.studies.study import Quantity, Run, Study

Pair = tuple[float, float]
"""Values of a quantity in two replications."""


def a_run(
    *,
    scenario: Mapping[str, Any] | None = None,
    **lists: Mapping[str, Mapping[str, Sequence[float]]],
) -> Run:
    """Return a run with these samples, by list, item and quantity. For example:

    ``a_run(stations={"first": {"goodput_bps": (1e6, 2e6)}})``
    """
    return Run(lists, scenario=scenario or {})


def expect(measured: Mapping[str, Quantity], **worked: tuple[float, ...]) -> None:
    """Compare each measured value in every replication with the values computed by hand."""
    assert set(measured) == set(worked)
    for name, pair in worked.items():
        assert tuple(measured[name].samples) == pytest.approx(pair, nan_ok=True), name


def normalised(study: Study) -> dict[str, Mapping[str, Any]]:
    """Return every scenario of a study, with the defaults of all keys."""
    return {point: _checked(json.dumps(tree)) for point, tree in study.points.items()}


@cache
def _checked(text: str) -> Mapping[str, Any]:
    """Return a scenario with its defaults, from its JSON text. The result is cached, because many
    tests use the same scenarios.
    """
    return Scenario(json.loads(text)).to_dict()


def only(tree: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return the given keys of a table."""
    return {key: tree[key] for key in keys}


def every(items: Sequence[Mapping[str, Any]], key: str) -> set[Any]:
    """Return the set of values of a key in several tables."""
    return {item[key] for item in items}
