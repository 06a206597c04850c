"""Delays and losses of a result, which are shown before all other quantities.

Delays and losses are shown if the scenario has paced datagrams, sensors, pings, web pages, adaptive
video or finite transfers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lasthop.answers.calls import (
    DELAY_P99_S,
    LOSS,
    MAX_CALLS,
    RANKS,
    Call,
    CallFacts,
    call_facts,
    is_paced,
)
from lasthop.answers.digits import estimate
from lasthop.answers.estimates import Estimate
from lasthop.display.columns import (
    COLUMNS,
    DELAY,
    DELAY_P99,
    MEDIAN,
    RTTS,
    TITLES,
    Column,
    called,
    printed,
)
from lasthop.display.columns import LOSS as LOSS_COLUMN

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer
    from lasthop.scenario.scenario import Scenario

__all__ = [
    "MAX_ROWS",
    "OF_DATAGRAMS",
    "OF_REPORTS",
    "OF_STREAMS",
    "DelayTable",
    "Delays",
    "completion_columns",
    "headlines",
    "unshown_columns",
]

Item = Mapping[str, Any]

MAX_ROWS = 12
"""Maximum number of rows of a table. If there are more items, only the worst are shown."""

LOST = replace(LOSS_COLUMN, title="lost", zero_says=True)

OF_DATAGRAMS = (DELAY_P99, DELAY, LOST)
"""Columns for calls and for other datagrams at a given rate."""

OF_REPORTS = COLUMNS["reports"]
"""Columns for sensors."""

OF_PINGS = (*RTTS, LOST)
"""Columns for pings."""

OF_CHUNKS = COLUMNS["chunks"]
"""Columns for applications that write chunks."""

OF_STREAMS = COLUMNS["streams"]
"""Columns for adaptive video."""

OF_VIDEOS = COLUMNS["videos"]
"""Columns for the video of calls whose rate adapts."""

COMPLETION_MEDIAN = Column("completion_p50_s", "median", "s")

OF_TRANSFERS = tuple(
    column
    for column in (COMPLETION_MEDIAN, *COLUMNS["classes"])
    if column.quantity
    in (
        "completion_s",
        "completion_p50_s",
        "completion_p95_s",
        "connections_finished",
        "connections_refused",
        "unfinished",
        "transfer_rate_bps",
    )
)
"""Columns for web connections and finite flows."""

LATEST = (
    "one_way_delay_p99_s",
    "rtt_p99_s",
    "report_delay_p95_s",
    "chunk_completion_p95_s",
    "completion_p95_s",
    "completion_s",
)
"""Quantities by which the rows are sorted; if an item has several, the largest counts."""

WAITS = "waits in\n(share of delay)"
"""Header of the column that names the queue with the longest wait."""


@dataclass(frozen=True)
class DelayTable:
    """A table of delays and losses.

    Attributes
    ----------
    title : str
        Title above the table.
    heads : sequence of str
        Headers of the columns, with line breaks.
    rows : sequence of sequences of str
        Cells of the table.
    names : int
        Number of columns with text; they are the first columns.
    list_name : str
        Name of the list of the result that contains the items.
    items : sequence of mappings
        Items of the result, one per row.
    columns : sequence of Column
        Columns that other tables omit, because this table shows them.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int
    list_name: str
    items: Sequence[Item]
    columns: Sequence[Column]


@dataclass(frozen=True)
class Delays:
    """Calls, datagrams, sensors, pings, chunks, adaptive video and transfers of a result, whose
    delay or loss matters.

    Attributes
    ----------
    facts : Facts
        Calls, and the queues in which datagrams wait.
    flows : mapping
        All flows of the result, by name.
    datagrams : sequence of mappings
        Flows, or classes of flows, of paced datagrams that are not part of a call.
    datagram_list : str
        Name of the list of the result that contains the datagram flows.
    reports : sequence of mappings
        Flows of sensors.
    pings : sequence of mappings
        Flows of pings.
    transfers : sequence of mappings
        Classes of web connections or of finite flows; if there are no classes, the flows.
    transfer_list : str
        Name of the list of the result that contains the transfers.
    chunks : sequence of mappings
        Classes of flows whose applications write chunks; if there are no classes, the flows.
    chunk_list : str
        Name of the list of the result that contains the chunks.
    streams : sequence of mappings
        Flows of adaptive video.
    videos : sequence of mappings
        Flows of the video of calls whose rate adapts.
    """

    facts: CallFacts
    flows: Mapping[str, Item]
    datagrams: Sequence[Item] = ()
    datagram_list: str = "flows"
    reports: Sequence[Item] = ()
    transfers: Sequence[Item] = ()
    transfer_list: str = "classes"
    chunks: Sequence[Item] = ()
    chunk_list: str = "flows"
    pings: Sequence[Item] = ()
    streams: Sequence[Item] = ()
    videos: Sequence[Item] = ()

    @classmethod
    def of(cls, answer: "Answer") -> "Delays":
        """Return the delays of a result."""
        return cls.of_summary(answer.contents, answer.scenario if answer.has_scenario else None)

    @classmethod
    def of_summary(cls, summary: Mapping[str, Any], scenario: "Scenario | None") -> "Delays":
        """Return the delays of a result's summary."""
        facts = call_facts(summary, scenario)
        flows = {str(item["name"]): item for item in summary.get("flows", ())}
        in_calls = {name for call in facts.calls for name in call.flows}
        greedy = set()
        greedy_classes = set()
        if scenario is not None:
            for flow in scenario.typed.flows:
                if not is_paced(flow):
                    greedy.add(flow.name)
                    greedy_classes.add(flow.class_name)
        list_name = "flows" if printed(summary, "flows") else "classes"
        datagrams = [
            item
            for item in summary.get(list_name, ())
            if DELAY_P99.says_something(item)
            and item["name"] not in (greedy if list_name == "flows" else greedy_classes)
            and not (list_name == "flows" and item["name"] in in_calls)
        ]
        if list_name == "classes" and in_calls:
            of_calls = {flows[name].get("class") for name in in_calls if name in flows}
            datagrams = [item for item in datagrams if item["name"] not in of_calls]
        ending = [list(_finite(summary.get(name, ()))) for name in ("classes", "flows")]
        written = [
            [item for item in summary.get(name, ()) if "chunks" in item]
            for name in ("classes", "flows")
        ]
        return cls(
            facts,
            flows,
            datagrams,
            list_name,
            [item for item in flows.values() if "reports" in item],
            ending[0] or ending[1],
            "classes" if ending[0] else "flows",
            written[0] or written[1],
            "classes" if written[0] else "flows",
            [item for item in flows.values() if MEDIAN in item],
            [item for item in flows.values() if OF_STREAMS[0].quantity in item],
            [item for item in flows.values() if OF_VIDEOS[0].quantity in item],
        )

    @property
    def calls(self) -> Sequence[Call]:
        """Each direction of each call."""
        return self.facts.calls

    def __bool__(self) -> bool:
        """Return whether the result has a call, datagrams, a sensor, pings, chunks, adaptive video
        or a transfer.
        """
        known = (self.calls, self.datagrams, self.reports, self.pings, self.chunks, self.transfers)
        return any(map(bool, (*known, self.streams, self.videos)))

    def tables(self) -> Iterator[DelayTable]:
        """Yield the tables of calls, datagrams, sensors, pings, chunks, adaptive video and
        transfers; empty tables are left out.
        """
        if self.calls:
            yield self._call_table()
        for title, list_name, items, columns in (
            ("delay and loss of datagrams", self.datagram_list, self.datagrams, OF_DATAGRAMS),
            ("sensors", "flows", self.reports, OF_REPORTS),
            ("pings", "flows", self.pings, OF_PINGS),
            ("chunks", self.chunk_list, self.chunks, OF_CHUNKS),
            ("adaptive video", "flows", self.streams, OF_STREAMS),
            ("video of calls", "flows", self.videos, OF_VIDEOS),
            ("pages and transfers", self.transfer_list, self.transfers, OF_TRANSFERS),
        ):
            shown = [c for c in columns if any(c.says_something(item) for item in items)]
            if shown:
                yield self._item_table(title, list_name, items, shown)

    def call_item(self, call: Call) -> Item:
        """Return one direction of a call as an item: its delay and loss, and the mean delay of its
        slowest flow.
        """
        slowest = self.flows.get(self.slowest(call), {})
        delay_p99 = call.delay_p99_s
        return {
            "name": call.label,
            DELAY_P99.quantity: None if delay_p99 is None else delay_p99.to_dict(),
            DELAY.quantity: slowest.get(DELAY.quantity),
            LOST.quantity: call.loss.to_dict(),
        }

    def slowest(self, call: Call) -> str:
        """Return the name of the flow with the longest delay in this direction of a call."""
        return max(call.flows, key=lambda name: _delay_s(self.flows.get(name, {})))

    def lossiest(self, call: Call) -> str:
        """Return the name of the flow with the highest loss in this direction of a call."""

        def loss(name: str) -> float:
            lost = Estimate.read(self.flows.get(name, {}).get(LOST.quantity))
            return 0.0 if lost is None else lost.mean

        return max(call.flows, key=loss)

    def verdict_by_name(self) -> dict[str, str]:
        """Return verdicts by call name; each is the verdict on the call's worse direction."""
        return verdict_by_name(self.calls)

    def verdicts(self) -> str:
        """Return the verdicts on the calls in one line; empty if there are no calls."""
        return verdicts(self.calls)

    def headlines(self) -> Iterator[str]:
        """Yield one sentence per direction of a call, with its verdict. If there are many calls,
        yield only a summary and a sentence about the worst direction.
        """
        return headlines(self.calls)

    def _call_table(self) -> DelayTable:
        calls: Sequence[Call] = self.calls
        if len(calls) > MAX_ROWS:
            calls = sorted(calls, key=lambda call: call.badness, reverse=True)
        waits = any(call.waits_at for call in calls)
        heads = ["call", "verdict", *([WAITS] if waits else [])]
        heads += [column.header for column in OF_DATAGRAMS]
        rows = [
            [
                call.label,
                call.verdict,
                *([self._wait(call.waits_at, self.slowest(call))] if waits else []),
                *(column.cell(self.call_item(call)) for column in OF_DATAGRAMS),
            ]
            for call in calls
        ]
        items = [self.flows[n] for call in calls for n in call.flows if n in self.flows]
        return DelayTable(
            "delay and loss of calls", heads, rows, 2 + waits, "flows", items, OF_DATAGRAMS
        )

    def _item_table(
        self, title: str, list_name: str, items: Sequence[Item], columns: Sequence[Column]
    ) -> DelayTable:
        of_reports = any(column in OF_REPORTS for column in columns)
        if len(items) > MAX_ROWS:
            items = sorted(items, key=_delay_s, reverse=True)
        waits = any(item["name"] in self.facts.waits for item in items)
        rows = []
        for item in items:
            queue, _ = self.facts.waits.get(str(item["name"]), ("", 0.0))
            names = [called(item), *([self._wait(queue, str(item["name"]))] if waits else [])]
            rows.append([*names, *(column.cell(item) for column in columns)])
        head = TITLES["reports" if of_reports else list_name]
        heads = [head, *([WAITS] if waits else []), *(column.header for column in columns)]
        again = (*columns, DELAY, DELAY_P99) if of_reports else columns
        return DelayTable(title, heads, rows, 1 + waits, list_name, items, again)

    def _wait(self, queue: str, flow: str) -> str:
        """Return the name of a queue, followed by its share of the flow's mean delay if the share
        is known.
        """
        known, share = self.facts.waits.get(flow, ("", 0.0))
        return f"{queue} ({100 * share:.0f} %)" if queue and known == queue else queue


def completion_columns(transfers: Iterable[Item]) -> tuple[Column, ...]:
    """Return the column for the completion time: the 95th percentile if available, else the
    mean.
    """
    known = list(transfers)
    columns = {column.quantity: column for column in OF_TRANSFERS}
    for column in (columns["completion_p95_s"], columns["completion_s"]):
        if any(column.says_something(item) for item in known):
            return (column,)
    return ()


def unshown_columns(
    tables: Iterable[DelayTable], list_name: str, items: Iterable[Item], columns: Iterable[Column]
) -> list[Column]:
    """Return the columns of a list with values that the delay tables do not already show."""
    shown = {
        (str(item["name"]), column.quantity)
        for table in tables
        if table.list_name == list_name
        for item in table.items
        for column in table.columns
    }
    known = list(items)
    return [
        column
        for column in columns
        if any(
            column.says_something(item) and (str(item["name"]), column.quantity) not in shown
            for item in known
        )
    ]


def verdict_by_name(calls: Sequence[Call]) -> dict[str, str]:
    """Return verdicts by call name; each is the verdict on the call's worse direction."""
    results: dict[str, str] = {}
    for call in calls:
        both = (results.get(call.name, call.verdict), call.verdict)
        results[call.name] = max(both, key=RANKS.__getitem__)
    return results


def verdicts(calls: Sequence[Call]) -> str:
    """Return the verdicts on calls in one line; empty if there are no calls."""
    names = list(dict.fromkeys(call.name for call in calls))
    if len(names) <= MAX_CALLS:
        by_name = {
            name: [f"{call.direction} {call.verdict}" for call in calls if call.name == name]
            for name in names
        }
        return "; ".join(f"{name}'s call: {', '.join(by_name[name])}" for name in names)
    worst = list(verdict_by_name(calls).values())
    counts = [f"{worst.count(verdict)} {verdict}" for verdict in RANKS if verdict in worst]
    return f"{len(names)} calls: {', '.join(counts)}"


def headlines(calls: Sequence[Call]) -> Iterator[str]:
    """Yield one sentence per direction of a call; if there are many calls, a summary and the worst
    direction.
    """
    if len({call.name for call in calls}) <= MAX_CALLS:
        yield from map(sentence, calls)
        return
    yield f"{verdicts(calls)}; the worst direction of a call:"
    yield sentence(max(calls, key=lambda call: call.badness))


def sentence(call: Call) -> str:
    """Return a sentence about one direction of a call: verdict, delay, loss, and the queue with the
    longest wait.
    """
    parts = []
    if (delay_p99 := call.delay_p99_s) is not None:
        within = f"99 % of packets within {_with_interval(delay_p99, 1e3)} ms"
        parts.append(within + _limit(delay_p99, DELAY_P99_S, 1e3))
    parts.append(f"{_with_interval(call.loss, 100)} % lost{_limit(call.loss, LOSS, 100)}")
    if call.waits_at:
        parts.append(f"waits in {call.waits_at}")
    return f"{call.name}'s call {call.direction}: {call.verdict}: {', '.join(parts)}"


def _with_interval(result: Estimate, scale: float) -> str:
    half = result.ci95
    return estimate(result.mean * scale, None if half is None else half * scale)


def _limit(result: Estimate, limit: float, scale: float) -> str:
    """Return the limit in parentheses if the upper end of the interval exceeds the limit; else
    empty.
    """
    return f" (limit {limit * scale:g})" if result.mean + (result.ci95 or 0.0) > limit else ""


def _finite(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items that are web connections or finite flows."""
    for item in items:
        if any(column.says_something(item) for column in OF_TRANSFERS):
            yield item


def _delay_s(item: Item) -> float:
    """Return the largest of an item's delays in `LATEST`; 0 if the item has none. [s]"""
    known = (Estimate.read(item.get(quantity)) for quantity in LATEST)
    return max((delay.mean for delay in known if delay is not None), default=0.0)
