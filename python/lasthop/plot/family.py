"""Families of curves: model and simulation of each in one colour, told apart by the legend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D

from lasthop.plot.figure import QUIET, Figure, house_style, title
from lasthop.studies.study import Quantity

__all__ = ["FamilyPanel", "Member", "family_figure", "legend_columns"]

DISTINCT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
"""Colours of few members, of the palette in house.mplstyle."""

DARKEST, LIGHTEST = 0.0, 0.86
"""Part of the colour map over which many ordered members are spread."""

PAPER: Mapping[str, Any] = {
    "color": "black",
    "marker": "x",
    "markersize": 6,
    "linestyle": "",
    "markeredgewidth": 1.2,
}
LEVEL: Mapping[str, Any] = {"color": QUIET, "linestyle": ":", "linewidth": 0.9}

LARGEST_MARK, SMALLEST_MARK = 4.6, 3.0
"""From the first label to the last, so that a point under another one shows. [points]"""

FEW_TICKS = 4
"""Fewer places than this on the abscissa stand away from its ends."""

LEGEND_WIDTH, KEY_WIDTH = 58, 6
"""Width of the legend, and of a key with the gaps beside it. [characters]"""


@dataclass(frozen=True)
class Member:
    """One curve: points with intervals, and the model's line where it has one.

    Parameters
    ----------
    label : str
        Its entry in the legend; members of several panels with one label have one colour.
    x : sequence of float
        Where its points are.
    quantities : sequence of Quantity
        What was measured and predicted there.
    variant : str
        What tells it from a member of the same label, drawn hollow with a dashed line.
    """

    label: str
    x: Sequence[float]
    quantities: Sequence[Quantity]
    variant: str = ""


@dataclass(frozen=True)
class FamilyPanel:
    """One pair of axes with its curves.

    Parameters
    ----------
    y_label : str
        Quantity and unit.
    members : sequence of Member
        What to draw.
    title : str
        A short line over the axes.
    from_zero : bool
        Whether the ordinate starts at 0.
    levels : mapping, optional
        Horizontal lines, by their labels.
    stated : sequence of pairs
        Abscissa and ordinate of what the paper states.
    x_label : str
        Quantity and unit of an abscissa of its own; by default the panel shares the common one.
    """

    y_label: str
    members: Sequence[Member]
    title: str = ""
    from_zero: bool = True
    levels: Mapping[str, float] | None = None
    stated: Sequence[tuple[float, float]] = ()
    x_label: str = ""


def family_figure(
    x_label: str,
    panels: Sequence[FamilyPanel],
    *,
    ticks: Mapping[float, str] | None = None,
    panel_mm: float = 48.0,
) -> Figure:
    """Draw panels over one another along a common abscissa.

    Parameters
    ----------
    x_label : str
        Quantity and unit.
    panels : sequence of FamilyPanel
        From top to bottom.
    ticks : mapping, optional
        Places on the abscissa with their labels.
    panel_mm : float
        Height of a panel. [mm]
    """
    members = [member for panel in panels for member in panel.members]
    looks = _looks(list(dict.fromkeys(member.label for member in members)))
    keys = [*_keys(looks, members), *_other_keys(panels)]
    columns = legend_columns([str(key.get_label()) for key in keys])
    rows = -(-len(keys) // columns)
    with house_style(panel_mm * len(panels) + 4.5 * rows + 4.0) as figure:
        axes_list = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        common = [axes for axes, panel in zip(axes_list, panels, strict=True) if not panel.x_label]
        for axes in common[:-1]:
            axes.sharex(common[-1])
            axes.tick_params(labelbottom=False)
        for axes, panel in zip(axes_list, panels, strict=True):
            _draw(axes, panel, looks)
        common[-1].set_xlabel(x_label)
        if ticks is not None:
            common[-1].set_xticks(list(ticks), list(ticks.values()))
            for axes in common if len(ticks) < FEW_TICKS else ():
                axes.margins(x=0.2)  # room for their labels
        figure.legend(handles=keys, loc="outside lower center", ncols=columns)
        return figure


def legend_columns(labels: Sequence[str]) -> int:
    """Return how many columns of these labels, filled one after the other, fit the legend."""

    def width(columns: int) -> int:
        lengths = np.array_split([len(label) for label in labels], columns)  # as matplotlib does
        return sum(KEY_WIDTH + int(part.max(initial=0)) for part in lengths)

    return next((n for n in (3, 2) if width(n) <= LEGEND_WIDTH), 1)


@dataclass(frozen=True)
class _Look:
    """Colour, and size of the points."""

    color: str
    size: float


def _looks(labels: Sequence[str]) -> dict[str, _Look]:
    count = len(labels)
    parts = [k / max(1, count - 1) for k in range(count)]
    colormap = matplotlib.colormaps["plasma"]
    spread = [to_hex(colormap(DARKEST + (LIGHTEST - DARKEST) * part)) for part in parts]
    colors = DISTINCT[:count] if count <= len(DISTINCT) else spread
    return {
        label: _Look(color, LARGEST_MARK + (SMALLEST_MARK - LARGEST_MARK) * part)
        for label, color, part in zip(labels, colors, parts, strict=True)
    }


def _draw(axes: Axes, panel: FamilyPanel, looks: Mapping[str, _Look]) -> None:
    for member in panel.members:
        _draw_member(axes, member, looks[member.label])
    axes.plot([x for x, _ in panel.stated], [y for _, y in panel.stated], **PAPER)
    for level in (panel.levels or {}).values():
        axes.axhline(level, **LEVEL)
    axes.set_ylabel(panel.y_label)
    axes.set_xlabel(panel.x_label)
    axes.margins(y=0.08)
    if panel.from_zero:
        axes.set_ylim(0.0, 1.06 * axes.dataLim.y1)
    if panel.title:
        title(axes, panel.title)


def _draw_member(axes: Axes, member: Member, look: _Look) -> None:
    measured = list(zip(member.x, (each.measured() for each in member.quantities), strict=True))
    model = [(x, one.predicted) for x, one in measured if one.predicted is not None]
    axes.plot([x for x, _ in model], [y for _, y in model], **_line(member, look.color))
    points = [
        (x, one.simulated, one.ci95 or 0.0) for x, one in measured if one.simulated is not None
    ]
    axes.errorbar(
        [x for x, _, _ in points],
        [y for _, y, _ in points],
        yerr=[half for _, _, half in points],
        markersize=look.size,
        elinewidth=0.8,
        capsize=1.5,
        **_mark(member, look.color),
    )


def _line(member: Member, color: str) -> dict[str, Any]:
    """Return how the model's line looks."""
    return {"color": color, "linewidth": 0.9, "linestyle": "--" if member.variant else "-"}


def _mark(member: Member, color: str) -> dict[str, Any]:
    """Return how the simulation's points look."""
    face, marker = ("white", "s") if member.variant else (color, "o")
    shape = {"marker": marker, "markerfacecolor": face, "markeredgewidth": 0.8}
    return {"color": color, "linestyle": "", **shape}


def _keys(looks: Mapping[str, _Look], members: Sequence[Member]) -> list[Line2D]:
    """Return the legend: a colour for each label; how model, simulation and variants look."""
    keys = [
        Line2D([], [], color=look.color, linewidth=2.5, label=label)
        for label, look in looks.items()
    ]
    for variant in dict.fromkeys(member.variant for member in members):
        suffix = f", {variant}" if variant else ""
        own = [member for member in members if member.variant == variant]
        if any(one.predicted is not None for member in own for one in member.quantities):
            keys.append(Line2D([], [], label=f"model{suffix}", **_line(own[0], QUIET)))
        keys.append(Line2D([], [], label=f"simulation{suffix}", **_mark(own[0], QUIET)))
    return keys


def _other_keys(panels: Sequence[FamilyPanel]) -> list[Line2D]:
    labels = dict.fromkeys(label for panel in panels for label in panel.levels or {})
    keys = [Line2D([], [], label=label, **LEVEL) for label in labels]
    if any(panel.stated for panel in panels):
        keys.append(Line2D([], [], label="paper", **PAPER))
    return keys
