"""Status for people: tables, and a view that follows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["following", "tables"]

MOST_ROWS = 40
"""Stations of the live view: those with the largest rates."""


def tables(status: dict[str, Any], most: int | None = None) -> "Group":
    """Access points and stations as tables; with `most`, no more stations than that."""
    from rich.console import Group, RenderableType
    from rich.table import Table

    aps = Table("access point", "fairness", box=None, pad_edge=False)
    for title in ("C [Mbit/s]", "RTT [ms]", "base RTT [ms]", "answers"):
        aps.add_column(title, justify="right")
    for ap in status["aps"]:
        answers = f"{ap['answers']} of {ap['pings']}" if "pings" in ap else "-"
        aps.add_row(
            ap["name"],
            ap["fairness"],
            scaled(ap["rate_bps"], 1e6, 3),
            scaled(ap.get("rtt_s"), 1e-3, 1),
            scaled(ap.get("base_rtt_s"), 1e-3, 1),
            answers,
        )
    stations = Table("station", "at", "address", box=None, pad_edge=False)
    for title in ("rate [Mbit/s]", "backlog", "drops", "UDP up [Mbit/s]", "pinged"):
        stations.add_column(title, justify="right")
    rows = sorted(status["stations"], key=lambda row: -row.get("rate_bps", 0))
    shown = rows if most is None else rows[:most]
    for row in shown:
        stations.add_row(
            row["name"],
            row["ap"],
            row["addresses"][0] + (" ..." if len(row["addresses"]) > 1 else ""),
            scaled(row.get("rate_bps"), 1e6, 3),
            scaled(row.get("backlog_packets"), 1, 0),
            scaled(row.get("dropped_packets"), 1, 0),
            scaled(row["udp_uplink_bps"], 1e6, 3),
            "yes" if row["pinged"] else "no",
        )
    parts: list[RenderableType] = [aps, "", stations]
    if len(rows) > len(shown):
        parts.append(f"and {len(rows) - len(shown)} more stations")
    parts += [f"fault: {fault}" for fault in status["faults"]]
    return Group(*parts)


def scaled(value: float | None, unit: float, digits: int) -> str:
    """A number in another unit; a dash for what is not known."""
    return "-" if value is None else f"{value / unit:.{digits}f}"


@contextmanager
def following() -> Iterator[Callable[[dict[str, Any]], None]]:
    """A view on the terminal that each status replaces."""
    from rich.live import Live

    with Live(screen=False, auto_refresh=False, transient=True) as live:
        yield lambda status: live.update(tables(status, MOST_ROWS), refresh=True)
