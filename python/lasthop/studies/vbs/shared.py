"""Figures 14, 15 and 7: virtual buffer sharing between two classes of five downloads."""

from typing import TYPE_CHECKING, Any

from lasthop.studies.study import Quantity, Run, Runs, Study
from lasthop.studies.vbs import cell, two_classes

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

TOLS = {"printed": None, "small": 1.0, "medium": 25.0, "large": 225.0}
"""Squared distances from the target at which Algorithm 1 rests; None: 1/B^2. [packets^2]"""

FAIR: dict[str, Any] = {
    "limit": cell.BUFFER,
    "fq_codel": {"target": "1 s", "interval": "10 s"},
}
"""A queue for each connection, served in turn, whose drops are those of a full buffer alone."""

TRACES = {
    "trace-plain": "drop-tail",
    "trace-vbs": "Algorithm 1",
    "trace-regulated": "regulator",
}

ALL = {
    "high": {"count": 5, "download": 1, "error_down": 0.3},
    "low": {"count": 5, "download": 1, "error_down": 0.3},
}


def _queue(law: str) -> object:
    return cell.BUFFER if law == "plain" else cell.shares(**cell.LAWS[law])


def _with(law: str, error: float) -> dict[str, object]:
    return cell.scenario(f"{law}, p_w {error:g}", cell.classes(error), queue=_queue(law))


def measure_occupancy(runs: Runs) -> dict[str, Quantity]:
    """Return mean length and time without packets, with errors of one class and of both."""
    values = {}
    for point in ("two_classes", "all_0_3"):
        values[f"occupancy_{point}"] = cell.occupancy(runs[point])
        values[f"empty_{point}"] = runs[point].quantity("queues", "ap", "empty_fraction")
    return values


def findings_occupancy(runs: Runs) -> dict[str, str]:
    """Return how far the queue swings."""
    swing = {
        name: runs[name].quantity("queues", "ap", "occupancy_error_packets")
        for name in ("two_classes", "regulated")
    }
    return {
        "vbs-9": (
            f"root mean square distance from 60: {swing['two_classes']} packets by Algorithm 1, "
            f"{swing['regulated']} by the regulator, whose mean is "
            f"{cell.occupancy(runs['regulated'])}"
        )
    }


def draw_occupancy(runs: Runs) -> "Figure":
    """Draw the queue over time without and with shares."""
    from lasthop.plot.traces import Trace, TracePanel, traces_figure

    levels = {"room": float(cell.BUFFER), "c B": 0.6 * cell.BUFFER}
    panels = [
        TracePanel(
            "queue [packets]",
            [Trace("queue of the AP", *runs[point].track("queues", "ap", "occupancy_packets"))],
            word,
            levels,
        )
        for point, word in TRACES.items()
    ]
    return traces_figure(panels, panel_mm=30.0)


def measure_fairness(runs: Runs) -> dict[str, Quantity]:
    """Return ratio, fair rate and aggregate with shares over without."""
    values = {}
    for error in cell.ERRORS[1:]:
        tag = cell.tag(error)
        shared, plain = runs[f"vbs-{tag}"], runs[f"plain-{tag}"]
        values[f"ratio_{tag}"] = cell.ratio(shared)
        values[f"aggregate_ratio_{tag}"] = cell.total(shared) / cell.total(plain)
        values[f"fair_rate_{tag}"] = cell.total(shared) / 10.0
    return values


def findings_fairness(runs: Runs) -> dict[str, str]:
    """Return what equal shares cost, with any queue."""
    slow = cell.total(runs["all-0_3"])
    fast = cell.total(runs["plain-0"])
    # each class has half of the frames: the mean time of a frame is the mean of both
    equal = fast * slow * 2.0 / (fast + slow)
    vbs, regulated = runs["vbs-0_3"], runs["regulated-0_3"]
    return {
        "vbs-10": (
            f"at p_w = 0.3 drop-tail carries {cell.total(runs['plain-0_3'])} Mb/s, with "
            f"{cell.ratio(runs['plain-0_3'])} times as much for class 1; equal shares cannot carry "
            f"more than {equal}, since frames of class 2 take longer: a queue for each connection, "
            f"served in turn, carries {cell.total(runs['fair-0_3'])}. Algorithm 1 carries "
            f"{cell.total(vbs)} at a ratio of {cell.ratio(vbs)}, the regulator "
            f"{cell.total(regulated)} at {cell.ratio(regulated)}"
        )
    }


def draw(runs: Runs) -> "Figure":
    """Draw goodputs of the classes and the queue over p_w, with and without shares."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    words = {"plain": "drop-tail", "vbs": "Algorithm 1", "regulated": "regulator"}

    def points(law: str) -> list[Run]:
        return [runs[f"{law}-{cell.tag(error)}"] for error in cell.ERRORS]

    return family_figure(
        cell.ERROR_AXIS,
        [
            FamilyPanel(
                "goodput of a class [Mb/s]",
                [
                    Member(
                        word,
                        cell.ERRORS,
                        [cell.goodput(run, prefix) for run in points(law)],
                        variant,
                    )
                    for law, word in words.items()
                    for prefix, variant in (("high", ""), ("low", "class 2"))
                ],
                "figure 15",
            ),
            FamilyPanel(
                "goodput of the cell [Mb/s]",
                [
                    Member(word, cell.ERRORS, [cell.total(run) for run in points(law)])
                    for law, word in words.items()
                ],
                from_zero=False,
            ),
            FamilyPanel(
                "queue of the AP [packets]",
                [
                    Member(word, cell.ERRORS, [cell.occupancy(run) for run in points(law)])
                    for law, word in words.items()
                ],
                "figure 14",
                levels={"c B": 60.0},
            ),
        ],
    )


def measure_tol(runs: Runs) -> dict[str, Quantity]:
    """Return time until the first rest, and distance from the target, over the tolerance."""
    values = {}
    for size in ("small", "large"):
        values[f"time_{size}_tol"] = runs[size].quantity("queues", "ap", "settling_s")
        error = runs[size].quantity("queues", "ap", "occupancy_error_packets")
        values[f"error_{size}_tol"] = error
    return values


def draw_tol(runs: Runs) -> "Figure":
    """Draw both over the tolerance."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    places = [float(k) for k in range(len(TOLS))]
    labels = ["1/B²" if tol is None else f"{tol:g}" for tol in TOLS.values()]

    def panel(label: str, quantity: str) -> FamilyPanel:
        values = [runs[name].quantity("queues", "ap", quantity) for name in TOLS]
        return FamilyPanel(label, [Member("Algorithm 1", places, values)])

    return family_figure(
        "tol [packets²]",
        [
            panel("time until rest [s]", "settling_s"),
            panel("distance from c B [packets]", "occupancy_error_packets"),
        ],
        ticks=dict(zip(places, labels, strict=True)),
    )


FIG07 = Study(
    subject="vbs",
    name="fig07",
    title="Figure 7: tolerance, time and accuracy of Algorithm 1",
    points={
        name: cell.scenario(
            f"tol {name}",
            cell.classes(0.3),
            queue=cell.shares(**({} if tol is None else {"tol": tol})),
        )
        for name, tol in TOLS.items()
    },
    measure=measure_tol,
    draw=draw_tol,
)

FIG14 = Study(
    subject="vbs",
    name="fig14",
    title="Figure 14: the queue over time, without and with virtual buffer sharing",
    points={
        "two_classes": _with("vbs", 0.3),
        "all_0_3": cell.scenario("Algorithm 1, p_w 0.3 for all", ALL, queue=cell.shares()),
        "regulated": _with("regulated", 0.3),
        **{
            f"trace-{law}": cell.traced(
                f"{law}, p_w 0.3, over time", cell.classes(0.3), queue=_queue(law)
            )
            for law in ("plain", *cell.LAWS)
        },
    },
    measure=measure_occupancy,
    findings=findings_occupancy,
    draw=draw_occupancy,
)

FIG15 = Study(
    subject="vbs",
    name="fig15",
    title="Figures 14 and 15: goodput of the classes with virtual buffer sharing",
    points={
        **{
            f"plain-{cell.tag(error)}": two_classes.POINTS[cell.tag(error)] for error in cell.ERRORS
        },
        **{
            f"{law}-{cell.tag(error)}": _with(law, error)
            for law in cell.LAWS
            for error in cell.ERRORS
        },
        "all-0_3": cell.scenario("p_w 0.3 for all", ALL),
        "fair-0_3": cell.scenario("fair queues, p_w 0.3", cell.classes(0.3), queue=FAIR),
    },
    measure=measure_fairness,
    findings=findings_fairness,
    draw=draw,
)
