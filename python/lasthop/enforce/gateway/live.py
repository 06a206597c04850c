"""Status for people: tables, and a view that follows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

MOST_ROWS = 40
"""Stations of the live view: those with the largest rates."""
GAP = 2
"""Between two columns. [characters]"""
LEAST_NAME = 8
"""So much of a name is always shown. [characters]"""


def tables(status: dict[str, Any], most: int | None = None, columns: int | None = None) -> "Group":
    """Access points and stations as tables.

    `most` limits the stations, `columns` is what the terminal has; what does not fit is left out.
    """
    from rich.console import Group, RenderableType
    from rich.text import Text

    aps = [
        [
            ap["name"],
            ap["fairness"],
            scaled(ap["rate_bps"], 1e6, 3),
            scaled(ap.get("rtt_s"), 1e-3, 1),
            scaled(ap.get("base_rtt_s"), 1e-3, 1),
            f"{ap['answers']} of {ap['pings']}" if "pings" in ap else "-",
        ]
        for ap in status["aps"]
    ]
    titles = ["access point", "fairness", "C [Mbit/s]", "RTT [ms]", "base RTT [ms]", "answers"]
    of_aps = fitted(titles, aps, columns, texts=2, drop=["fairness", "base RTT [ms]"])
    rows = sorted(status["stations"], key=lambda row: -row.get("rate_bps", 0))
    shown = rows if most is None else rows[:most]
    titles = ["station", "at", "address", "rate [Mbit/s]", "backlog", "drops", "UDP up [Mbit/s]"]
    drop = ["at"] if len(aps) == 1 else []
    drop += ["address", "drops", "at", "backlog", "UDP up [Mbit/s]"]
    titles.append("pinged")
    cells = [station(row) for row in shown]
    if any("phy_rate_source" in row for row in rows):
        titles.append("PHY rate [Mbit/s]")
        cells = [[*each, phy_rate(row)] for each, row in zip(cells, shown, strict=True)]
    of_stations = fitted(titles, cells, columns, texts=3, drop=drop)
    parts: list[RenderableType] = [of_aps]
    if (leaves := status["leaves"]) is not None:
        parts.append(Text(f"leaves: {leaves['discipline']}, {leaves['why']}"))
    parts += ["", of_stations]
    if len(rows) > len(shown):
        parts.append(f"and {len(rows) - len(shown)} more stations")
    if status.get("groups"):
        parts += ["", of_groups(status["groups"], columns)]
    if status.get("filters"):
        parts += ["", of_filters(status["filters"], columns)]
    for port in status.get("ports", ()):
        waiting = f", {port['waiting']} without a leaf" if port["waiting"] else ""
        macs = f"{port['macs']} MAC address{'es' * (port['macs'] != 1)}"
        parts.append(Text(f"{port['name']}: {macs}{waiting}"))
    parts += [Text(f"warning: {warning}") for warning in status["warnings"]]
    parts += [Text(f"fault: {fault}") for fault in status["faults"]]
    return Group(*parts)


def of_groups(rows: Sequence[dict[str, Any]], columns: int | None) -> "Table":
    """Return the groups at each access point, as a table."""
    cells = [
        [
            row["name"],
            row["ap"],
            f"{row['share']:g}",
            scaled(row["max_bps"], 1e6, 3),
            str(row["stations"]),
            scaled(row.get("rate_bps"), 1e6, 3),
            scaled(row.get("backlog_packets"), 1, 0),
        ]
        for row in rows
    ]
    titles = ["group", "at", "share", "max [Mbit/s]", "stations", "rate [Mbit/s]", "backlog"]
    return fitted(titles, cells, columns, texts=2, drop=["at", "backlog"])


def of_filters(rows: Sequence[dict[str, Any]], columns: int | None) -> "Table":
    """Return the bytes at the filters, as a table."""
    cells = []
    for row in rows:
        kinds = {kind: count for kind, count in row["exempt_bytes"].items() if count}
        largest = sorted(kinds, key=lambda kind: -kinds[kind])
        by_kind = ", ".join(f"{kind.replace('_', ' ')} {kinds[kind] / 1e6:.3f}" for kind in largest)
        counts = [row[f"{what}_bytes"] for what in ("redirected", "unclassified", "unmatched")]
        counts.insert(2, sum(kinds.values()))
        direction = row["direction"].replace("_", " ")
        cells.append([row["ap"], direction, *(f"{n / 1e6:.3f}" for n in counts), by_kind])
    titles = ["filters at", "direction", "to leaves [MB]", "unclassified [MB]", "exempt [MB]"]
    titles += ["unmatched [MB]", "exempt by kind [MB]"]
    return fitted(titles, cells, columns, texts=2, drop=["exempt by kind [MB]"])


def station(row: dict[str, Any]) -> list[str]:
    """A station's row."""
    if "silent" not in row:
        pinged = "-"  # the rate is fixed
    elif not row["pinged"]:
        pinged = "no"
    elif row["late_s"] is not None:
        pinged = f"{row['late_s'] * 1e3:.0f} ms late"
    elif row["silent"]:
        pinged = "by flows" if row["heard"] == "flows" else "no answer"
    else:
        pinged = "yes"
    return [
        row["name"],
        row["ap"],
        (row["addresses"] or ["-"])[0] + (" ..." if len(row["addresses"]) > 1 else ""),
        scaled(row.get("rate_bps"), 1e6, 3),
        scaled(row.get("backlog_packets"), 1, 0),
        scaled(row.get("dropped_packets"), 1, 0),
        scaled(row["udp_uplink_bps"], 1e6, 3),
        pinged,
    ]


def phy_rate(row: dict[str, Any]) -> str:
    """Return the data rate by which a station is weighed, with its source."""
    if "phy_rate_source" not in row:
        return "-"
    source = row["phy_rate_source"]
    return source if row["phy_rate_bps"] is None else f"{row['phy_rate_bps'] / 1e6:g} {source}"


def fitted(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    columns: int | None,
    *,
    texts: int,
    drop: Sequence[str],
) -> "Table":
    """A table that fits, its first `texts` columns to the left.

    Where it is too wide its titles take two lines, then it does without the columns `drop` in turn,
    then names lose their front: MAC addresses tell one from the other by their end.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    remaining, shown = list(range(len(titles))), list(titles)

    def widths() -> list[int]:
        title = {k: max(map(cell_len, shown[k].split("\n"))) for k in remaining}
        return [max([title[k], *(cell_len(row[k]) for row in rows)]) for k in remaining]

    def spare() -> int:
        return 0 if columns is None else columns - sum(widths()) - GAP * (len(remaining) - 1)

    if spare() < 0:
        shown = [title.replace(" [", "\n[") for title in titles]
    for title in drop:
        if spare() < 0 and titles.index(title) in remaining:
            remaining.remove(titles.index(title))
    longest = max(widths()[0] + min(spare(), 0), LEAST_NAME)
    table = Table(box=None, pad_edge=False)
    for k in remaining:
        table.add_column(Text(shown[k]), justify="left" if k < texts else "right", no_wrap=True)
    for row in rows:
        name = row[0] if cell_len(row[0]) <= longest else "…" + row[0][1 - longest :]
        table.add_row(*(Text(name if k == 0 else row[k]) for k in remaining))
    return table


def scaled(value: float | None, unit: float, digits: int) -> str:
    """A number in another unit; a dash for what is not known."""
    return "-" if value is None else f"{value / unit:.{digits}f}"
