"""Errors of the predictions of each model, as the documentation states them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lasthop.scenario.typed import AggregatingCell, CellScenario, CsmaScenario, Scenario


@dataclass(frozen=True)
class StatedError:
    """Largest stated difference between a prediction and a simulation.

    Attributes
    ----------
    error : float
        Difference divided by the simulated value; if `is_absolute`, the difference itself. [-]
    lists : tuple of str
        Lists of results to whose items the error applies.
    is_absolute : bool
        Whether the error is a difference of two fractions.
    """

    error: float
    lists: tuple[str, ...]
    is_absolute: bool = False

    def of(self, difference: float, simulated: float) -> float:
        """Return the error of a difference: relative, or absolute if `is_absolute`. [-]"""
        return difference if self.is_absolute else difference / simulated

    def words(self, error: float) -> str:
        """Return an error as text, in percent or in percentage points."""
        percent = 100 * abs(error)
        number = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"
        return f"{number} {'points' if self.is_absolute else '%'}"


def stated_errors(model: str, scenario: Scenario) -> Mapping[str, StatedError]:
    """Return the stated errors of a model, by quantity; other quantities have no stated error."""
    if isinstance(scenario, CsmaScenario) and model == "acsma":
        return _acsma(scenario)
    if not isinstance(scenario, CellScenario) or model not in STATED:
        return {}
    return STATED[model](scenario)


def _acsma(scenario: CsmaScenario) -> Mapping[str, StatedError]:
    """Return the errors of ``docs/reference/claims.md`` with h-ACK and with n-ACK."""
    error = 0.18 if scenario.csma.acks == "priority" else 0.33
    return {"goodput_bps": StatedError(error, ("flows",))}


def _aggregates(_: CellScenario) -> Mapping[str, StatedError]:
    """Return the tolerance of ``tests/validation/test_aggregates_engine.py``."""
    return {"goodput_bps": StatedError(0.01, ("cells",))}


def _airtime(_: CellScenario) -> Mapping[str, StatedError]:
    """Return the errors of ``docs/papers/airtime.md``; for a station of a FIFO, the larger
    error.
    """
    return {"goodput_bps": StatedError(0.06, ("stations",))}


def _dcf(scenario: CellScenario) -> Mapping[str, StatedError]:
    """Return the error of ``docs/papers/dcf.md``, which is larger for small CWmin."""
    from lasthop.models.dcf.assumptions import SMALL_ERRORS, SPREAD

    least = _least_cwmin(scenario)
    error = next((error for cwmin, error in SMALL_ERRORS if least <= cwmin), SPREAD)
    return {"goodput_bps": StatedError(error, ("cells",))}


def _edca(scenario: CellScenario) -> Mapping[str, StatedError]:
    """Return the errors of ``docs/reference/claims.md``: from CWmin 15 on, and at CWmin 3."""
    error = 0.05 if _least_cwmin(scenario) >= 15 else 0.11
    return {"goodput_bps": StatedError(error, ("cells",))}


def _hotspot(scenario: CellScenario) -> Mapping[str, StatedError]:
    """Return the error of ``docs/reference/claims.md``, or of ``docs/papers/hotspot.md`` for cells
    that aggregate.
    """
    stations = ("stations",)
    if not isinstance(scenario.cell, AggregatingCell):
        return {name: StatedError(0.15, stations) for name in ("goodput_share", "fairness_level")}
    from lasthop.models.hotspot.assumptions import aggregates_off

    return {"goodput_share": StatedError(aggregates_off(scenario) / 100, stations, True)}


def _vbs(_: CellScenario) -> Mapping[str, StatedError]:
    """Return the errors of ``docs/reference/claims.md`` for the corrected model."""
    lists = ("classes", "cells")
    return {
        "goodput_bps": StatedError(0.08, lists),
        "loss_probability": StatedError(0.13, lists),
    }


def _least_cwmin(scenario: CellScenario) -> int:
    return min(node.cwmin for node in (scenario.cell.ap, *scenario.stations))


STATED: Mapping[str, Callable[[CellScenario], Mapping[str, StatedError]]] = {
    "aggregates": _aggregates,
    "airtime": _airtime,
    "dcf": _dcf,
    "edca": _edca,
    "hotspot": _hotspot,
    "vbs": _vbs,
}
"""Functions that return the stated errors, by model."""
