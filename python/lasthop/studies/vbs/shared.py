"""Figures 14, 15 and 7: virtual buffer sharing between two classes of five downloads."""

from typing import Any

from lasthop.studies.picture import Abscissa, Panel, Picture, evenly
from lasthop.studies.study import Figure, Quantity, Runs, Study, about, listed, reading
from lasthop.studies.sweep import Point, Sweep, points_of, tag
from lasthop.studies.vbs import cell, two_classes

TOLS = {"printed": None, "small": 1.0, "medium": 25.0, "large": 225.0}
"""Squared distances of the queue from its target below which Algorithm 1 does not act. None means
1/B^2, where B is the buffer size. [packets^2]
"""

FAIR: dict[str, Any] = {
    "limit": cell.BUFFER,
    "fq_codel": {"target": "1 s", "interval": "10 s"},
}
"""Settings of a fair queue, which has one queue per connection and drops packets only at a full
buffer.
"""

ALL = {
    "high": {"count": 5, "download": 1, "error_down": 0.3},
    "low": {"count": 5, "download": 1, "error_down": 0.3},
}


TARGET = 0.6 * cell.BUFFER
"""Target length c B of the queue under the algorithms: the target occupancy c times the buffer size
B. [packets]
"""


def _queue(algorithm: str) -> object:
    return cell.BUFFER if algorithm == "plain" else cell.shares(**cell.ALGORITHMS[algorithm])


def _with(algorithm: str, error: float) -> dict[str, Any]:
    if algorithm == "plain":
        return dict(two_classes.SWEEP.scenario(error=error))
    return cell.scenario(
        f"{algorithm}, p_w {error:g}", cell.classes(error), queue=_queue(algorithm)
    )


SWEEP = Sweep(
    "{algorithm}-{error}",
    _with,
    {"algorithm": tuple(cell.WORDS), "error": cell.ERRORS},
    words=cell.WORDS,
)


STATED = Sweep(
    "stated-{algorithm}-{error}",
    lambda algorithm, error: cell.scenario(
        f"{algorithm}, p_w {error:g}, {cell.STATED_ATTEMPTS} attempts",
        cell.classes(error),
        queue=_queue(algorithm),
        attempts=cell.STATED_ATTEMPTS,
    ),
    {"algorithm": tuple(cell.WORDS), "error": cell.ERRORS[1:]},
    words=cell.WORDS,
)
"""Runs with the number of attempts per frame in table II."""


EMPTY = reading("queues", "ap", "empty_fraction")
"""Fraction of time in which the queue has no packet. [-]"""

SETTLING_S = reading("queues", "ap", "settling_s")
"""Time until the queue first is within the tolerance of its target. [s]"""

OFF_TARGET = reading("queues", "ap", "occupancy_error_packets")
"""Root mean square distance of the queue from its target. [packets]"""


ALL_SLOW = Point("all-0_3", cell.scenario("p_w 0.3 for all", ALL))
FAIR_QUEUES = Point(
    "fair-0_3", cell.scenario("fair queues, p_w 0.3", cell.classes(0.3), queue=FAIR)
)


def measure_occupancy(runs: Runs) -> dict[str, Quantity]:
    """Return the mean queue, and the fraction of time in which the queue is empty. In some runs
    only class 2 has channel errors, and in the others all stations have errors.
    """
    values = {}
    for point in ("two_classes", "all_0_3", "partition", "partition_all_0_3"):
        values[f"occupancy_{point}"] = cell.occupancy(runs[point])
        values[f"empty_{point}"] = EMPTY(runs[point])
    return values


def finding_occupancy(runs: Runs) -> str:
    """Return a text on the oscillation of the shared queue."""
    algorithm_1, regulated, partition = (
        runs[name] for name in ("two_classes", "regulated", "partition")
    )
    return (
        f"the root mean square distance from {TARGET:g} packets is {OFF_TARGET(algorithm_1)} with "
        f"Algorithm 1. With the regulator it is {OFF_TARGET(regulated)}, at a mean of "
        f"{cell.occupancy(regulated)}. With a partition it is {OFF_TARGET(partition)}, at a mean "
        f"of {cell.occupancy(partition)}"
    )


def draw_occupancy(runs: Runs) -> Figure:
    """Draw the queue over time with and without shares."""
    from lasthop.plot.traces import traces_figure

    levels = {"room": float(cell.BUFFER), "c B": TARGET}
    panels = [
        cell.queue_panel(runs[f"trace-{algorithm}"], word, levels)
        for algorithm, word in cell.WORDS.items()
    ]
    return traces_figure(panels, panel_mm=30.0)


def measure_fairness(runs: Runs) -> dict[str, Quantity]:
    """Return values with buffer sharing, for four attempts per frame and for eight.

    The values are the goodput ratio of the classes, the fair rate [Mb/s], Jain's index, and the
    aggregate goodput divided by that without buffer sharing.
    """
    values = {}
    for limit in ("", "stated-"):
        for algorithm in ("vbs", "partition"):
            for error in map(tag, cell.ERRORS[1:]):
                shared, plain = runs[f"{limit}{algorithm}-{error}"], runs[f"{limit}plain-{error}"]
                name = f"{limit}{error}" if algorithm == "vbs" else f"{limit}{algorithm}-{error}"
                name = name.replace("-", "_")
                values[f"ratio_{name}"] = cell.ratio(shared)
                values[f"aggregate_ratio_{name}"] = cell.total(shared) / cell.total(plain)
                values[f"fair_rate_{name}"] = cell.total(shared) / 10.0
                values[f"jain_{name}"] = cell.jain(shared)
    return values


def shown_fairness(runs: Runs) -> dict[str, Quantity]:
    """Return, for each class and each sharing algorithm, the goodput [Mb/s] and the fraction of
    blocked packets.

    Also return goodput ratios of the classes: under the regulator, and with the number of attempts
    in table II.
    """
    algorithms = SWEEP.at(algorithm=tuple(cell.ALGORITHMS), error=cell.ERRORS[1:])
    of_classes = {
        f"{name}_{number}_{{algorithm}}_{{error}}": read
        for number, prefix in two_classes.CLASSES.items()
        for name, read in (
            ("goodput", cell.goodput(prefix)),
            ("blocked", reading("classes", prefix, "drop_probability")),
        )
    }
    ratios = algorithms.at(algorithm="regulated").values(
        runs, {"ratio_{algorithm}_{error}": cell.ratio}
    )
    return (
        algorithms.values(runs, of_classes)
        | ratios
        | STATED.values(runs, {"stated_ratio_{algorithm}_{error}": cell.ratio})
    )


def finding_fairness(runs: Runs) -> str:
    """Return a text on the throughput that equal goodputs cost with any queue."""
    slow, fast = cell.total(ALL_SLOW.run(runs)), cell.total(runs["plain-0"])
    # Each class has half of the frames, so the mean duration of a frame is the mean over both
    # classes.
    equal = fast * slow * 2.0 / (fast + slow)
    plain, vbs, regulated, partition = SWEEP.at(error=0.3).runs(runs)
    return (
        f"at p_w = 0.3 drop-tail carries {cell.total(plain)} Mb/s, and class 1 gets "
        f"{cell.ratio(plain)} times as much as class 2. Equal shares cannot carry more than "
        f"{equal} Mb/s, since frames of class 2 take longer. A queue for each connection, served "
        f"in turn, carries {cell.total(FAIR_QUEUES.run(runs))}. Algorithm 1 carries "
        f"{cell.total(vbs)} at a ratio of {cell.ratio(vbs)}, the regulator {cell.total(regulated)} "
        f"at {cell.ratio(regulated)}, and a partition {cell.total(partition)} at "
        f"{cell.ratio(partition)}. With {cell.STATED_ATTEMPTS} attempts Algorithm 1 carries "
        f"{listed(STATED.at(algorithm='vbs').read(runs, cell.total))} Mb/s, and drop-tail "
        f"{listed(STATED.at(algorithm='plain').read(runs, cell.total))}"
    )


SHARED = Picture(
    cell.ERROR_AXIS,
    [
        Panel(
            "goodput of a class [Mb/s]",
            [
                line
                for algorithm in cell.WORDS
                for prefix, variant in (("high", ""), ("low", "class 2"))
                for line in SWEEP.at(algorithm=algorithm).lines(
                    "{algorithm}", "error", cell.goodput(prefix), variant
                )
            ],
            "figure 15",
        ),
        Panel(
            "goodput of the cell [Mb/s]",
            SWEEP.lines("{algorithm}", "error", cell.total),
            from_zero=False,
        ),
        Panel(
            "queue of the AP [packets]",
            SWEEP.lines("{algorithm}", "error", cell.occupancy),
            "figure 14",
            levels={"c B": TARGET},
        ),
    ],
)


def _resting(size: str) -> dict[str, Any]:
    """Return the scenario of Algorithm 1 with one of the tolerances."""
    tol = TOLS[size]
    queue = cell.shares() if tol is None else cell.shares(tol=tol)
    return cell.scenario(f"tol {size}", cell.classes(0.3), queue=queue)


TOL = Sweep("{size}", _resting, {"size": tuple(TOLS)})


def _partition(size: str) -> dict[str, Any]:
    """Return the scenario of the partition. Its tolerance only defines when the queue has reached
    its target.
    """
    tol = TOLS[size]
    more: dict[str, Any] = {} if tol is None else {"tol": tol}
    queue = cell.shares(algorithm="partition", **more)
    return cell.scenario(f"partition, tol {size}", cell.classes(0.3), queue=queue)


PARTITION_TOL = Sweep("partition-{size}", _partition, {"size": tuple(TOLS)})

TIME_AND_ACCURACY = {"time_{size}_tol": SETTLING_S, "error_{size}_tol": OFF_TARGET}
"""Readings for each tolerance: time until the queue is first within the tolerance [s], and distance
from the target [packets].
"""


def finding_tolerance(runs: Runs) -> str:
    """Return a text on settling time and distance from the target, for each tolerance."""
    times, errors = (listed(TOL.read(runs, reading)) for reading in TIME_AND_ACCURACY.values())
    sizes = ", ".join("1/B^2" if tol is None else f"{tol:g}" for tol in TOLS.values())
    return (
        f"at tol {sizes} it first settles after {times} s, and ends {errors} packets off c B. "
        "A tolerance of 25 is faster and more accurate than the smaller ones"
    )


TOLERANCE = Picture(
    Abscissa(
        "tol [packets²]",
        evenly(tuple(TOLS)),
        {size: "1/B²" if tol is None else f"{tol:g}" for size, tol in TOLS.items()},
    ),
    [
        Panel(label, TOL.lines("Algorithm 1", "size", reading))
        for label, reading in zip(
            ("settling time [s]", "distance from c B [packets]"),
            TIME_AND_ACCURACY.values(),
            strict=True,
        )
    ],
)

FIG07 = Study(
    key="vbs-fig07",
    title="Figure 7: tolerance, time and accuracy of Algorithm 1",
    points=points_of(TOL, PARTITION_TOL),
    measure=lambda runs: TOL.values(runs, TIME_AND_ACCURACY),
    shown=lambda runs: PARTITION_TOL.values(
        runs, {f"partition_{name}": reading for name, reading in TIME_AND_ACCURACY.items()}
    ),
    findings=about("vbs-14", finding_tolerance),
    draw=TOLERANCE.draw,
)

FIG14 = Study(
    key="vbs-fig14",
    title="Figure 14: the queue over time, without and with virtual buffer sharing",
    points={
        "two_classes": _with("vbs", 0.3),
        "all_0_3": cell.scenario("Algorithm 1, p_w 0.3 for all", ALL, queue=cell.shares()),
        "regulated": _with("regulated", 0.3),
        "partition": _with("partition", 0.3),
        "partition_all_0_3": cell.scenario(
            "partition, p_w 0.3 for all", ALL, queue=_queue("partition")
        ),
        **{
            f"trace-{algorithm}": cell.traced(
                f"{algorithm}, p_w 0.3, over time", cell.classes(0.3), queue=_queue(algorithm)
            )
            for algorithm in cell.WORDS
        },
    },
    measure=measure_occupancy,
    shown=lambda runs: {"occupancy_regulated": cell.occupancy(runs["regulated"])},
    findings=about("vbs-9", finding_occupancy),
    draw=draw_occupancy,
)

FIG15 = Study(
    key="vbs-fig15",
    title="Figures 14 and 15: goodput of the classes with virtual buffer sharing",
    points=points_of(SWEEP, STATED, ALL_SLOW, FAIR_QUEUES),
    measure=measure_fairness,
    shown=shown_fairness,
    findings=about("vbs-10", finding_fairness),
    draw=SHARED.draw,
)
