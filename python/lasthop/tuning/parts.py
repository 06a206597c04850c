"""Limits on the harm that a setting of access parameters may do to single flows and stations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from statistics import fmean
from typing import TypeAlias

from lasthop.answers.estimates import Estimate
from lasthop.simulation.result import Result
from lasthop.tuning.measures import is_beyond

Part: TypeAlias = tuple[str, str]
"""Name of a flow or a station, and name of a quantity."""

Parts: TypeAlias = Mapping[Part, Sequence[float]]
"""Values of quantities of single flows and stations, one per replication; NaN if a replication has
no value.
"""

RTT, RTT_P99, DELAY_P99, GOODPUT = "rtt_s", "rtt_p99_s", "one_way_delay_p99_s", "goodput_bps"

GUARDED = (
    ("flows", RTT, "the RTT of a flow longer"),
    ("flows", RTT_P99, "the 99th percentile of a flow's RTT longer"),
    ("flows", DELAY_P99, "the 99th percentile of a flow's delay longer"),
    ("stations", GOODPUT, "the goodput of a station lower"),
)
"""Guarded quantities: list of the result, name of the quantity, and text about the harm."""


@dataclass(frozen=True)
class Loss:
    """A station that gets less goodput than with the present setting.

    Attributes
    ----------
    station : str
    now_bps, then_bps : float
        Goodput of the station with the present setting, and with the compared setting. [bit/s]
    change_bps : Estimate
        Mean of the paired differences: compared setting minus present setting. [bit/s]
    """

    station: str
    now_bps: float
    then_bps: float
    change_bps: Estimate


def parts_of(result: Result) -> Parts:
    """Return the guarded quantities (`GUARDED`) of every flow and station of a result."""
    return {
        (name, quantity): [nan if value is None else value for value in quantities[quantity]]
        for list_name, quantity, _ in GUARDED
        for name, quantities in result.sample_tree.get(list_name, {}).items()
        if quantity in quantities
    }


def harm(ours: Parts, now: Parts, give_up: float) -> str | None:
    """Return a text about the harm to a single flow or station that exceeds `give_up`; None if
    there is no such harm.

    A quantity is harmed if it worsens on average by more than the fraction `give_up` of its present
    value, and not due to chance; see `is_beyond`.
    """
    for _, quantity, words in GUARDED:
        sign = -1.0 if quantity == GOODPUT else 1.0
        for part in (part for part in now if part[1] == quantity):
            pairs = _pairs(ours.get(part, ()), now[part])
            if pairs and is_beyond(
                [sign * (mine - present) for mine, present in pairs],
                give_up * fmean(present for _, present in pairs),
            ):
                return f"{words} by more than {100 * give_up:g} %"
    return None


def losers(ours: Parts, now: Parts) -> Iterator[Loss]:
    """Yield every station whose goodput decreases by more than the confidence interval of the
    decrease.
    """
    for (name, quantity), values in now.items():
        pairs = _pairs(ours.get((name, quantity), ()), values) if quantity == GOODPUT else []
        if pairs:
            change = Estimate.of([mine - present for mine, present in pairs])
            if -change.mean > (change.ci95 or 0.0):
                after, before = (fmean(column) for column in zip(*pairs, strict=True))
                yield Loss(name, before, after, change)


def _pairs(ours: Sequence[float], now: Sequence[float]) -> list[tuple[float, float]]:
    """Return the pairs of values from replications in which both settings have a value."""
    pairs = zip(ours, now, strict=False)
    return [(mine, present) for mine, present in pairs if not isnan(mine - present)]
