"""Table of delays of a sweep: one row per grid point, and columns for each call or flow."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lasthop.answers.calls import GOOD
from lasthop.display.columns import Column
from lasthop.display.delays import (
    LOST,
    OF_CHUNKS,
    OF_DATAGRAMS,
    OF_PINGS,
    OF_REPORTS,
    OF_STREAMS,
    OF_VIDEOS,
    Delays,
    completion_columns,
)

if TYPE_CHECKING:
    from lasthop.sweep import Point

__all__ = ["delay_table"]

MAX_ITEMS = 6
"""Maximum number of items with columns of their own: directions of calls, or flows of one kind."""

DELAY = OF_DATAGRAMS[0]
"""Table column for the delay of datagrams."""

Cells = Mapping[str, str]
"""Cells of a table row, by the header of the column."""


def delay_table(points: Sequence["Point"]) -> tuple[list[str], list[list[str]]]:
    """Return headers and rows of the delay table; no headers if no traffic is sensitive to delay.

    Columns without values are omitted. If there are more than `MAX_ITEMS` calls, the columns show
    the number of good calls and the delay of the worst call.
    """
    every = [Delays.of_summary(point.summary, point.scenario) for point in points]
    is_folded = max((len(delays.calls) for delays in every), default=0) > MAX_ITEMS
    rows = [dict(_cells(delays, is_folded=is_folded)) for delays in every]
    heads = list(dict.fromkeys(head for row in rows for head in row))
    heads = [head for head in heads if any(row.get(head, "-") not in ("-", "0") for row in rows)]
    shown = [
        [*map(str, point.settings.values()), *(row.get(head, "-") for head in heads)]
        for point, row in zip(points, rows, strict=True)
    ]
    return heads, shown


def _cells(delays: Delays, *, is_folded: bool) -> Iterator[tuple[str, str]]:
    calls = list(delays.calls)
    if is_folded and calls:
        verdicts = list(delays.verdict_by_name().values())
        yield "good\ncalls\n[-]", f"{verdicts.count(GOOD)} of {len(verdicts)}"
        worst = max(calls, key=lambda call: call.badness)
        for column in (DELAY, LOST):
            yield f"worst\ncall\n{column.header}", column.cell(delays.call_item(worst))
    else:
        for call in calls:
            for column in (DELAY, LOST):
                head = f"{call.name}\ncall {call.direction}\n{column.header}"
                yield head, column.cell(delays.call_item(call))
        for name, verdict in delays.verdict_by_name().items():
            yield f"{name}\ncall\nverdict", verdict
    for items, columns in (
        (delays.datagrams, (DELAY, LOST)),
        (delays.reports, (OF_REPORTS[0], OF_REPORTS[2])),
        (delays.chunks, OF_CHUNKS[:2]),
        (delays.pings, (OF_PINGS[0], OF_PINGS[3], LOST)),
        (delays.streams, OF_STREAMS[:2]),
        (delays.videos, OF_VIDEOS[:2]),
        (delays.transfers, completion_columns(delays.transfers)),
    ):
        for item in items[:MAX_ITEMS]:
            yield from _of_item(item, columns)


def _of_item(item: Mapping[str, Any], columns: Sequence[Column]) -> Iterator[tuple[str, str]]:
    for column in columns:
        yield f"{item['name']}\n{column.header}", column.cell(item)
