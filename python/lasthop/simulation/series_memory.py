"""Memory for the time series of a run and their table, estimated before the run."""

from collections.abc import Sequence
from math import floor, inf, log10

from lasthop.progress.cost_limits import allowing, need
from lasthop.scenario.scenario import Scenario

__all__ = ["need_room", "need_room_in_sweep", "values_sampled"]

VALUE_BYTES = 350.0
"""Memory per value while the table is created from JSON. Measurements with millions of values were
284 to 301 bytes. [bytes]
"""


def values_sampled(scenario: Scenario) -> int:
    """Return the total number of values in the time series; 0 if no series are sampled."""
    series, samples = scenario.checked.sampled()
    return series * samples


def need_room(scenario: Scenario, max_memory_bytes: float) -> None:
    """Refuse a run whose time series would need more than `max_memory_bytes`.

    Raises
    ------
    TooCostlyError
        If the series would need more memory.
    """
    series, samples = scenario.checked.sampled()
    what = f"{scenario.source}: {series} time series of {samples} samples"
    _need(what, scenario, series * samples, max_memory_bytes)


def need_room_in_sweep(
    scenario: Scenario, values: Sequence[int], at_once: int, max_memory_bytes: float
) -> None:
    """Refuse a sweep whose time series would need more than `max_memory_bytes`.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the sweep.
    values : sequence of int
        Number of values in the time series of each grid point.
    at_once : int
        Number of grid points that are simulated simultaneously. The grid points with the most
        values are assumed to be simulated at the same time.
    max_memory_bytes : float
        Limit of the memory of all time series. [bytes]

    Raises
    ------
    TooCostlyError
        If the series would need more memory.
    """
    largest = sorted(values, reverse=True)[:at_once]
    points = "a point" if len(largest) == 1 else f"{len(largest)} points together"
    _need(f"{scenario.source}: time series of {points}", scenario, sum(largest), max_memory_bytes)


def _need(what: str, scenario: Scenario, values: int, max_memory_bytes: float) -> None:
    if not values:
        return
    memory_bytes = VALUE_BYTES * values
    interval_s = scenario.typed.record.series_interval_s
    coarser = ""
    if interval_s is not None:
        coarser_s = _rounded_up(interval_s * memory_bytes / max_memory_bytes)
        if coarser_s <= scenario.typed.duration_s:
            coarser = f"take samples only every {coarser_s:g} s"
    with allowing(inf, max_memory_bytes):
        need(what, memory_bytes=memory_bytes, smaller=coarser)


def _rounded_up(value: float) -> float:
    """Return the next number of the form 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)
