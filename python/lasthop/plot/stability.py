"""Pictures of the stability of fluid models: charts, limit cycles and trajectories."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis as AxisTicks
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from lasthop.plot.figure import (
    MODEL,
    QUIET,
    SIMULATION,
    Figure,
    headline,
    headline_mm,
    house_style,
    title,
)
from lasthop.plot.palette import PAPER
from lasthop.stability.branch import Branch
from lasthop.stability.case import Case
from lasthop.stability.chart import Chart
from lasthop.stability.hopf import HopfPoint, Jump, Scan
from lasthop.stability.integrate import Trajectory
from lasthop.stability.settling import Sweep

Floats = NDArray[np.float64]
LineStyle = Any

STABLE = "#D5ECE3"
"""Colour of the stable region: a pale green."""
CYCLE: dict[bool | None, tuple[Any, str]] = {
    True: ("-", "stable cycle"),
    False: (":", "unstable cycle"),
    None: ("-.", "stability not known"),
}
"""Line style and legend label of a limit cycle, by its stability: stable, unstable or unknown."""
JUMP: dict[str, Any] = {"color": "#333333", "marker": ".", "markersize": 2, "linestyle": "none"}
"""Style of points at which stability changes without a Hopf point."""
HERE: dict[str, Any] = {"color": "black", "marker": "+", "markersize": 7}
"""Style of the mark for the case that the user named."""
BIRTH: dict[str, Any] = {"color": MODEL, "marker": "o", "markersize": 3.4}
"""Style of the mark for a Hopf point at which a branch of limit cycles begins."""
NOTHING = "#DDDDDD"
"""Colour of the region without an equilibrium."""

SYMBOLS = {
    "alpha": "α",
    "capacity": "capacity per flow C",
    "gamma": "gain of the average γ",
    "min_th": "lower threshold",
    "q_th": "threshold $q_{th}$",
    "rtt": "round-trip time τ",
}
"""Labels of parameters on axes, if these labels differ from the names of the parameters."""


def axis_label(name: str, unit: str) -> str:
    """Return the axis label of a parameter: name and unit."""
    text = SYMBOLS.get(name, name)
    return text if unit == "-" else f"{text} [{unit}]"


def chart_figure(chart: Chart, name: str | None = None, about: str = "") -> Figure:
    """Draw the stable region of a case over two parameters.

    If `name` is given, the values of the case are marked. The text `about` contains the changed
    settings.
    """
    above = name or chart.case.model.title
    with house_style(78.0 + headline_mm(above, about)) as figure:
        axes = figure.subplots()
        draw_chart(axes, chart)
        headline(figure, above, about)
        keys: list[Any] = [
            Patch(color=STABLE, label="stable"),
            Patch(facecolor="white", edgecolor="#999999", label="unstable"),
        ]
        if not np.isfinite(chart.abscissa).all():
            keys.append(Patch(color=NOTHING, label="no equilibrium"))
        if any(curve.boundary.any() for curve in chart.curves):
            keys.append(Line2D([], [], color=MODEL, label="edge: Hopf points"))
        if any(np.sum(~curve.boundary) > 2 for curve in chart.curves):
            further = "further Hopf points"
            keys.append(Line2D([], [], color=MODEL, linestyle=":", label=further))
        if chart.jumps.size:
            keys.append(Line2D([], [], **JUMP, label="edge: corner"))
        values = {**chart.case.values, **chart.case.decided}
        here = [float(values[axis.name]) for axis in (chart.x, chart.y)]
        ends = zip((chart.x, chart.y), here, strict=True)
        if name is not None and all(axis.low <= value <= axis.high for axis, value in ends):
            axes.plot(*here, **HERE)
            keys.append(Line2D([], [], **HERE, linestyle="none", label="present setting"))
        figure.legend(handles=keys, loc="outside lower center", ncols=3)
        return figure


def draw_chart(axes: Axes, chart: Chart) -> None:
    """Shade the stable region of a chart, and draw the Hopf curves."""
    axes.contourf(*shading(chart), levels=[-np.inf, 0.0], colors=[STABLE], zorder=0)
    if not np.isfinite(chart.abscissa).all():
        none = np.where(np.isfinite(chart.abscissa), 0.0, 1.0)
        nowhere: dict[str, Any] = {"levels": [0.5, 1.5], "colors": [NOTHING], "zorder": 0}
        axes.contourf(chart.x_values, chart.y_values, none, **nowhere)
    for curve in chart.curves:
        look: dict[str, Any] = {"color": MODEL, "linewidth": 1.1}
        axes.plot(curve.x, np.where(curve.boundary, curve.y, np.nan), **look)
        axes.plot(curve.x, np.where(curve.boundary, np.nan, curve.y), linestyle=":", **look)
    axes.plot(chart.jumps[:, 0], chart.jumps[:, 1], **JUMP)
    axes.set_xscale("log" if chart.x.logarithmic else "linear")
    axes.set_yscale("log" if chart.y.logarithmic else "linear")
    axes.set_xlim(chart.x.low, chart.x.high)
    axes.set_ylim(chart.y.low, chart.y.high)
    for axis, ticks in ((chart.x, axes.xaxis), (chart.y, axes.yaxis)):
        name_axis(ticks, chart.case, axis.name, logarithmic=axis.logarithmic)


def shading(chart: Chart) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return x values, y values, and a height at each point. The height is negative in the stable
    region.

    The height is interpolated between the points of the grid. Inside refined cells, the values of
    these cells replace the interpolated height.
    """

    def scaled(abscissa: NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.where(np.isfinite(abscissa), abscissa, 0.0)
        # The square root makes the contour at zero smoother.
        return np.asarray(np.sign(values) * np.sqrt(np.abs(values)))

    height = scaled(chart.abscissa)
    if not chart.cells:
        return chart.x_values, chart.y_values, height
    parts = len(chart.cells[0].abscissa) - 1
    places, weights = [], []
    for count in height.shape[::-1]:
        place = np.arange((count - 1) * parts + 1) / parts
        places.append(place / (count - 1))
        weights.append(np.maximum(0.0, 1.0 - np.abs(place[:, None] - np.arange(count))))
    finer = weights[1] @ height @ weights[0].T
    for cell in chart.cells:
        row, column = cell.row * parts, cell.column * parts
        finer[row : row + parts + 1, column : column + parts + 1] = scaled(cell.abscissa)
    return chart.x.value(places[0]), chart.y.value(places[1]), finer


def hopf_figure(scan: Scan, name: str | None = None, about: str = "") -> Figure:
    """Draw the growth rate of a small disturbance along a parameter, and mark changes of
    stability.
    """
    axis = scan.axis
    crossings = [edge.value for edge in scan.edges]
    values = np.append(scan.values, crossings)
    order = np.argsort(values)
    values, growth = values[order], np.append(scan.roots.real, np.zeros(len(crossings)))[order]
    above = name or scan.case.model.title
    with house_style(62.0 + headline_mm(above, about)) as figure:
        axes = figure.subplots()
        headline(figure, above, about)
        axes.plot(values, growth, color=MODEL, linewidth=1.2)
        axes.axhline(0.0, color="#333333", linewidth=0.6)
        stable = np.isfinite(growth) & (growth <= 0.0)
        level: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "zorder": 0}
        axes.fill_between(values, 0, 1, where=stable, color=STABLE, linewidth=0, **level)
        axes.set_xscale("log" if axis.logarithmic else "linear")
        axes.set_xlim(axis.low, axis.high)
        name_axis(axes.xaxis, scan.case, axis.name, logarithmic=axis.logarithmic)
        axes.set_ylabel("growth rate [1/s]")
        is_time = scan.case.number(axis.name).unit == "s"
        factor, unit = (1e3, " ms") if is_time else (1.0, "")
        keys: list[Any] = [
            Patch(color=STABLE, label="stable"),
            Patch(facecolor="white", edgecolor="#999999", label="unstable"),
        ]
        places = {HopfPoint: (BIRTH, "Hopf point"), Jump: (HERE, "corner")}
        for kind, (look, meaning) in places.items():
            edges = [edge for edge in scan.edges if isinstance(edge, kind)]
            for edge in edges:
                axes.plot(edge.value, 0.0, **look)
                text = f"{factor * edge.value:.4g}{unit}"
                if isinstance(edge, HopfPoint):
                    text += f", period {edge.period:.3g} s"
                near: dict[str, Any] = {"textcoords": "offset points", "va": "top"}
                far = values[len(values) // 2] < edge.value
                axes.annotate(
                    text,
                    (edge.value, 0.0),
                    (-4 if far else 4, -5),
                    ha="right" if far else "left",
                    **near,
                )
            if edges:
                keys.append(Line2D([], [], **look, linestyle="none", label=meaning))
        if not np.isfinite(growth).all():
            nothing = ~np.isfinite(growth)
            axes.fill_between(values, 0, 1, where=nothing, color=NOTHING, **level)
            keys.append(Patch(color=NOTHING, label="no equilibrium"))
        figure.legend(handles=keys, loc="outside lower center", ncols=2)
        return figure


def name_axis(ticks: AxisTicks, case: Case, name: str, *, logarithmic: bool = False) -> None:
    """Write the name of a parameter on an axis, with plain numbers as ticks; times are in
    milliseconds.
    """
    unit = case.number(name).unit
    time = unit == "s"
    ticks.set_label_text(axis_label(name, "ms" if time else unit))
    if not (logarithmic or time):
        return
    factor = 1e3 if time else 1.0

    def label(value: float, _: int) -> str:
        return f"{factor * value:g}"

    ticks.set_major_formatter(FuncFormatter(label))
    if logarithmic:  # An axis of one or two decades needs ticks between powers of ten.
        low, high = ticks.get_view_interval()
        if high < 300.0 * low:
            ticks.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            ticks.set_minor_formatter(NullFormatter())


def branch_figure(branches: Sequence[Branch], name: str | None = None, about: str = "") -> Figure:
    """Draw amplitude and period of limit cycles over a parameter.

    Unstable cycles are dotted, and cycles of unknown stability are dash-dotted.

    The branches begin at their Hopf points, which are marked. Near a Hopf point, the amplitude
    grows with the square root of the distance, and the period changes linearly.
    """
    case = branches[0].form.point.case
    above = name or case.model.title
    with house_style(94.0 + headline_mm(above, about)) as figure:
        amplitudes, period = figure.subplots(2, 1, sharex=True)
        for branch in branches:
            point = branch.form.point
            draw_branch(
                amplitudes, branch, [cycle.amplitude for cycle in branch.cycles], at_hopf=0.0
            )
            periods = [cycle.period for cycle in branch.cycles]
            draw_branch(period, branch, periods, at_hopf=point.period)
            values = near_hopf(point.value, branch.values)
            near = [branch.form.amplitude(float(value)) for value in values]
            curve = [np.nan if height is None else height for height in near]
            amplitudes.plot(values, curve, color=QUIET, linewidth=0.8, linestyle="--")
            for axes, height in ((amplitudes, 0.0), (period, point.period)):
                axes.plot(point.value, height, clip_on=False, zorder=6, **BIRTH)
        amplitudes.set_ylabel("amplitude of the\nwindow [packets]")
        amplitudes.set_ylim(bottom=0.0)
        period.set_ylabel("period [s]")
        amplitudes.locator_params(axis="x", nbins=6)
        name_axis(period.xaxis, case, branches[0].parameter)
        headline(figure, above, about)
        kinds = {cycle.stable for branch in branches for cycle in branch.cycles}
        keys = [
            Line2D([], [], color=MODEL, linestyle=line, label=label)
            for kind, (line, label) in CYCLE.items()
            if kind in kinds
        ]
        look: dict[str, Any] = {"color": QUIET, "linestyle": "--", "linewidth": 0.8}
        keys.append(Line2D([], [], **look, label="normal form"))
        keys.append(Line2D([], [], linestyle="none", label="Hopf point", **BIRTH))
        figure.legend(handles=keys, loc="outside lower center", ncols=3)
        return figure


def sweep_figure(sweep: Sweep, name: str | None = None, about: str = "") -> Figure:
    """Draw amplitude and period over a parameter that first increases and then decreases."""
    above = name or sweep.case.model.title
    with house_style(94.0 + headline_mm(above, about)) as figure:
        amplitudes, period = figure.subplots(2, 1, sharex=True)
        looks = (
            (sweep.down, MODEL, "<", "parameter decreasing"),
            (sweep.up, SIMULATION, ">", "parameter increasing"),
        )
        for ends, color, marker, label in looks:
            heights = [np.nan if end is None else end.amplitude for end in ends]
            times = [np.nan if end is None or end.period is None else end.period for end in ends]
            look: dict[str, Any] = {"color": color, "marker": marker, "markersize": 3.5}
            look["clip_on"] = False  # Marks at 0 extend below the axis.
            amplitudes.plot(sweep.values, heights, label=label, **look)
            period.plot(sweep.values, times, **look)
        amplitudes.set_ylabel("amplitude of the\nwindow [packets]")
        period.set_ylabel("period [s]")
        for axes in (amplitudes, period):  # The axis begins at 0.
            axes.set_ylim(0.0, 1.08 * axes.dataLim.ymax or None)
        amplitudes.locator_params(axis="x", nbins=5)
        name_axis(period.xaxis, sweep.case, sweep.parameter)
        headline(figure, above, about)
        figure.legend(*amplitudes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return figure


def near_hopf(start: float, values: Sequence[float] | NDArray[np.float64]) -> Floats:
    """Return parameter values from a Hopf point to the end of a branch, with smaller steps near the
    Hopf point.
    """
    ends = np.asarray(values, dtype=float)
    furthest = float(ends[np.argmax(np.abs(ends - start))])
    return start + (furthest - start) * np.linspace(0.0, 1.0, 200) ** 2


def draw_birth(axes: Axes, branch: Branch, first: float, at_hopf: float, line: LineStyle) -> None:
    """Draw one quantity of a branch between the Hopf point and the first computed cycle.

    An amplitude is 0 at the Hopf point and grows with the square root of the distance from it. A
    quantity that is not 0 at the Hopf point changes linearly with the distance.
    """
    start, value = branch.form.point.value, float(branch.values[0])
    part = np.linspace(0.0, 1.0, 60)
    height = part if at_hopf == 0.0 else part**2
    x = start + (value - start) * part**2
    axes.plot(x, at_hopf + (first - at_hopf) * height, color=MODEL, linestyle=line)


def draw_branch(
    axes: Axes, branch: Branch, heights: Sequence[float], at_hopf: float | None = None
) -> None:
    """Draw one quantity along a branch of limit cycles. If `at_hopf` is given, the line begins at
    the Hopf point.
    """
    if at_hopf is not None and len(heights):
        line, _ = CYCLE[branch.cycles[0].stable]
        draw_birth(axes, branch, heights[0], at_hopf, line)
    stable = [cycle.stable for cycle in branch.cycles]
    for k in range(len(heights) - 1):
        ends = stable[k : k + 2]
        line, _ = CYCLE[None if None in ends else all(ends)]
        axes.plot(branch.values[k : k + 2], heights[k : k + 2], color=MODEL, linestyle=line)


def trajectory_figure(
    trajectory: Trajectory, name: str | None = None, about: str = "", late: float = 0.0
) -> Figure:
    """Draw windows and queues of a trajectory over time, and the phase portrait of the window."""
    end = float(trajectory.starts[-1])
    times = np.linspace(late * end, end, 4001)
    states = trajectory.at(times)
    names = trajectory.case.model.states
    kinds: dict[str, list[str]] = {}
    for state in names:
        word = state.partition("_")[0]
        kinds.setdefault("queue" if word == "average" else word, []).append(state)
    above = name or trajectory.case.model.title
    with house_style(78.0 + 31.0 * len(kinds) + headline_mm(above, about)) as figure:
        grid = figure.add_gridspec(len(kinds) + 1, 1, height_ratios=[1.0] * len(kinds) + [1.3])
        first: Axes | None = None
        for place, (what, kind) in enumerate(kinds.items()):
            axes = figure.add_subplot(grid[place], sharex=first)
            scale, whose = whole_queue(trajectory) if what == "queue" else (1.0, "of a flow")
            for state in kind:
                row = scale * states[names.index(state)]
                axes.plot(times, row, label=state.replace("_", " "), linewidth=0.9)
            unit = "[-]" if what == "probability" else f"{whose}\n[packets]"
            axes.set_ylabel(f"{what} {unit}")
            if len(kind) > 1:
                axes.legend(  # The legend is above the axes.
                    loc="lower right",
                    bbox_to_anchor=(1.0, 1.0),
                    ncols=len(kind),
                    borderpad=0.0,
                    borderaxespad=0.2,
                )
            first = first or axes
        axes.set_xlabel("time [s]")
        draw_portrait(figure.add_subplot(grid[-1]), trajectory)
        headline(figure, above, about)
        return figure


def whole_queue(trajectory: Trajectory) -> tuple[float, str]:
    """Return the factor that converts one flow's queue to the queue for which the case defines
    thresholds, and a phrase for this queue.
    """
    values = trajectory.case.values
    if values.get("queue") == "total":
        return float(values["flows"]), "of all flows"
    return 1.0, "of a flow"


def draw_portrait(axes: Axes, trajectory: Trajectory, until: float | None = None) -> None:
    """Draw the window against the window one delay earlier, as in the phase portraits of the
    papers.
    """
    delay = trajectory.case.delays[0]
    end = float(trajectory.starts[-1]) if until is None else until
    times = np.linspace(delay, end, 8001)
    axes.plot(trajectory.at(times)[0], trajectory.at(times - delay)[0], linewidth=0.6, color=MODEL)
    rest = float(trajectory.case.equilibrium[0])
    axes.plot(rest, rest, "+", color="black", markersize=7)
    axes.set_xlabel("window [packets]")
    axes.set_ylabel("window one delay earlier [packets]")


def chart_panels(
    charts: Sequence[Chart],
    names: Sequence[str],
    stated: Sequence[Sequence[tuple[float, float]]],
) -> Figure:
    """Draw charts one above the other. Crosses mark the values that the paper states."""
    with house_style(56.0 * len(charts) + 8.0) as figure:
        column = figure.subplots(len(charts), 1, squeeze=False)[:, 0]
        for axes, chart, name, points in zip(column, charts, names, stated, strict=True):
            draw_chart(axes, chart)
            axes.plot([x for x, _ in points], [y for _, y in points], **PAPER, clip_on=False)
            title(axes, name)
        keys = [
            Patch(color=STABLE, label="stable"),
            Line2D([], [], color=MODEL, label="Hopf condition"),
            Line2D([], [], label="paper", **PAPER),
        ]
        figure.legend(handles=keys, loc="outside lower center", ncols=3)
        return figure


def portraits(trajectories: Sequence[Trajectory], names: Sequence[str], until: float) -> Figure:
    """Draw phase portraits of the window one above the other, up to the time `until`. [s]"""
    with house_style(62.0 * len(trajectories)) as figure:
        column = figure.subplots(len(trajectories), 1, squeeze=False, sharex=True)[:, 0]
        for axes, trajectory, name in zip(column, trajectories, names, strict=True):
            draw_portrait(axes, trajectory, until)
            title(axes, name)
        return figure


def threshold_figure(
    chart: Chart, places: Sequence[float], sufficient: Sequence[float], branch: Branch
) -> Figure:
    """Draw the stability chart of the threshold policy with the stability condition (43) of the
    paper, and the window over the threshold.
    """
    with house_style(120.0) as figure:
        upper, lower = figure.subplots(2, 1)
        draw_chart(upper, chart)
        upper.plot(places, sufficient, color=SIMULATION, linewidth=1.1)
        upper.plot([39.0], [0.125], **PAPER)
        title(upper, "a")
        quiet = np.linspace(chart.x.low, branch.form.point.value, 100)
        rest, _ = chart.case.over(**{chart.x.name: quiet})
        lower.plot(quiet, rest[0], color=QUIET)
        phase = np.linspace(0.0, 1.0, 801)
        windows = [cycle.at(phase)[0] for cycle in branch.cycles]
        start = float(branch.form.point.case.equilibrium[0])
        values = [branch.form.point.value, *branch.values]
        lower.plot(values, [start, *(w.max() for w in windows)], color=MODEL)
        lower.plot(values, [start, *(w.min() for w in windows)], color=MODEL)
        lower.set_xlabel(axis_label(branch.parameter, "packets"))
        lower.set_ylabel("window [packets]")
        title(lower, "b")
        keys = [
            Patch(color=STABLE, label="stable"),
            Line2D([], [], color=MODEL, label="Hopf condition; extremes of the cycle"),
            Line2D([], [], color=SIMULATION, label="condition (43)"),
            Line2D([], [], color=QUIET, label="equilibrium"),
            Line2D([], [], label="paper", **PAPER),
        ]
        figure.legend(handles=keys, loc="outside lower center", ncols=2)
        return figure


def kind_figure(alphas: Sequence[float], mu2: Sequence[float], branch: Branch) -> Figure:
    """Draw the coefficient mu2 of the normal form along the Hopf curve, and the amplitude of cycles
    at the default parameters.
    """
    with house_style(116.0) as figure:
        upper, lower = figure.subplots(2, 1)
        upper.axhline(0.0, color=QUIET, linewidth=0.8)
        upper.plot(alphas, mu2, "o-", color=MODEL, markersize=3)
        upper.set_xscale("log")
        upper.set_yscale("symlog", linthresh=1e-5)
        upper.set_xlabel("α, at its critical round-trip time")
        upper.set_ylabel("μ₂ with respect to κ")
        title(upper, "super-critical above 0, sub-critical below")
        draw_branch(lower, branch, [cycle.amplitude for cycle in branch.cycles])
        lower.set_yscale("log")
        lower.set_xlabel(axis_label(branch.parameter, "s"))
        lower.set_ylabel("amplitude of the window [packets]")
        title(lower, "cycles at the default parameters: stable solid, unstable dotted")
        return figure
