"""Common parts of predictions: the outer dictionary of a result, and a value in its lists."""

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any, TypeAlias

from lasthop.answers.fairness import jain
from lasthop.models.assumptions import BY_MODEL
from lasthop.models.errors import Doubt, warning_text
from lasthop.scenario.typed import CellScenario, Flow, Scenario

FORMAT = 1
"""Version number of the format of saved predictions. The engine's results have the same format."""

Quantities: TypeAlias = dict[str, Any]
"""Quantities of a node, flow or other item, by the names of the quantities."""

Values: TypeAlias = dict[str, float]
"""Values of a node, flow or other item, by quantity."""

Lists: TypeAlias = Mapping[str, list[Quantities]]
"""Lists of items such as stations or flows, by the names of the lists in a simulation's result."""


def estimate(mean: float) -> Quantities:
    """Return a value in the form of results, without a confidence interval."""
    return {"mean": float(mean), "ci95": None}


def item(name: str, **values: float | str | None) -> Quantities:
    """Return an item of a list in a result: the item's name, its labels (texts) and its quantities.
    Values that are None are left out.
    """
    known = {key: value for key, value in values.items() if value is not None}
    quantities = {
        key: value if isinstance(value, str) else estimate(value) for key, value in known.items()
    }
    return {"name": name, **quantities}


def cell_item(
    goodput_bps: float,
    active: float,
    competing_bps: Collection[float],
    flows: Iterable[tuple[Flow, float]],
) -> Quantities:
    """Return the result of a cell: its goodput, its mean number of active stations, and its
    fairness.

    The models of cells assume that every flow sends as fast as it can. For the fairness, all
    stations with flows therefore count as competing.

    Parameters
    ----------
    goodput_bps : float
        Goodput of the cell. [bit/s]
    active : float
        Mean number of active stations.
    competing_bps : collection of float
        Goodputs of the stations with flows. [bit/s]
    flows : iterable of (Flow, float)
        Flows with their goodputs. [bit/s]
    """
    by_direction = {"up": 0.0, "down": 0.0}
    for flow, own_bps in flows:
        by_direction[flow.direction] += own_bps
    up, down = by_direction.values()
    return item(
        "cell",
        goodput_bps=goodput_bps,
        active_stations=active,
        jain=jain(competing_bps),
        updown_ratio=up / down if up and down else None,
    )


class CellValues:
    """Predicted values of a cell, its access point, stations and flows.

    Attributes
    ----------
    goodput_bps : float
        Goodput of the cell. [bit/s]
    ap : dict
        Values of the access point by quantity.
    stations : dict
        Values of each station by quantity, by the station's name.
    flows : list
        Flows with their goodputs [bit/s] and further values.
    """

    def __init__(self, scenario: CellScenario, goodput_bps: float) -> None:
        self.goodput_bps = goodput_bps
        self.ap: Values = {}
        self.stations: dict[str, Values] = {station.name: {} for station in scenario.stations}
        self.flows: list[tuple[Flow, float, Values]] = []

    def shares(self, goodput_bps: float) -> Values:
        """Return a goodput and its share of the goodput of the cell."""
        return {"goodput_bps": goodput_bps, "goodput_share": goodput_bps / self.goodput_bps}

    def lists(self, active: float) -> dict[str, list[Quantities]]:
        """Return the lists of a result; `active` is the mean number of active stations."""
        competing = [own["goodput_bps"] for own in self.stations.values() if "goodput_bps" in own]
        pairs = [(flow, goodput_bps) for flow, goodput_bps, _ in self.flows]
        cell = cell_item(self.goodput_bps, active, competing, pairs)
        flows = [
            item(
                flow.name,
                station=flow.station,
                direction=flow.direction,
                **(self.shares(goodput_bps) | more),
            )
            for flow, goodput_bps, more in self.flows
        ]
        stations = [item(name, **values) for name, values in self.stations.items()]
        return {
            "flows": flows,
            "stations": stations,
            "aps": [item("ap", **self.ap)],
            "cells": [cell],
        }


def prediction(
    model: str,
    scenario: Scenario,
    lists: Lists,
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
        Predicted values, in lists with the names and the form of the lists in a simulation's
        result.
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
            for number, words in BY_MODEL[model].items()
        ],
        "warnings": [warning_text(model, each) for each in warnings],
    }


@cache  # a search calls `predict` hundreds of times
def _version() -> str:
    # `importlib.metadata` loads many modules. The import is here, at the first use, so that `import
    # lasthop` is fast.
    from importlib.metadata import version

    return version("lasthop")
