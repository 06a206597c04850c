"""Panels of delays and losses, which are drawn before all other panels."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from matplotlib.axes import Axes

from lasthop.answers.calls import DELAY_P99_S, LOSS, Call
from lasthop.answers.items import SummaryItem, names_in
from lasthop.display.delays import Delays, completion_columns
from lasthop.plot.figure import title
from lasthop.plot.rows import NumberColumns, estimates
from lasthop.plot.sharers import ARROWS, groups_of, title_of
from lasthop.plot.side_by_side import CALL_LIMIT, Row, SideBySide, says_something

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer

__all__ = ["DelayPanel", "Members", "delay_panels", "rows_of"]

DELAY, LOST = "one_way_delay_p99_s", "loss_probability"
Place: TypeAlias = tuple[str, str, str]
"""Host, row label and name of an item; the host is empty for an item without a host."""

COMPLETION = {
    "completion_p95_s": "95 % are complete within [s]",
    "completion_s": "mean completion time [s]",
}
"""Axis labels of the completion times."""


@dataclass(frozen=True)
class Members:
    """Items that are drawn in one row.

    Attributes
    ----------
    label : str
        Label of the row.
    names : tuple of str
        Names of the items, whose mean and range are drawn.
    """

    label: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class DelayPanel:
    """A panel of delays or losses, with a row for each call, flow or class.

    Attributes
    ----------
    title : str
        Title above the panel.
    rows : list of Row
        Rows of the panel.
    quantity : str
        The drawn quantity.
    scale : float
        Factor that converts the unit of the result to the unit of the axis.
    label : str
        Label of the axis.
    limit : float or None
        Limit of a good call, in the unit of the axis.
    """

    title: str
    rows: list[Row]
    quantity: str
    scale: float
    label: str
    limit: float | None = None

    def draw(self, axes: Axes, sides: SideBySide, numbers: NumberColumns) -> None:
        """Draw bars, numbers, and the limit of a good call into the axes."""
        title(axes, self.title)
        sides.draw(axes, self.rows, self.quantity, self.scale, numbers)
        if self.limit is not None:
            axes.axvline(self.limit, color="black", linestyle="-.", label=CALL_LIMIT, zorder=3)
            axes.set_xlim(right=max(axes.get_xlim()[1], 1.04 * self.limit))
        axes.set_xlabel(self.label)


def delay_panels(sides: SideBySide) -> list[DelayPanel]:
    """Return the panels of delays and losses; none without delay-sensitive traffic."""
    delays = Delays.of(sides.first)
    return [panel for panel in _panels(sides, delays) if _says_something(sides, panel)]


def rows_of(sides: SideBySide, list_name: str, members: Sequence[Members]) -> list[Row]:
    """Return a row for each group of items, with the values of all results and the measurements."""
    return sides.grouped(list_name, [(each.label, each.names) for each in members])


def _panels(sides: SideBySide, delays: Delays) -> Iterator[DelayPanel]:
    answer = sides.first
    datagrams = _places(delays.datagrams, delays.datagram_list)

    def rows(flow_of: Callable[[Call], str]) -> list[Row]:
        calls = [
            (call.name, f"call {ARROWS[call.direction]}", flow_of(call)) for call in delays.calls
        ]
        if delays.datagram_list == "flows":
            return rows_of(sides, "flows", _in_rows(answer, [*calls, *datagrams]))
        of_classes = rows_of(sides, delays.datagram_list, _in_rows(answer, datagrams))
        return [*rows_of(sides, "flows", _in_rows(answer, calls)), *of_classes]

    limits = (1e3 * DELAY_P99_S, 100 * LOSS) if delays.calls else (None, None)
    within = "99 % of packets arrive within [ms]"
    verdicts = delays.verdicts().replace("; ", "\n")
    label = f"{within}\n{verdicts}" if verdicts else within
    yield DelayPanel("Delay", rows(delays.slowest), DELAY, 1e3, label, limits[0])
    yield DelayPanel("Loss", rows(delays.lossiest), LOST, 100, "lost packets [%]", limits[1])
    sensors = rows_of(sides, "flows", _in_rows(answer, _places(delays.reports, "flows")))
    label = "95 % of the reports arrive within [ms]"
    yield DelayPanel("Delay of reports", sensors, "report_delay_p95_s", 1e3, label)
    label = "reports that arrive in time [%]"
    yield DelayPanel("Delivery of reports", sensors, "report_delivery", 100, label)
    pings = rows_of(sides, "flows", _in_rows(answer, _places(delays.pings, "flows")))
    for quantity, part in (("rtt_p50_s", "half"), ("rtt_p99_s", "99 %")):
        label = f"{part} of the replies arrive within [ms]"
        yield DelayPanel("Round trips of pings", pings, quantity, 1e3, label)
    ending = _in_rows(answer, _places(delays.transfers, delays.transfer_list))
    for column in completion_columns(delays.transfers):
        transfers = rows_of(sides, delays.transfer_list, ending)
        label = COMPLETION[column.quantity]
        yield DelayPanel("Completion", transfers, column.quantity, 1, label)


def _says_something(sides: SideBySide, panel: DelayPanel) -> bool:
    """Return whether any result has a value to draw. For losses, a value must exceed 0."""
    values = [
        estimates([row.of(kind) for row in panel.rows], panel.quantity) for kind in sides.answers
    ]
    if panel.quantity == LOST:
        return any(each.value > 0 for of_one in values for each in of_one)
    return any(map(says_something, values))


def _places(items: Sequence[Mapping[str, Any]], list_name: str) -> list[Place]:
    """Return host, row label and name of each item. Only flows of stations have a host."""
    results = []
    for item in map(SummaryItem, items):
        name, host = item.name, item.station
        is_of_station = list_name == "flows" and host and item.direction in ARROWS
        results.append((host, ARROWS[item.direction], name) if is_of_station else ("", name, name))
    return results


def _in_rows(answer: "Answer", places: Sequence[Place]) -> list[Members]:
    """Group items into rows: a row contains items with the same direction and table of stations."""
    stations = names_in(answer.contents, "stations")
    groups = groups_of(answer, stations)
    rows: dict[tuple[str, str], list[Place]] = {}
    for host, rest, name in places:
        rows.setdefault((groups.get(host, host), rest), []).append((host, rest, name))
    results = []
    for (group, rest), members in rows.items():
        hosts = tuple(dict.fromkeys(host for host, _, _ in members))
        title = title_of(group, hosts) if group else ""
        results.append(Members(f"{title} {rest}".strip(), tuple(name for _, _, name in members)))
    return results
