"""Rows with the values of several results side by side: bars for the first result, symbols for the
others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes

from lasthop.answers.items import SummaryItem, summary_items
from lasthop.plot.about import about
from lasthop.plot.figure import (
    COLUMN_INCHES,
    EMULATION,
    MEASUREMENT,
    MODEL,
    QUIET,
    SIMULATION,
    Figure,
    width_inches,
)
from lasthop.plot.legend import legend_columns
from lasthop.plot.rows import (
    Estimates,
    NumberColumns,
    bars,
    estimates,
    label_rows,
    marks,
    of_group,
)
from lasthop.plot.sharers import (
    OF_WAYS,
    Sharer,
    flows_of,
    is_estimate,
    item_of,
    samples_of,
    sharers,
    together,
)

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer
    from lasthop.measured import Measured

Item = Mapping[str, Any]

EQUAL = "equal shares"
TARGET = "target"
CALL_LIMIT = "limit of a good call"


@dataclass(frozen=True)
class Style:
    """Style of one kind of results: name in the legend, header of its numbers, colour, and symbol.

    The field `down` is the distance of the symbol below the middle of the row. [rows]
    """

    name: str
    head: str
    color: str
    marker: str
    size: float
    down: float = -0.14

    @property
    def mark(self) -> dict[str, Any]:
        """Arguments for matplotlib that describe the symbol."""
        return {"marker": self.marker, "markersize": self.size, "color": self.color}


STYLES = {
    "simulation": Style("simulation", "simulated", SIMULATION, "o", 3.2),
    "prediction": Style("model", "model", MODEL, "D", 3.2, 0.24),
    "emulation": Style("emulation", "emulated", EMULATION, "X", 4.4),
    "measurement": Style("measured", "measured", MEASUREMENT, "^", 4.0),
}
"""Styles by kind of result, in the order in which results are drawn."""

COLORS = {
    look.head: "black" if kind == "simulation" else look.color for kind, look in STYLES.items()
}
"""Colours of the columns of numbers, by header."""


@dataclass(frozen=True)
class Row:
    """Values of one item in all results, by kind of result; empty if a result lacks the item."""

    name: str
    items: Mapping[str, Item] = field(default_factory=dict)

    def of(self, kind: str) -> Item:
        """Return the item's values in the result of this kind."""
        return self.items.get(kind, {})


@dataclass(frozen=True)
class SideBySide:
    """Results for one scenario that are drawn in the same panels. The values of the first result
    are bars.

    Parameters
    ----------
    answers : mapping
        Results, by kind.
    measured : Measured, optional
        Measurements of the scenario.
    """

    answers: Mapping[str, "Answer"]
    measured: "Measured | None" = None

    @classmethod
    def of(cls, *answers: "Answer | None", measured: "Measured | None" = None) -> "SideBySide":
        """Return the results that are not None, in the order in which they are drawn."""
        known = {each.heading.kind: each for each in answers if each is not None}
        return cls({kind: known[kind] for kind in STYLES if kind in known}, measured)

    @property
    def first(self) -> "Answer":
        """Result whose values are drawn as bars."""
        return next(iter(self.answers.values()))

    def label(self, kind: str) -> str:
        """Return the legend label of a kind of results, with a note on whether it has intervals."""
        name = STYLES[kind].name
        if kind in ("prediction", "measurement"):
            return name
        runs = self.answers[kind].contents.get("replications") or 1
        once = "once" if kind == "emulation" else "one run"
        return f"{name}, 95 %" if runs > 1 else f"{name}, {once}"

    def rows(self, list_name: str) -> list[Row]:
        """Return a row for every item in a list of the first result, with the values in all
        results.
        """
        results: dict[str, Mapping[str, Item]] = {
            kind: {item.name: item.values for item in summary_items(answer.contents, list_name)}
            for kind, answer in self.answers.items()
        }
        measured = self._measured(list_name)
        results["measurement"] = {name: item.values for name, item in measured.items()}
        names = next(iter(results.values()))
        return [
            Row(name, {kind: items.get(name, {}) for kind, items in results.items()})
            for name in names
        ]

    def grouped(self, list_name: str, groups: Sequence[tuple[str, Sequence[str]]]) -> list[Row]:
        """Return a row for each group of items: its label and the mean over its items, in all
        results.

        If a group has several items, the row also contains the interval of the mean, and the range.
        """
        by_kind: list[dict[str, Item]] = [{} for _ in groups]
        for kind, answer in self.answers.items():
            items = {item.name: item for item in summary_items(answer.contents, list_name)}
            samples = samples_of(answer).get(list_name, {})
            for (label, names), row in zip(groups, by_kind, strict=True):
                row[kind] = _mean_of(label, names, items, samples)
        measured = self._measured(list_name)
        for (label, names), row in zip(groups, by_kind, strict=True):
            row["measurement"] = _mean_of(label, names, measured, {})
        return [Row(label, row) for (label, _), row in zip(groups, by_kind, strict=True)]

    def station_rows(self, *, by_way: bool = True) -> list[tuple[Sharer, Row]]:
        """Return the rows for the stations of a cell. Stations of one table share a row.

        If `by_way`, each direction of a station has its own row.
        """
        apart = set(self._measured("stations"))
        results = []
        for row in sharers([*self.answers.values()], by_way=by_way, apart=apart):
            items: dict[str, Item] = {
                kind: item_of(answer, row) for kind, answer in self.answers.items()
            }
            if self.measured is not None:
                items["measurement"] = self._measured_of(row)
            results.append((row, Row(row.label, items)))
        return results

    def _measured_of(self, row: Sharer) -> Item:
        """Return the measured values of a row: of its stations, or of their flows in one
        direction.
        """
        if not row.way:
            known = self._measured("stations")
            own = [[known[name]] if name in known else [] for name in row.members]
        else:
            known = self._measured("flows")
            own = [
                [
                    known.get(flow.name, SummaryItem({"name": flow.name}))
                    for flow in flows_of(self.first, name, row.way)
                ]
                for name in row.members
            ]
        known_of_some = (each.values.items() for part in own for each in part)
        quantities = [key for pairs in known_of_some for key, value in pairs if is_estimate(value)]
        # For flows, only goodputs are returned, because goodputs can be added; round-trip times and
        # loss rates cannot be added.
        return together(own, {}, OF_WAYS if row.way else [*dict.fromkeys(quantities)])

    def _measured(self, list_name: str) -> Mapping[str, SummaryItem]:
        """Return the measured items of a list, by name."""
        known = {} if self.measured is None else self.measured.items(list_name)
        return {name: SummaryItem({"name": name, **item}) for name, item in known.items()}

    def draw(
        self,
        axes: Axes,
        rows: Sequence[Row],
        quantity: str,
        scale: float,
        columns: NumberColumns,
    ) -> None:
        """Draw bars for the first result, and symbols for the other results.

        The numbers are added to `columns`.
        """
        seen = {
            kind: estimates([row.of(kind) for row in rows], quantity, scale)
            for kind in (*self.answers, "measurement")
        }
        main, *others = seen
        others = [kind for kind in others if says_something(seen[kind])]
        below = any(STYLES[kind].down > 0 for kind in others)
        look = STYLES[main]
        numbers = {look.head: bars(axes, seen[main], look.color, self.label(main), has_marks=below)}
        for kind in others:
            look = STYLES[kind]
            down = look.down if below else 0.0
            style = {**look.mark, "label": self.label(kind)}
            numbers[look.head] = marks(axes, seen[kind], style, down=down)
        columns.add(axes, numbers)
        axes.set_xlim(left=0)
        label_rows(axes, [row.name for row in rows])

    @property
    def legend(self) -> list[str]:
        """Labels of the legend, in order."""
        kinds = [*self.answers, *(["measurement"] if self.measured is not None else [])]
        labels = [self.label(kind) for kind in kinds]
        return [*labels[:1], of_group(labels[0]), *labels[1:], CALL_LIMIT, EQUAL, TARGET]

    def about(self) -> str:
        """Return text on the changed settings of the scenario, and on the model."""
        return about(*self.answers.values())


def _mean_of(
    label: str,
    names: Sequence[str],
    items: Mapping[str, SummaryItem],
    samples: Mapping[str, Mapping[str, Sequence[float | None]]],
) -> Item:
    """Return the mean of each quantity over a group of items. If the group has a single item, this
    item is returned unchanged."""
    parts = [[items[name]] for name in names if name in items]
    known = [
        key for key, value in (parts[0][0].values if parts else {}).items() if is_estimate(value)
    ]
    return {"name": label} | (together(parts, samples, known) if len(parts) == len(names) else {})


def says_something(values: Estimates) -> bool:
    """Return whether any value is not NaN."""
    return not all(isnan(each.value) for each in values)


def draw_equal(
    axes: Axes, rows: Sequence[tuple[Sharer, Row]], asking: set[str], total: float
) -> None:
    """Draw a line at an equal share of `total`. The line is drawn only if every row shows whole
    stations, or if every row shows one direction.

    Parameters
    ----------
    asking : set of str
        Stations that compete for a share: stations with flows other than sensor reports.
    """
    parted = {bool(row.way) for row, _ in rows if asking & set(row.members)}
    if len(parted) != 1 or not asking:
        return
    [each_way] = parted
    equal = total / len(asking) / (2 if each_way else 1)
    axes.axvline(equal, color=QUIET, linestyle="--", label=EQUAL, zorder=3)


def explain(
    figure: Figure,
    panels: Sequence[Axes],
    order: Sequence[str],
    *,
    note: str | None = None,
) -> None:
    """Draw one legend for all panels of a figure, with a note above it."""
    legend: dict[str, Any] = {}
    for axes in panels:
        lines, names = axes.get_legend_handles_labels()
        legend |= dict(zip(names, lines, strict=True))
    shown = [name for name in order if name in legend]
    wide = max(1, round(width_inches(figure) / COLUMN_INCHES))
    figure.legend(
        [legend[name] for name in shown],
        shown,
        loc="outside lower left",
        ncols=legend_columns(shown, wide, 3 * wide, spacing=1.2),
        columnspacing=1.2,
        title=note,
        title_fontsize=6.5,
        alignment="left",
    )
