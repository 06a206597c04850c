"""Lines of text on the predicted stability of queues."""

from collections.abc import Iterator, Mapping
from typing import Any

from lasthop.answers.digits import plain
from lasthop.answers.stability import stabilities

__all__ = ["stability_lines"]


def stability_lines(summary: Mapping[str, Any], *, with_time: bool = False) -> Iterator[str]:
    """Yield a line per queue on whether a small disturbance dies out, if a model predicts this.

    If `with_time`, the lines contain the time in which the disturbance changes by a factor of e.
    """
    for queue in stabilities(summary):
        what = "stable: a disturbance decays" if queue.stable else "unstable: a disturbance grows"
        time_s = plain(abs(1.0 / queue.rightmost_root.real))
        time = f" by a factor of e in {time_s} s" if with_time else ""
        period = queue.period_s
        period_text = "" if period is None else f" (period {plain(period.mean)} s)"
        yield f"{queue.name}: the equilibrium is {what}{time}{period_text}"
