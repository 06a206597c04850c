"""Costs of a setting of access parameters: sentences about quantities that get worse."""

from collections.abc import Iterator, Mapping

from lasthop.answers.digits import plain
from lasthop.answers.estimates import Estimate
from lasthop.tuning.shown import SHOWN

NOTICED = 0.01
"""Relative change above which a quantity that gets worse counts as a cost. [-]"""

UNLIKE = ("beside_calls_goodput_bps",)
"""Quantities that cannot be compared between settings, since each setting is measured with another
number of calls.
"""

LOST = 0.5
"""A flow is reported if its goodput is below this fraction of its goodput with the present setting.
[-]
"""


def costs(
    now: Mapping[str, Estimate],
    then: Mapping[str, Estimate],
    changes: Mapping[str, Estimate],
    flows_now: Mapping[str, float],
    flows_then: Mapping[str, float],
) -> Iterator[str]:
    """Yield a sentence about each quantity that worsens by more than its confidence interval and by
    more than 1 %. A last sentence is about flows that lose more than half of their goodput.

    Parameters
    ----------
    now, then : mapping
        Quantities of `lasthop.tuning.measures.Samples` with the present and the chosen setting.
    changes : mapping
        Means of the paired differences: chosen setting minus present setting.
    flows_now, flows_then : mapping
        Goodput by flow with the present and the chosen setting. [bit/s]
    """
    for name, shown in SHOWN.items():
        change = changes.get(name)
        if change is None or shown.greatest is None or name in UNLIKE:
            continue
        worse = -change.mean if shown.greatest else change.mean
        before = now[name].mean
        if worse > max(NOTICED * abs(before), change.ci95 or 0.0):
            yield changed(
                shown.title, before * shown.scale, then[name].mean * shown.scale, shown.unit
            )
    lost = [name for name, rate in flows_now.items() if flows_then.get(name, 0.0) < LOST * rate]
    if lost:
        worst = min(lost, key=lambda name: flows_then.get(name, 0.0) / flows_now[name])
        most = changed(worst, flows_now[worst] * 1e-6, flows_then.get(worst, 0.0) * 1e-6, "Mb/s")
        yield f"{len(lost)} of {len(flows_now)} flows lose more than half, most of all {most}"


def changed(what: str, before: float, after: float, unit: str) -> str:
    """Return the values of a quantity before and after a change, as text."""
    unit = "" if unit in ("-", "calls", "flows", "stations") else f" {unit}"
    part = f" ({100 * (after / before - 1):+.0f} %)" if before else ""
    return f"{what} {plain(after)}{unit} instead of {plain(before)}{part}"
