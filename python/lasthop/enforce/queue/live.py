"""Status for people: a line on the queue, a table of classes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Group


def tables(status: Mapping[str, Any]) -> "Group":
    """What is known of a queue that is up."""
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

    queue = Table(box=None, pad_edge=False)
    titles = (
        *("interface", "queue", "rate [Mbit/s]", "sent [Mbit/s]", "packets", "limit"),
        *("delay [ms]", "dropped", "sent packets"),
    )
    for number, title in enumerate(titles):
        queue.add_column(Text(title), justify="left" if number < 2 else "right", no_wrap=True)
    queue.add_row(
        status["interface"],
        status["queue"],
        scaled(status["rate_bps"], 1e6, 3),
        scaled(status.get("sent_bps"), 1e6, 3),
        scaled(status.get("backlog_packets"), 1, 0),
        str(status["limit_packets"]),
        scaled(status.get("delay_s"), 1e-3, 1),
        scaled(status.get("dropped_packets"), 1, 0),
        scaled(status.get("sent_packets"), 1, 0),
    )
    parts: list[RenderableType] = [queue]
    if status["classes"]:
        parts += ["", classes(status)]
    parts += [Text(f"warning: {warning}") for warning in status["warnings"]]
    parts += [Text(f"fault: {fault}") for fault in status["faults"]]
    return Group(*parts)


def classes(status: Mapping[str, Any]) -> Any:
    """The classes that share a queue."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    titles = ("class", "target share", "packets", "blocking", "rate [Mbit/s]", "dropped", "offered")
    for number, title in enumerate(titles):
        table.add_column(Text(title), justify="left" if number == 0 else "right", no_wrap=True)
    for row in status["classes"]:
        table.add_row(
            Text(row["name"] or "(of no class)"),
            scaled(row["target_share"], 1, 3),
            str(row["packets"]),
            scaled(row["blocking_probability"], 1, 4),
            scaled(row["rate_bps"], 1e6, 3),
            str(row["dropped_packets"]),
            str(row["offered_packets"]),
        )
    return table


def scaled(value: float | None, unit: float, digits: int) -> str:
    """A number in another unit; a dash for what is not known."""
    return "-" if value is None else f"{value / unit:.{digits}f}"
