"""Status of a shaped queue for people: a line about the queue, and a table of classes."""

from typing import TYPE_CHECKING

from lasthop.daemon.tables import Column, Row, fitted, quantity, text, with_messages

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

QUEUE = (
    text("interface", "interface"),
    text("queue", "queue"),
    quantity("rate [Mbit/s]", "rate_bps", 1e6, 3),
    quantity("sent [Mbit/s]", "sent_bps", 1e6, 3),
    quantity("packets", "backlog_packets"),
    quantity("limit", "limit_packets"),
    quantity("delay [ms]", "delay_s", 1e-3, 1),
    quantity("dropped", "dropped_packets"),
    quantity("sent packets", "sent_packets"),
)
CLASSES = (
    Column("class", lambda row: row["name"] or "(unclassified)", True),
    quantity("target share", "target_share", 1, 3),
    quantity("packets", "packets"),
    quantity("blocking", "blocking_probability", 1, 4),
    quantity("rate [Mbit/s]", "rate_bps", 1e6, 3),
    quantity("dropped", "dropped_packets"),
    quantity("offered", "offered_packets"),
)
TINS = (
    text("tin", "name"),
    quantity("threshold [Mbit/s]", "threshold_bps", 1e6, 3),
    quantity("target [ms]", "target_s", 1e-3, 1),
    quantity("packets", "backlog_packets"),
    quantity("mean delay [ms]", "mean_delay_s", 1e-3, 1),
    quantity("peak [ms]", "peak_delay_s", 1e-3, 1),
    quantity("flows", "bulk_flows"),
    quantity("sparse", "sparse_flows"),
    quantity("dropped", "dropped_packets"),
    quantity("ACKs dropped", "acks_dropped"),
    quantity("marked", "marked_packets"),
    quantity("arrived", "arrived_packets"),
)


def tables(status: Row) -> "Group":
    """Return tables with the status of a queue."""
    parts: list[RenderableType] = [fitted(QUEUE, [status])]
    if classes := status["classes"]:
        parts += ["", fitted(CLASSES, classes)]
    if tins := status.get("tins"):
        parts += ["", fitted(TINS, tins)]
    return with_messages(parts, status["warnings"], status["faults"])
