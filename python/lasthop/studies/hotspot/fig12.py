"""Figure 12: a download accelerator over the Internet, without and with the bottleneck.

Station 2 downloads over one connection from the start of the run. Station 1 downloads over four
connections from 60 s on. The bottleneck begins at 165 s (section 5.4). The paper does not give the
delay to the server; the study uses 20 ms per direction.
"""

from typing import Any

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import picture
from lasthop.studies.picture import Panel
from lasthop.studies.study import Quantity, Run, Runs, Study, about
from lasthop.studies.sweep import Point, Sweep, points_of

DELAY = "20 ms"
"""One-way propagation time to the server."""

BEGINS_S = 165
PERIODS = {"before": (75, BEGINS_S), "after": (BEGINS_S + 10, 285)}
"""Time intervals in which goodputs are averaged. [s]"""


def scenario(period: str) -> dict[str, Any]:
    """Return the scenario of section 5.4, measured before or after the start of the bottleneck."""
    begin, end = PERIODS[period]
    four = {"download": {"connections": 4, "start": "60 s"}}
    tree = cell.scenario(f"figure 12, {period}", four, {"download": 1}, count=1, stagger="0 s")
    tree |= {
        "duration": f"{end} s",
        "warmup": f"{begin} s",
        "wire": {"delay": DELAY},
        "replications": 20,
    }
    return (
        tree
        if period == "before"
        else tree | {"vsb": {**cell.PAPERS_VSB, "start": f"{BEGINS_S} s"}}
    )


SWEEP = Sweep("{period}", scenario, {"period": tuple(PERIODS)})
AGREED = Point("agreed-after", cell.by_agreement(scenario("after")))
"""The run of the period ``after`` again, with lasthop's default estimator of the capacity in place
of the paper's estimator. No claim is judged by the values of this run.
"""


def of_four(run: Run) -> Quantity:
    """Return the goodput of the station with four connections. [Mb/s]"""
    return cell.goodput(run, "first")


def of_one(run: Run) -> Quantity:
    """Return the goodput of the station with one connection. [Mb/s]"""
    (other,) = cell.others(run)
    return cell.goodput(run, other)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the goodputs of both stations before the start of the bottleneck, and eta after the
    start.
    """
    before, after = SWEEP.runs(runs)
    return {
        "goodput_four_before": of_four(before),
        "goodput_one_before": of_one(before),
        "eta_after": cell.fairness(after),
    }


def shown(runs: Runs) -> dict[str, Quantity]:
    """Return the sum of both goodputs after the start, and all values with the default estimator.
    [Mb/s, -]
    """
    after, agreed = SWEEP.run(runs, period="after"), AGREED.run(runs)
    return {
        "total_after": of_four(after) + of_one(after),
        "agreed_eta_after": cell.fairness(agreed),
        "agreed_total_after": of_four(agreed) + of_one(agreed),
    }


def finding(runs: Runs) -> str:
    """Return a text on the results with the default estimator (rule ``agreement``)."""
    after, agreed = SWEEP.run(runs, period="after"), AGREED.run(runs)
    both = [of_four(run) + of_one(run) for run in (after, agreed)]
    return (
        f"with C by agreement, eta after the start is {cell.fairness(agreed)}, with a total of "
        f"{both[1]} Mb/s. With the paper's estimator it is {cell.fairness(after)}, with {both[0]} "
        "Mb/s"
    )


PICTURE = picture(
    "time [s]",
    [
        Panel(
            "goodput [Mb/s]",
            SWEEP.lines("four", "period", of_four) + SWEEP.lines("one", "period", of_one, "one"),
            f"four connections against one; the bottleneck begins at {BEGINS_S} s",
            stated=[("before", 4.0), ("before", 1.0)],
        )
    ],
    places=lambda period: sum(PERIODS[period]) / 2,
)

STUDY = Study(
    key="hotspot-fig12",
    title="Figure 12: four connections against one over the Internet",
    points=points_of(SWEEP, AGREED),
    measure=measure,
    shown=shown,
    draw=PICTURE.draw,
    findings=about("hotspot-11", finding),
)
