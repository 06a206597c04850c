"""Common parts of predictions: the envelope, and a value in it."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeAlias

from lasthop.answers.fairness import jain
from lasthop.models.errors import Doubt, warning_text
from lasthop.scenario.typed import Scenario

FORMAT = 1
"""Format of a saved prediction; that of the engine's results."""

Quantities: TypeAlias = dict[str, Any]
"""Quantities of an item, by name."""

Lists: TypeAlias = Mapping[str, list[Quantities]]
"""Items by list, as in a simulation's result."""


def estimate(mean: float) -> Quantities:
    """Return a value in the form of results; a model has no interval."""
    return {"mean": float(mean), "ci95": None}


def cell_item(
    goodput_bps: float, active: float, stations: list[Quantities], flows: list[Quantities]
) -> Quantities:
    """Return a cell with its goodput, its mean of active stations, and its fairness.

    Every flow of a model of a cell takes what it can get, so that all stations with flows compete.
    """
    shares = [station["goodput_bps"]["mean"] for station in stations if "goodput_bps" in station]
    item: Quantities = {
        "name": "cell",
        "goodput_bps": estimate(goodput_bps),
        "active_stations": estimate(active),
    }
    if (index := jain(shares)) is not None:
        item["jain"] = estimate(index)
    up, down = (
        sum(flow["goodput_bps"]["mean"] for flow in flows if flow["direction"] == way)
        for way in ("up", "down")
    )
    if up and down:
        item["updown_ratio"] = estimate(up / down)
    return item


def prediction(
    model: str,
    scenario: Scenario,
    lists: Lists,
    *,
    assumptions: Mapping[str, str],
    warnings: Iterable[Doubt | str],
    **more: object,
) -> Quantities:
    """Return a result of kind ``"prediction"``.

    Parameters
    ----------
    model : str
        Name of the model.
    scenario : Scenario
        Scenario of the prediction.
    lists : mapping of str to list
        Predictions, in the lists of a simulation's result.
    assumptions : mapping of str to str
        Assumptions of the model by number, as words after "the assumption".
    warnings : iterable of str or (str, str)
        Warnings about the prediction, each with the number of the assumption if it has one.
    **more
        Further values of this model: its solver, its options.
    """
    return {
        "kind": "prediction",
        "model": model,
        "scenario": scenario.name,
        "seed": None,
        "replications": None,
        "version": _version(),
        "format": FORMAT,
        "duration_s": None,
        "warmup_s": None,
        **lists,
        **more,
        "assumptions": [
            f"{number}: {words.removeprefix('that ').removeprefix('of ')}"
            for number, words in assumptions.items()
        ],
        "warnings": [warning_text(model, each) for each in warnings],
    }


@cache  # A search predicts hundreds of times.
def _version() -> str:
    from importlib.metadata import version  # which imports much; `import lasthop` stays light

    return version("lasthop")
