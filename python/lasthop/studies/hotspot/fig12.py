"""Figure 12: a download accelerator over the Internet, before and after the bottleneck begins.

Station 2 downloads over one connection from the beginning, station 1 over four from 60 s on; the
bottleneck begins at 165 s (section 5.4). The paper does not say how far the server is; 20 ms each
way are taken.
"""

from typing import TYPE_CHECKING, Any

from lasthop.studies.hotspot import cell
from lasthop.studies.study import Quantity, Runs, Study

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

DELAY = "20 ms"
"""Propagation time to the server, one way."""

BEGINS_S = 165
PERIODS = {"before": (75, BEGINS_S), "after": (BEGINS_S + 10, 285)}
"""From when to when goodputs are averaged. [s]"""


def scenario(period: str) -> dict[str, Any]:
    """Return the test of section 5.4, measured before or after the bottleneck begins."""
    begin, end = PERIODS[period]
    four = {"download": {"connections": 4, "start": "60 s"}}
    tree = cell.scenario(f"figure 12, {period}", four, {"download": 1}, count=1, stagger="0 s")
    tree |= {
        "duration": f"{end} s",
        "warmup": f"{begin} s",
        "wire": {"delay": DELAY},
        "replications": 20,
    }
    return tree if period == "before" else tree | {"vsb": {"start": f"{BEGINS_S} s"}}


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return both goodputs before, and eta after."""
    before, after = runs["before"], runs["after"]
    (one,) = cell.others(before)
    return {
        "goodput_four_before": cell.goodput(before, "first"),
        "goodput_one_before": cell.goodput(before, one),
        "eta_after": cell.fairness(after),
    }


def draw(runs: Runs) -> "Figure":
    """Draw the goodputs of both stations before and after."""
    from lasthop.plot.study import Curve, Panel, Stated, sweep_figure

    (one,) = cell.others(runs["before"])
    middles = [sum(period) / 2 for period in PERIODS.values()]
    curves = [
        Curve(middles, [cell.goodput(runs[period], name) for period in PERIODS], label, hollow)
        for name, label, hollow in (("first", "four", False), (one, "one", True))
    ]
    stated = Stated(middles[:1] * 2, [4.0, 1.0], [4.0, 1.0])
    heading = "four connections against one; the bottleneck begins at 165 s"
    return sweep_figure("time [s]", [Panel("goodput [Mb/s]", curves, stated, heading)])


STUDY = Study(
    subject="hotspot",
    name="fig12",
    title="Figure 12: four connections against one over the Internet",
    points={period: scenario(period) for period in PERIODS},
    measure=measure,
    draw=draw,
)
