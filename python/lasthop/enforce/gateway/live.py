"""Status of the gateway for people: tables, and a live view."""

from typing import TYPE_CHECKING

from lasthop.daemon.tables import Column, Row, fitted, quantity, text, with_messages
from lasthop.enforce.gateway.status import Status
from lasthop.scenario.from_json import read_as

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

MAX_ROWS = 40
"""Largest number of stations in the live view, which shows the stations with the largest rates."""


def address(row: Row) -> str:
    """Return the first address of a station, and dots if it has other addresses."""
    first, *others = row["addresses"] or ["-"]
    return f"{first}{' ...' if others else ''}"


def pinged(row: Row) -> str:
    """Return the result of pinging a station as text. "By flows" means that TCP segments are timed
    instead."""
    match row:
        case {"silent": silent, "pinged": True, "late_s": late_s, "heard": heard}:
            if late_s is not None:
                return f"{late_s * 1e3:.0f} ms late"
            if silent:
                return "by flows" if heard == "flows" else "no answer"
            return "yes"
        case {"silent": _}:
            return "no"
    return "-"  # the rate C is fixed


def answers(row: Row) -> str:
    """Return the number of answered pings and the number of sent pings of an access point, as
    text."""
    match row:
        case {"answers": answered, "pings": sent}:
            return f"{answered} of {sent}"
    return "-"


def phy_rate(row: Row) -> str:
    """Return the data rate that determines a station's weight, with its source."""
    match row:
        case {"phy_rate_source": source, "phy_rate_bps": None}:
            return str(source)
        case {"phy_rate_source": source, "phy_rate_bps": rate_bps}:
            return f"{rate_bps / 1e6:g} {source}"
    return "-"


def exempt_bytes(row: Row) -> dict[str, int]:
    """Return the number of exempt bytes of each kind of packet at a filter, in descending order.
    [bytes]"""
    counts = {kind: count for kind, count in row["exempt_bytes"].items() if count}
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def by_kind(row: Row) -> str:
    """Return the number of exempt bytes of each kind of packet at a filter, as text. [Mbytes]"""
    kinds = exempt_bytes(row).items()
    return ", ".join(f"{kind.replace('_', ' ')} {count / 1e6:.3f}" for kind, count in kinds)


APS = (
    text("access point", "name"),
    text("fairness", "fairness"),
    quantity("C [Mbit/s]", "rate_bps", 1e6, 3),
    quantity("RTT [ms]", "rtt_s", 1e-3, 1),
    quantity("base RTT [ms]", "base_rtt_s", 1e-3, 1),
    Column("answers", answers),
)
STATIONS = (
    text("station", "name"),
    text("at", "ap"),
    Column("address", address, True),
    quantity("rate [Mbit/s]", "rate_bps", 1e6, 3),
    quantity("backlog", "backlog_packets"),
    quantity("drops", "dropped_packets"),
    quantity("UDP up [Mbit/s]", "udp_uplink_bps", 1e6, 3),
    Column("pinged", pinged),
)
WEIGHED = (*STATIONS, Column("PHY rate [Mbit/s]", phy_rate))
GROUPS = (
    text("group", "name"),
    text("at", "ap"),
    Column("share", lambda row: f"{row['share']:g}"),
    quantity("max [Mbit/s]", "max_bps", 1e6, 3),
    quantity("stations", "stations"),
    quantity("rate [Mbit/s]", "rate_bps", 1e6, 3),
    quantity("backlog", "backlog_packets"),
)
FILTERS = (
    text("filters at", "ap"),
    Column("direction", lambda row: row["direction"].replace("_", " "), True),
    quantity("to leaves [MB]", "redirected_bytes", 1e6, 3),
    quantity("unclassified [MB]", "unclassified_bytes", 1e6, 3),
    Column("exempt [MB]", lambda row: f"{sum(exempt_bytes(row).values()) / 1e6:.3f}"),
    quantity("unmatched [MB]", "unmatched_bytes", 1e6, 3),
    Column("exempt by kind [MB]", by_kind),
)


def tables(status: Row, most: int | None = None, width: int | None = None) -> "Group":
    """Return tables with the status of a gateway.

    `most` limits the number of stations. `width` is the width of the terminal in characters.
    """
    from rich.text import Text

    known = read_as(Status, status)
    rows = sorted(known.stations, key=lambda row: -row.get("rate_bps", 0))
    shown = rows if most is None else rows[:most]
    drop = ["at"] * (len(known.aps) == 1) + ["address", "drops", "at", "backlog", "UDP up [Mbit/s]"]
    columns = WEIGHED if any("phy_rate_source" in row for row in rows) else STATIONS
    parts: list[RenderableType] = [fitted(APS, known.aps, width, ["fairness", "base RTT [ms]"])]
    match known.leaves:
        case {"discipline": discipline, "why": why}:
            parts.append(Text(f"leaf queues: {discipline}, {why}"))
    parts += ["", fitted(columns, shown, width, drop)]
    if len(rows) > len(shown):
        parts.append(f"and {len(rows) - len(shown)} more stations")
    if known.groups:
        parts += ["", fitted(GROUPS, known.groups, width, ["at", "backlog"])]
    if known.filters:
        parts += ["", fitted(FILTERS, known.filters, width, ["exempt by kind [MB]"])]
    parts += [Text(of_port(port)) for port in known.ports]
    return with_messages(parts, known.warnings, known.faults)


def of_port(row: Row) -> str:
    """Return a line about the MAC addresses at a port."""
    name, macs, waiting = (row[key] for key in ("name", "macs", "waiting"))
    without_leaf = f", {waiting} without a leaf" if waiting else ""
    return f"{name}: {macs} MAC address{'es' * (macs != 1)}{without_leaf}"
