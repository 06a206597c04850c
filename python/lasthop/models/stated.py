"""Stated errors: the errors that the documentation states for the predictions of each model."""

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
        Names of the lists of a result, such as ``"stations"``, to whose items the error applies.
    is_absolute : bool
        Whether the error is a difference of two fractions.
    """

    error: float
    lists: tuple[str, ...]
    is_absolute: bool = False

    def of(self, difference: float, simulated: float) -> float:
        """Return a difference between prediction and simulation as an error. The error is the
        difference divided by the simulated value, or the difference itself if `is_absolute`. [-]
        """
        return difference if self.is_absolute else difference / simulated

    def words(self, error: float) -> str:
        """Return an error as text: in percent, or in percentage points if `is_absolute`."""
        percent = 100 * abs(error)
        number = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"
        return f"{number} {'points' if self.is_absolute else '%'}"


def stated_errors(model: str, scenario: Scenario) -> Mapping[str, StatedError]:
    """Return the stated errors of a model, by quantity. Quantities that are missing have no stated
    error.
    """
    if isinstance(scenario, CsmaScenario) and model == "acsma":
        return _acsma(scenario)
    if not isinstance(scenario, CellScenario) or model not in STATED:
        return {}
    return STATED[model](scenario)


def _acsma(scenario: CsmaScenario) -> Mapping[str, StatedError]:
    """Return the error that ``docs/reference/claims.md`` states. It is smaller with h-ACK (TCP ACKs
    that use no air time) than with n-ACK (TCP ACKs that contend).
    """
    error = 0.18 if scenario.csma.acks == "priority" else 0.33
    return {"goodput_bps": StatedError(error, ("flows",))}


def _aggregates(_: CellScenario) -> Mapping[str, StatedError]:
    """Return the largest error that ``tests/validation/test_aggregates_engine.py`` tolerates."""
    return {"goodput_bps": StatedError(0.01, ("cells",))}


def _airtime(_: CellScenario) -> Mapping[str, StatedError]:
    """Return an error that ``docs/papers/airtime.md`` states: the error for stations that a FIFO
    serves, which is the largest of the stated errors.
    """
    return {"goodput_bps": StatedError(0.06, ("stations",))}


def _dcf(scenario: CellScenario) -> Mapping[str, StatedError]:
    """Return the error that ``docs/papers/dcf.md`` states; the error is larger for a small
    CWmin."""
    from lasthop.models.dcf.assumptions import SMALL_ERRORS, SPREAD

    least = _least_cwmin(scenario)
    error = next((error for cwmin, error in SMALL_ERRORS if least <= cwmin), SPREAD)
    return {"goodput_bps": StatedError(error, ("cells",))}


def _edca(scenario: CellScenario) -> Mapping[str, StatedError]:
    """Return the error that ``docs/reference/claims.md`` states for a CWmin of at least 15, or for
    CWmin 3.
    """
    error = 0.05 if _least_cwmin(scenario) >= 15 else 0.11
    return {"goodput_bps": StatedError(error, ("cells",))}


def _hotspot(scenario: CellScenario) -> Mapping[str, StatedError]:
    """Return the error that ``docs/reference/claims.md`` states, or that ``docs/papers/hotspot.md``
    states for cells of 802.11n, ac and ax.
    """
    stations = ("stations",)
    if not isinstance(scenario.cell, AggregatingCell):
        return {name: StatedError(0.15, stations) for name in ("goodput_share", "fairness_level")}
    from lasthop.models.hotspot.assumptions import aggregates_off

    return {"goodput_share": StatedError(aggregates_off(scenario) / 100, stations, True)}


def _vbs(_: CellScenario) -> Mapping[str, StatedError]:
    """Return the errors that ``docs/reference/claims.md`` states for the corrected model of paper
    000.
    """
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
