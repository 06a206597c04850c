"""Stability of queues in an answer, as a model predicts it."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from lasthop.answers.digits import plain
from lasthop.answers.estimates import Estimate
from lasthop.scenario.from_json import Table, read_as

__all__ = ["Stability", "stabilities", "stability_lines"]


class _Root(Table):
    """The rightmost characteristic root of a queue."""

    real: float


class Stability(Table):
    """Stability of a queue, as a model predicts it."""

    name: str
    stable: bool
    rightmost_root: _Root
    period_s: Annotated[Estimate | None, Estimate.read] = None


def stabilities(summary: Mapping[str, Any]) -> list[Stability]:
    """Return the stability of each queue, if a model predicts it."""
    return [read_as(Stability, item) for item in summary.get("stability", ())]


def stability_lines(summary: Mapping[str, Any], *, with_time: bool = False) -> Iterator[str]:
    """Yield the effect of a small disturbance of each queue, if a model predicts it.

    If `with_time`, the lines have the time in which the disturbance changes by a factor of e.
    """
    for queue in stabilities(summary):
        what = "stable: a disturbance decays" if queue.stable else "unstable: a disturbance grows"
        time_s = plain(abs(1.0 / queue.rightmost_root.real))
        time = f" by a factor of e in {time_s} s" if with_time else ""
        period = queue.period_s
        swing = "" if period is None else f", period {plain(period.mean)} s"
        yield f"{queue.name}: the equilibrium is {what}{time}{swing}"
