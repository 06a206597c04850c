"""Figures 2 to 4: four downloads, two of them to distant stations, and the access point's queue.

Figures 2 and 4 of the paper, and of this study, show one run over time. Claims are judged by mean
values.
"""

from lasthop.studies.picture import Panel, Picture
from lasthop.studies.study import Figure, Quantity, Runs, Study, about, changed, listed
from lasthop.studies.sweep import Point, Sweep, points_of
from lasthop.studies.vbs import cell

SWEEP = Sweep(
    "{error}",
    lambda error: cell.scenario(f"four downloads, p_w {error:g}", cell.classes(error, 2)),
    {"error": cell.ERRORS},
)

GENTLE = 0.125
"""Fraction by which a loss reduces the window in a run for comparison. Compound halves the window.
[-]
"""


IS_GENTLE = Point(
    "gentle",
    changed(
        cell.scenario("four downloads, p_w 0.3, gentle", cell.classes(0.3, 2)),
        tcp={"compound": {"beta": GENTLE}},
    ),
)
FAR = Point(
    "70ms", cell.scenario("four downloads, 70 ms, p_w 0.3", cell.classes(0.3, 2), delay_ms=35)
)
TRACE = Point("trace", cell.traced("four downloads, p_w 0.3, over time", cell.classes(0.3, 2)))
TRACE_0 = Point("trace-0", cell.traced("four downloads, p_w 0, over time", cell.classes(0.0, 2)))
TRACE_FAR = Point(
    "trace-70ms",
    cell.traced("four downloads, 70 ms, p_w 0.3, over time", cell.classes(0.3, 2), delay_ms=35),
)


def finding_occupancy(runs: Runs) -> str:
    """Return a text on why the mean queue is below 90 packets."""
    return (
        f"the queue has {listed(SWEEP.read(runs, cell.occupancy))} packets at p_w = "
        f"{cell.ERRORS_STATED}. It is never empty and often full, but each time it overflows, "
        "flows halve their windows and the queue falls. If a loss reduces the window by a fraction "
        f"of only {GENTLE}, the queue has {cell.occupancy(IS_GENTLE.run(runs))} packets at p_w = "
        "0.3"
    )


def draw_occupancy(runs: Runs) -> Figure:
    """Draw the access point's queue over time, with and without channel errors."""
    from lasthop.plot.traces import traces_figure

    traces = {"p_w 0": TRACE_0, "p_w 0.3 of two stations": TRACE}
    return traces_figure(
        [
            cell.queue_panel(trace.run(runs), title, {"room": 100.0})
            for title, trace in traces.items()
        ]
    )


RATIO = Picture(
    cell.ERROR_AXIS,
    [
        Panel(
            "goodput of a class [Mb/s]",
            cell.of_classes(SWEEP, cell.goodput),
            "four downloads",
        ),
        Panel(
            "queue of the AP [packets]",
            SWEEP.lines("queue", "error", cell.occupancy),
            levels={"buffer": float(cell.BUFFER)},
        ),
    ],
)


def measure_windows(runs: Runs) -> dict[str, Quantity]:
    """Return the mean windows at the error probability p_w = 0.3."""
    run = SWEEP.run(runs, error=0.3)
    return {f"cwnd_{name}": cell.window(name)(run) for name in ("high", "low")}


def finding_windows(runs: Runs) -> str:
    """Return a text on the windows if the wire has a delay."""
    high, far = (cell.window("high")(run) for run in (SWEEP.run(runs, error=0.3), FAR.run(runs)))
    return (
        f"the mean window of class 1 with four flows is {high} of 45 packets. With 70 ms of "
        f"wire, as in figure 8, it is {far}"
    )


def draw_windows(runs: Runs) -> Figure:
    """Draw the window of one connection of each class over time."""
    from lasthop.plot.traces import traces_figure

    panels = cell.window_panels(
        TRACE.run(runs), "a connection of each class, no wire's delay"
    ) + cell.window_panels(TRACE_FAR.run(runs), "with 70 ms of wire")
    return traces_figure(panels)


FIG02 = Study(
    key="vbs-fig02",
    title="Figure 2: the access point's queue over time, four downloads",
    points=points_of(SWEEP, TRACE, TRACE_0, IS_GENTLE),
    measure=lambda runs: {"occupancy": cell.occupancy(SWEEP.run(runs, error=0.3))},
    findings=about("vbs-1", finding_occupancy),
    draw=draw_occupancy,
)

FIG03 = Study(
    key="vbs-fig03",
    title="Figure 3: goodput of four downloads over p_w, and the queue of figure 2",
    points=SWEEP.points(),
    measure=lambda runs: SWEEP.values(runs, {"ratio_{error}": cell.ratio}),
    draw=RATIO.draw,
)

FIG04 = Study(
    key="vbs-fig04",
    title="Figure 4: windows of four downloads over time",
    points=points_of(SWEEP.at(error=0.3), TRACE, TRACE_FAR, FAR),
    measure=measure_windows,
    findings=about("vbs-3", finding_windows),
    draw=draw_windows,
)
