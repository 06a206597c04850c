"""Picture of a conflict graph: which links cannot transmit simultaneously, and their
throughputs.
"""

from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from lasthop.answers.digits import plain
from lasthop.answers.estimates import Estimate
from lasthop.errors import UserError
from lasthop.plot.figure import (
    COLUMN_INCHES,
    LEFT,
    MODEL,
    QUIET,
    SIMULATION,
    Figure,
    Place,
    figure_of,
    house_style,
    one_panel,
    title,
)
from lasthop.scenario.csma import Csma, CsmaLink, CsmaNode
from lasthop.scenario.from_json import Table, read_as
from lasthop.scenario.typed import CsmaScenario

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer

Point = tuple[float, float]
Floats = NDArray[np.float64]

LARGEST_AREA = 500.0
"""Area of the disc of a link that transmits all the time, in graphs with few links. [points^2]"""

MAX_NAMED = 30
"""Maximum number of links for which names, air times and throughputs are written."""

WIDTH = 72.0 * COLUMN_INCHES
"""Width of a panel. [points]"""

RADIUS = 36.0
"""Radius of the circle on which links are drawn if nodes have no positions. [points]"""

CENTRE = (WIDTH / 2.0, 2.1 * RADIUS)
"""Centre of the circle on which links are drawn if nodes have no positions. [points]"""

BOX, DOT = (54.0, 62.0), (16.0, 16.0)
"""Width and height that a link needs if nodes have positions: with its text, and without.
[points]
"""

SEEN = 0.005
"""Smallest fraction of time with dummy packets that is drawn. [-]"""

OF_LINKS = "air time and throughput of each link"
"""Title of a panel with one graph."""

NARROW = 60
"""Maximum length of a line in the legend below a single panel. [characters]"""

POINTS_PER_MM = 72.0 / 25.4
HIDDEN = "#D55E00"


def conflict_figure(answers: Sequence[tuple[str, "Answer"]], place: Place | None = None) -> Figure:
    """Draw one panel per result, side by side; the area of a link's disc is its air time.

    A line is a conflict, and the pale part of a disc is the air time of dummy packets. A link
    between two nodes with positions is drawn at the midpoint of the nodes. Links that overlap are
    moved apart. Links without positions are drawn on a circle. An arrow leads from a hidden link to
    the link whose frames the hidden link destroys.

    Parameters
    ----------
    answers : sequence of (str, Answer)
        Titles, and predictions or simulations of scenarios with `csma`.
    place : Figure or SubFigure, optional
        Figure or subfigure to draw into.
    """
    networks = [network(answer) for _, answer in answers]
    placed = [places(csma.links, csma.nodes) for csma in networks]
    heights = [height for _, height in placed]
    lines, meanings = legend_of([answer for _, answer in answers])
    is_wrapped = len(answers) == 1 and any(len(meaning) > NARROW for meaning in meanings)
    legend_mm = 10.0 + 4.0 * (len(lines) > 1) + 3.0 * is_wrapped
    total_mm = max(heights) / POINTS_PER_MM + 7.0 + legend_mm
    with house_style(total_mm, len(answers), place) as figure:
        if place is None and isinstance(
            engine := figure.get_layout_engine(), ConstrainedLayoutEngine
        ):
            engine.set(w_pad=LEFT * COLUMN_INCHES)  # Space for titles
        row = figure.subplots(1, len(answers), squeeze=False)[0]
        for axes, (text, answer), (at, height) in zip(row, answers, placed, strict=True):
            draw_panel(axes, text, answer, at, (height - max(heights), height))
        if len(answers) == 1:
            meanings = [fill(meaning, NARROW) for meaning in meanings]
        figure.legend(lines, meanings, loc="outside lower left")
    return figure


def answer_figure(answer: "Answer", axes: Axes | None = None) -> Figure:
    """Draw the conflict graph of a result, into the given axes or a new figure."""
    if not isinstance(answer.scenario.typed, CsmaScenario):
        raise UserError("no conflict graph: the scenario has no `csma`")
    name = answer.heading.scenario
    return conflict_figure([(name, answer)]) if axes is None else conflict_axes(name, answer, axes)


def conflict_axes(text: str, answer: "Answer", axes: Axes) -> Figure:
    """Draw the conflict graph of one result into the caller's axes. The discs have a fixed size on
    paper."""
    csma = network(answer)
    with one_panel(0.0, axes):
        at, height = places(csma.links, csma.nodes)
        draw_panel(axes, text, answer, at, (0.0, height))
        lines, meanings = legend_of([answer])
        axes.legend(lines, meanings, loc="upper left", bbox_to_anchor=(0, 0), borderaxespad=0)
        return figure_of(axes)


def draw_panel(
    axes: Axes, text: str, answer: "Answer", at: Mapping[str, Point], ends: tuple[float, float]
) -> None:
    """Draw a conflict graph with its title. The vertical axis has the range `ends`. [points]"""
    draw_conflicts(axes, answer, at)
    axes.set_xlim(0.0, WIDTH)
    axes.set_ylim(*ends)
    axes.set_axis_off()
    title(axes, text)


def legend_of(answers: Sequence["Answer"]) -> tuple[list[Line2D], list[str]]:
    """Return the line styles in the legend and their meanings."""
    has_hidden = any(link.disturbs for answer in answers for link in network(answer).links)
    has_dummies = any(link.dummies for answer in answers for link in uses(answer))
    lines = [Line2D([], [], color=QUIET, linewidth=0.8, linestyle="-")]
    pale = ", pale for dummy packets" if has_dummies else ""
    meanings = [f"conflict: one waits for the other; discs are air times{pale}"]
    if has_hidden:
        look: dict[str, Any] = {"linestyle": "--", "marker": ">", "markersize": 3}
        lines.append(Line2D([], [], color=HIDDEN, linewidth=0.8, **look))
        meanings.append("hidden: collides with frames that it does not hear")
    return lines, meanings


class LinkUse(Table):
    """Air time of one link in a result."""

    name: str
    airtime_fraction: Annotated[Estimate | None, Estimate.read] = None
    dummy_fraction: Annotated[Estimate | None, Estimate.read] = None

    @property
    def airtime(self) -> float:
        """Fraction of time in which the link transmits. [-]"""
        assert self.airtime_fraction is not None, "links of conflict graphs have air times"
        return self.airtime_fraction.mean

    @property
    def dummies(self) -> float:
        """Fraction of time with dummy packets; 0 if it is too small to be drawn. [-]"""
        part = 0.0 if self.dummy_fraction is None else self.dummy_fraction.mean
        return part if part >= SEEN else 0.0


class FlowRate(Table):
    """Goodput of one flow in a result."""

    name: str
    goodput_bps: Annotated[Estimate | None, Estimate.read] = None


def uses(answer: "Answer") -> list[LinkUse]:
    """Return the air times of all links in a result."""
    return [read_as(LinkUse, item) for item in answer.contents["links"]]


def throughputs(answer: "Answer") -> dict[str, float]:
    """Return the total goodput of the flows over each link. A link is left out if the goodput of
    one of its flows is unknown. [bit/s]
    """
    rates = (read_as(FlowRate, item) for item in answer.contents["flows"])
    goodput = {flow.name: flow.goodput_bps for flow in rates}
    over: dict[str, float] = {}
    unknown = set()
    for flow in network(answer).flows:
        own = goodput[flow.name]
        for link in flow.route:
            if own is None:
                unknown.add(link)
            else:
                over[link] = over.get(link, 0.0) + own.mean
    return {link: bps for link, bps in over.items() if link not in unknown}


def draw_conflicts(axes: Axes, answer: "Answer", at: Mapping[str, Point]) -> None:
    """Draw conflicts, hidden links, air times and throughputs; `at` contains the positions of
    links.
    """
    carried = throughputs(answer)
    color = MODEL if answer.heading.kind == "prediction" else SIMULATION
    csma = network(answer)
    area = LARGEST_AREA * (1.0 if len(at) <= MAX_NAMED else 10.0 / len(at))
    for csma_link in csma.links:
        for other in csma_link.conflicts:
            if other < csma_link.name:  # Both links list the conflict; draw it once.
                continue
            (x, y), (x_other, y_other) = at[csma_link.name], at[other]
            ends = [x, x_other], [y, y_other]
            axes.plot(*ends, color=QUIET, linewidth=0.8, linestyle="-", zorder=1)
        for other in csma_link.disturbs:
            style = {"arrowstyle": "-|>", "color": HIDDEN, "linestyle": "--", "linewidth": 0.8}
            radius = 1.1 * (area / pi) ** 0.5
            bent = {"connectionstyle": "arc3,rad=0.15", "shrinkA": radius, "shrinkB": radius}
            axes.annotate("", at[other], at[csma_link.name], arrowprops=style | bent, zorder=1)
    for link in uses(answer):
        if link.name not in at:
            continue
        airtime, idle = link.airtime, link.dummies
        x, y = at[link.name]
        axes.scatter([x], [y], s=area, facecolor="white", edgecolor=QUIET, zorder=2)
        if idle:
            axes.scatter([x], [y], s=area * airtime, color=color, alpha=0.4, linewidth=0, zorder=3)
        axes.scatter([x], [y], s=area * (airtime - idle), color=color, linewidth=0, zorder=3)
        if len(at) <= MAX_NAMED:
            text = f"{link.name}: {100 * (airtime - idle):.0f} %"
            if idle:
                text += f" + {100 * idle:.0f} %"
            if link.name in carried:
                text += f"\n{plain(carried[link.name] * 1e-6)} Mb/s"
            draw_label(axes, text, (x, y), is_placed=bool(csma.nodes))


def draw_label(axes: Axes, text: str, at: Point, *, is_placed: bool) -> None:
    """Write name and values of a link below its disc, or next to the circle of links."""
    radius = (LARGEST_AREA / pi) ** 0.5
    if is_placed:
        down = (at[0], at[1] - radius - 3.0)
        room = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        axes.annotate(text, down, ha="center", va="top", zorder=4, bbox=room)
        return
    x, y = ((at[k] - CENTRE[k]) / RADIUS for k in (0, 1))
    axes.annotate(
        text,
        (CENTRE[0] + 1.45 * RADIUS * x, CENTRE[1] + 1.72 * RADIUS * y),
        ha="left" if x > 0.1 else "right" if x < -0.1 else "center",
        va="center",
    )


def network(answer: "Answer") -> Csma:
    """Return the conflict graph of a result's scenario."""
    known = answer.scenario.typed
    assert isinstance(known, CsmaScenario), "a figure of conflicts needs a conflict graph"
    return known.csma


def places(links: Sequence[CsmaLink], nodes: Sequence[CsmaNode]) -> tuple[dict[str, Point], float]:
    """Return the positions of the links in a panel, and the height of the panel. [points]"""
    names = [link.name for link in links]
    if not nodes:
        circle = [(CENTRE[0] + RADIUS * x, CENTRE[1] + RADIUS * y) for x, y in around(len(links))]
        return dict(zip(names, circle, strict=True)), 2.0 * CENTRE[1] + 2.0
    where = {node.name: (node.x_m, node.y_m) for node in nodes}
    ends = [(where[link.from_node], where[link.to_node]) for link in links]
    middles = np.array([np.add(item, other) / 2.0 for item, other in ends])
    is_named = len(links) <= MAX_NAMED
    box = np.array(BOX if is_named else DOT)
    scale = to_paper(middles, WIDTH - box[0])
    at = (middles - middles.min(axis=0)) * scale
    if is_named:
        at = clear(at, box)
    at[:, 0] += (WIDTH - np.ptp(at[:, 0])) / 2.0
    at[:, 1] += 0.7 * box[1]
    height = float(at[:, 1].max()) + 0.35 * box[1]
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, at, strict=True)}, height


def to_paper(middles: Floats, width: float) -> float:
    """Return the scale at which all links fit into the width of a panel. [points/m]"""
    across, along = np.maximum(np.ptp(middles, axis=0), 1.0)
    return min(width / float(across), 1.5 * WIDTH / float(along))


def clear(places: Floats, box: Floats) -> Floats:
    """Return positions on paper at which the boxes of links do not overlap. [points]

    If no boxes overlap, the positions do not change. If boxes overlap, the picture is enlarged, and
    gaps larger than a box shrink to the size of a box. The order from left to right and from top to
    bottom does not change. If two boxes still overlap, one of the two is moved up.
    """
    at = places
    for zoom in np.geomspace(1.0, 1e3, 60):
        if not covering(at, box).any():
            return at
        cut = np.stack([cut_gaps(places[:, k] * zoom, 1.05 * box[k]) for k in (0, 1)], axis=1)
        if np.ptp(cut[:, 0]) <= WIDTH - box[0]:
            at = cut
    at = at.copy()
    for _ in range(100 * len(at)):
        pairs = np.argwhere(np.triu(covering(at, box)))
        if not len(pairs):
            break
        item, other = sorted(pairs[0], key=lambda k: (at[k, 1], k))
        at[other, 1] = at[item, 1] + box[1]
    return at


def covering(at: Floats, box: Floats) -> NDArray[np.bool_]:
    """Return a boolean matrix: element (i, j) is whether boxes i and j overlap."""
    apart = np.abs(at[:, None, :] - at[None, :, :])
    return (apart < box - 0.01).all(axis=2) & ~np.eye(len(at), dtype=bool)


def cut_gaps(values: Floats, most: float) -> Floats:
    """Return the values, shifted so that the smallest is 0, with gaps of at most `most` between
    them.
    """
    unique, place = np.unique(values, return_inverse=True)
    gaps = np.minimum(np.diff(unique), most)
    at: Floats = np.concatenate([[0.0], np.cumsum(gaps)])[place]
    return at


def around(count: int) -> list[Point]:
    """Return `count` positions on a unit circle, clockwise from the leftmost position."""
    turns = (pi - 2.0 * pi * k / count for k in range(count))
    return [(cos(turn), sin(turn)) for turn in turns]
