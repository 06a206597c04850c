"""Columns of the tables of a result: quantity, title, unit and scale."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lasthop.answers.estimates import Estimate, estimate_text
from lasthop.answers.quantities import registry
from lasthop.scenario.queues import Vbs
from lasthop.scenario.typed import CellScenario, Scenario

__all__ = [
    "COLUMNS",
    "OF_SHARES",
    "TITLES",
    "Column",
    "called",
    "column_of",
    "of_shares",
    "printed",
    "shown_columns",
    "shown_with_nodes",
]

MAX_FLOWS = 12
"""Maximum number of flows with a row of their own if the result also has classes of flows."""


@dataclass(frozen=True)
class Column:
    """Table column for a quantity: title, unit, and factor from the unit in the result to this
    unit.
    """

    quantity: str
    title: str
    unit: str = ""
    scale: float = 1.0
    zero_says: bool = False
    """Whether the column is shown even if all its values are zero."""

    @property
    def header(self) -> str:
        """Return the header: the title with one word per line, then the unit.

        A number and its percent sign stay on the same line."""
        return f"{re.sub(r' (?!%)', chr(10), self.title)}\n[{self.unit or '-'}]"

    def cell(self, item: Mapping[str, Any]) -> str:
        """Return the quantity of an item as text, with its interval."""
        return estimate_text(Estimate.read(item.get(self.quantity)), self.scale)

    def says_something(self, item: Mapping[str, Any]) -> bool:
        """Return whether the item has a value of the quantity. Zero counts as a value only if
        `zero_says`.
        """
        return self.cell(item) not in (("-",) if self.zero_says else ("-", "0"))


GOODPUT = Column("goodput_bps", "goodput", "Mb/s", 1e-6, zero_says=True)
QUEUE = Column("queue_packets", "queue", "packets")
COLLISIONS = Column("collision_rate", "collisions", "%", 100)
DISCARDS = Column("discard_probability", "discards", "%", 100)
MPDUS = Column("mpdus_per_ppdu", "MPDUs per PPDU", "-")
REORDERING = Column("reordering_s", "reordering", "ms", 1e3)

DELAY = Column("one_way_delay_s", "mean delay", "ms", 1e3)
DELAY_P99 = Column("one_way_delay_p99_s", "99 % within", "ms", 1e3)
COMPLETION = Column("completion_s", "mean completion", "s")
LOSS = Column("loss_probability", "loss", "%", 100)

MEDIAN = "rtt_p50_s"
"""Quantity that only pings have."""

RTTS = (
    Column("rtt_s", "RTT", "ms", 1e3),
    Column(MEDIAN, "median", "ms", 1e3),
    Column("rtt_p95_s", "95th percentile", "ms", 1e3),
    Column("rtt_p99_s", "99th percentile", "ms", 1e3),
)

COLUMNS: dict[str, tuple[Column, ...]] = {
    "stations": (
        GOODPUT,
        Column("goodput_share", "share", "%", 100),
        Column("fairness_level", "fairness level", "-"),
        Column("longest_starved_s", "longest starved", "s", zero_says=True),
        QUEUE,
        COLLISIONS,
        DISCARDS,
        MPDUS,
        REORDERING,
        Column("airtime_fraction", "air time", "%", 100),
        replace(MPDUS, quantity="downlink_mpdus_per_ppdu", title="downlink MPDUs per PPDU"),
        replace(REORDERING, quantity="downlink_reordering_s", title="downlink reordering"),
    ),
    "aps": (QUEUE, COLLISIONS, DISCARDS, MPDUS, REORDERING),
    "flows": (
        GOODPUT,
        *RTTS,
        DELAY,
        DELAY_P99,
        Column("cwnd_packets", "cwnd", "packets"),
        LOSS,
        Column("connections", "connections", "-"),
        COMPLETION,
    ),
    "reports": (
        Column("report_delivery", "in time", "%", 100),
        Column("report_delay_s", "mean delay", "ms", 1e3),
        Column("report_delay_p95_s", "95 % within", "ms", 1e3),
        Column("reports", "reports", "-"),
    ),
    "chunks": (
        Column("chunk_completion_s", "mean completion", "s"),
        Column("chunk_completion_p95_s", "95 % within", "s"),
        Column("late_chunks", "late", "chunks", zero_says=True),
        Column("chunks", "chunks", "-"),
    ),
    "streams": (
        Column("video_bitrate_bps", "mean bitrate", "Mb/s", 1e-6, zero_says=True),
        Column("stalled_fraction", "time stalled", "%", 100, zero_says=True),
        Column("stalls", "stalls", "-", zero_says=True),
        Column("switches", "bitrate switches", "-", zero_says=True),
        Column("startup_s", "startup delay", "s"),
        Column("chunk_completion_s", "mean completion", "s"),
        Column("chunk_completion_p95_s", "95 % within", "s"),
    ),
    "videos": (
        Column("sent_rate_bps", "rate sent", "Mb/s", 1e-6, zero_says=True),
        Column("frozen_fraction", "time frozen", "%", 100, zero_says=True),
        Column("freezes", "freezes", "-", zero_says=True),
        Column("qoo_score", "quality", "%", 100, zero_says=True),
    ),
    "links": (
        Column("utilisation", "utilisation", "%", 100),
        Column("utilisation_min", "least utilisation", "%", 100),
        Column("capacity_bps", "mean rate", "Mb/s", 1e-6),
        Column("ping_rtt_s", "ping RTT", "ms", 1e3),
        Column("ping_rtt_p95_s", "95th percentile", "ms", 1e3),
        Column("airtime_fraction", "air time", "%", 100),
        Column("dummy_fraction", "dummy packets", "%", 100),
        Column("aggressiveness", "r", "-"),
        Column("connections", "connections", "-"),
        COLLISIONS,
        DISCARDS,
    ),
    "queues": (
        Column("occupancy_packets", "mean queue", "packets"),
        Column("occupancy_sd_packets", "standard deviation", "packets"),
        Column("occupancy_max_packets", "longest queue", "packets"),
        Column("sojourn_s", "sojourn time", "ms", 1e3),
        Column("sojourn_p99_s", "99th percentile", "ms", 1e3),
        Column("drop_probability", "drops", "%", 100),
        Column("mark_probability", "marks", "%", 100),
    ),
    "tins": (
        Column("sojourn_s", "sojourn time", "ms", 1e3),
        Column("occupancy_packets", "mean queue", "packets"),
        Column("drop_probability", "drops", "%", 100),
        Column("mark_probability", "marks", "%", 100),
        Column("acks_filtered", "ACKs filtered", "packets"),
        Column("sparse_flows", "sparse", "flows"),
        Column("bulk_flows", "bulk", "flows"),
    ),
    "classes": (
        GOODPUT,
        Column("goodput_share", "share", "%", 100),
        Column("queue_share", "queue share", "%", 100),
        Column("target_share", "target", "%", 100),
        Column("drop_probability", "drops", "%", 100),
        Column("jain", "Jain's index"),
        Column("synchronisation", "window correlation"),
        Column("starved_flows", "starved", "flows"),
        *RTTS,
        DELAY,
        DELAY_P99,
        LOSS,
        Column("connections_finished", "finished", "connections"),
        Column("connections_refused", "refused", "connections"),
        COMPLETION,
        Column("completion_p95_s", "95 % within", "s"),
        Column("transfer_rate_bps", "transfer rate", "Mb/s", 1e-6),
        Column("unfinished", "unfinished", "flows"),
    ),
    "cells": (
        GOODPUT,
        Column("jain", "Jain's index"),
        Column("jain_p05", "5th percentile"),
        Column("updown_ratio", "up/down"),
        Column("busy_fraction", "busy", "%", 100),
    ),
}
"""Columns of the table of each list. The result may contain more quantities."""

TITLES = {
    "stations": "station",
    "aps": "AP",
    "flows": "flow",
    "reports": "reports of",
    "chunks": "chunks of",
    "links": "link",
    "queues": "queue",
    "tins": "tin",
    "classes": "class",
    "cells": "cell",
}


OF_SHARES = {"goodput_share": "share of goodput", "queue_share": "share of queue"}
"""Titles of columns if classes share the access point's queue, by quantity."""


def shown_columns(items: Iterable[Mapping[str, Any]], list_name: str) -> list[Column]:
    """Return the columns of a list for which at least one item has a value."""
    known = list(items)
    return [
        column
        for column in COLUMNS[list_name]
        if any(column.says_something(item) for item in known)
    ]


OF_FLOWS = ("reports", "chunks", "streams", "videos")
"""Keys of `COLUMNS` with quantities of flows."""

UNIT_SUFFIX = re.compile("_(s|bps|packets)$")
"""End of the name of a quantity that repeats its unit."""


def column_of(list_name: str, quantity: str) -> Column:
    """Return the table column of a quantity; by default the title is the name of the quantity,
    without its unit. Reports, chunks and streams are quantities of flows with columns of their own.
    """
    lists = (list_name, *OF_FLOWS, "classes") if list_name in ("flows", "classes") else (list_name,)
    columns = (each for name in lists for each in COLUMNS.get(name, ()))
    shown = (each for each in columns if each.quantity == quantity)
    unit = registry()[quantity].unit.removeprefix("-")
    title = UNIT_SUFFIX.sub("", quantity).replace("_", " ")
    return next(shown, Column(quantity, title, unit))


def called(item: Mapping[str, Any]) -> str:
    """Return the name of an item; if the item is a program's connection, add its kind of
    traffic.
    """
    return f"{item['name']}: {item['traffic']}" if "traffic" in item else str(item["name"])


def of_shares(column: Column, scenario: Scenario) -> Column:
    """If classes share the access point's queue, return the column with a title for these classes.
    Otherwise return the column unchanged.
    """
    queue = scenario.cell.ap.queue if isinstance(scenario, CellScenario) else None
    if not isinstance(queue, Vbs):
        return column
    titles = {**OF_SHARES, "target_share": f"target of {queue.share_of}"}
    return replace(column, title=titles.get(column.quantity, column.title))


def printed(summary: Mapping[str, Any], list_name: str) -> list[Mapping[str, Any]]:
    """Return the items of a list that are printed, each with the quantities that are printed."""
    items = list(summary.get(list_name, ()))
    if list_name == "flows" and "classes" in summary and len(items) > MAX_FLOWS:
        return []
    # Queues of stations and access points are columns of the node tables, not rows.
    if list_name == "queues" and "stations" in summary:
        return [item for item in items if "occupancy_max_packets" in item]
    if list_name == "classes":
        return [without_rates(item) for item in items]
    if list_name == "flows":  # Pings have a table of their own.
        return [item for item in items if MEDIAN not in item]
    return items


def shown_with_nodes(summary: Mapping[str, Any], known: Scenario | None) -> set[tuple[str, str]]:
    """Return the items, by list and name, whose values repeat those of a station or access point.

    Parameters
    ----------
    summary : mapping
        Summary of a result.
    known : Scenario or None
        Scenario of the result. If the scenario is None, a class with the name of a station is
        assumed to have the flows of this station.
    """
    if "stations" not in summary:
        return set()
    nodes = (each for each in summary.get("queues", ()) if "occupancy_max_packets" not in each)
    hidden = {("queues", str(each["name"])) for each in nodes}
    if known is None:
        stations = {str(each["name"]) for each in summary["stations"]}
        groups = {name.rpartition("-")[0] for name in stations}
        return hidden | {("classes", name) for name in stations | groups}
    classes = known.cell.vbs_classes if isinstance(known, CellScenario) else ()
    sharing = {each.name for each in classes}
    of_stations = {flow.class_name for flow in known.flows if flow.station}
    return hidden | {("classes", name) for name in of_stations - sharing}


def without_rates(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a class of finite flows without the quantities in `RATES`; return other classes
    unchanged.
    """
    if Estimate.read(item.get("transfer_rate_bps")) is None:
        return item
    return {key: value for key, value in item.items() if key not in RATES}


RATES = ("goodput_bps", "goodput_share", "jain", "starved_flows")
"""Quantities that are not shown for classes of finite flows."""
