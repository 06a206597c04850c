"""Text of a scenario from a `Network`: TOML with a comment on the source of each value."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from lasthop.importing import phy
from lasthop.importing.observed import Access, Connections, Network, Station, Stream
from lasthop.importing.ppdu import GENERATIONS

__all__ = ["as_toml", "names"]

WIDTH = 98
"""Maximum length of a line with comments. [characters]"""
AT = 34
"""Column of a value's comment, if the value is short enough."""

MIN_S, MAX_S = 30.0, 300.0
"""Shortest and longest simulated duration in an imported scenario. [s]"""
USUAL_S = 60.0
"""Simulated duration if the imported file contains no times. [s]"""
WARMUP_S, WARMUP_TRIPS = 10.0, 15.0
"""Shortest warm-up: as a time, and as a multiple of the longest round-trip time. [s], [-]"""
AMPLE_QUEUE = 1000
"""Queue limit of a cell that aggregates, if the file does not contain the limit. [packets]"""
ROUTER, INTERNET = "router", "internet"
"""Nodes at the ends of an imported Internet line."""
MAX_ALONE = 50
"""Maximum number of equal stations with separate tables. If there are more, they share one table.
"""


def names(network: Network) -> list[str]:
    """Return names for the stations, in order: ``sta-1``, ``sta-2`` and so on."""
    return [f"sta-{number}" for number in range(1, len(network.stations) + 1)]


def as_toml(network: Network, *, addresses: bool = False) -> str:
    """Return the text of the scenario.

    Parameters
    ----------
    network : Network
        Imported network.
    addresses : bool
        Whether comments contain the addresses of stations.
    """
    lines = [
        *commented(f"Imported by lasthop from {network.source}."),
        *commented(
            "Each comment gives the source of a value. Stations are numbered in the order in "
            "which they appear; names of networks, keys and addresses are left out."
            if not addresses
            else "Each comment gives the source of a value."
        ),
        "#",
    ]
    for note in network.notes:
        lines += commented(f"Note: {note.text}.")
    for fact in network.facts:
        lines += commented(f"Assumed: {fact.source[0].lower()}{fact.source[1:]}")
    is_fifo = _is_fifo(network)
    aggregates = network.phy in GENERATIONS  # Models support only UDP in a cell that aggregates.
    models = is_fifo and not aggregates
    verbs = "check, predict, simulate or compare" if models else "check or simulate"
    limit = 100 if aggregates else 30
    try_out = f"cell.ap_queue={limit}" if is_fifo else f"'cell.ap_queue={{ limit = {limit} }}'"
    lines += [
        f"# Next: lasthop {verbs} with this file; with --set you try",
        f"# what if: lasthop simulate FILE --set {try_out}",
        "",
        f"name = {text(title(network))}",
        *_run(network),
        "",
        "[cell]",
        entry("phy", text(network.phy), network.phy_note),
        *(entry(key, value, message) for key, (value, message) in network.cell.items()),
        *(
            [entry("node", text(ROUTER), "the router, at the Internet line")]
            if network.line
            else []
        ),
        *_queue(network),
        *_parameters(
            network.access.get(("cell", "best-effort"), Access()),
            "best effort, as stations have it",
        ),
    ]
    for (table, category), access in network.access.items():
        if (table, category) != ("cell", "best-effort"):
            lines += ["", *_access(table, category, access)]
    if network.line:
        lines += ["", *_line(network)]
    if network.wire:
        lines += ["", "[wire]", *(entry(k, v, message) for k, (v, message) in network.wire.items())]
    lines += ["", "[tcp]", *(entry(k, v, message) for k, (v, message) in network.tcp.items())]
    lines += _tcp(network)
    for line in _stations(network, addresses):
        lines.append(line)
    return "\n".join(lines) + "\n"


def _line(network: Network) -> Iterator[str]:
    """Yield the table of the Internet line, whose two directions have different queues."""
    yield "[link.line]"
    yield entry("from", text(ROUTER))
    yield entry("to", text(INTERNET))
    yield from (entry(key, value, message) for key, (value, message) in network.line.items())


def title(network: Network) -> str:
    """Return the title of the scenario."""
    count = len(network.stations)
    return f"{count} station{'s' if count != 1 else ''}, from {network.source}"


def text(value: str) -> str:
    """Return a text as a TOML string, with quotes."""
    escaped = "".join(
        f"\\u{ord(c):04x}" if not c.isprintable() and ord(c) < 0x10000 else c for c in value
    )
    return '"' + escaped.replace("\\", "\\\\").replace('"', '\\"').replace("\\\\u", "\\u") + '"'


def entry(key: str, value: str, message: str = "") -> str:
    """Return the line of a key with its value and comment."""
    line = f"{key} = {value}" if key else ""
    if not message:
        return line
    gap = " " * max(AT - len(line), 2)
    return f"{line}{gap}# {' '.join(message.split())}"


def commented(words: str) -> list[str]:
    """Return a text as comment lines."""
    clean = " ".join("".join(c if c.isprintable() else "?" for c in words).split())
    return [f"# {line}" for line in wrap(clean, WIDTH - 2)]


def _run(network: Network) -> Iterator[str]:
    span_s = network.duration_s
    message = "as long as the capture, within 30 s and 5 min" if span_s else "assumed"
    chosen = min(max(span_s, MIN_S), MAX_S) if span_s else USUAL_S
    trips = [flow.rtt_s or 0.0 for each in network.stations for flow in each.flows]
    warmup = min(max(WARMUP_S, WARMUP_TRIPS * max(trips, default=0.0)), chosen / 2)
    yield entry("duration", text(f"{chosen:.0f} s"), message)
    yield entry("warmup", text(f"{warmup:.0f} s"), "left out at the start, while windows grow")
    yield entry("replications", "5", "runs, over which intervals are taken")


def _is_fifo(network: Network) -> bool:
    """Return whether the access point's queue is a FIFO with a limit in packets."""
    return all(fact.value.isdigit() for fact in network.facts if fact.key == "ap_queue")


def _tcp(network: Network) -> Iterator[str]:
    if network.phy in GENERATIONS or not _is_fifo(network):
        yield entry("congestion", text("cubic"), "assumed: what most systems run")
        return
    yield entry("congestion", text("newreno"), "assumed; most systems run cubic, which the")
    yield entry("", "", "models of cells do not support")


def _queue(network: Network) -> Iterator[str]:
    if network.ap_queue is not None:
        yield entry("ap_queue", str(network.ap_queue), network.ap_queue_note)
        return
    for fact in network.facts:
        if fact.key == "ap_queue":
            yield entry(fact.key, fact.value, f"assumed: {fact.short}, see above")
            return
    if network.phy in GENERATIONS:
        message = "assumed: packets; a Linux access point has { mac80211 = {} }"
        yield entry("ap_queue", str(AMPLE_QUEUE), message)
    else:
        yield entry("ap_queue", "100", "assumed: packets; their number is unknown here")


def _access(table: str, category: str, access: Access) -> Iterator[str]:
    whose = "the access point's own" if table == "cell.ap" else "as stations have it"
    inner = "" if category == "best-effort" else f".{category}"
    yield f"[{table}{inner}]"
    yield from _parameters(access, f"{category.replace('-', ' ')}, {whose}")


def _parameters(access: Access, message: str) -> Iterator[str]:
    origin = f"{message}, hostapd's default" if access.default else message
    if access.aifsn is not None:
        yield entry("aifsn", str(access.aifsn), origin)
    if access.cwmin is not None:
        yield entry("cwmin", str(access.cwmin))
    if access.cwmax is not None:
        yield entry("cwmax", str(access.cwmax))
    if access.txop_s is not None:
        limit = phy.duration(access.txop_s) if access.txop_s else "none"
        yield entry("txop_limit", text(limit), access.txop_note)


def _stations(network: Network, addresses: bool) -> Iterator[str]:
    stations, server = network.stations, INTERNET if network.line else None
    alike = len({_settings(each) for each in stations}) == 1
    unmeasured = not any(each.flows or each.up_bps or each.notes for each in stations)
    if len(stations) > 1 and alike and (unmeasured or len(stations) > MAX_ALONE):
        yield ""
        yield "[station.sta]"
        yield entry("count", str(len(stations)), f"sta-1 to sta-{len(stations)}")
        yield from _station(stations[0], [], server)
        return
    for name, station in zip(names(network), stations, strict=True):
        yield ""
        yield f"[station.{name}]"
        shown = [f"address {station.address}"] if addresses else []
        yield from _station(station, shown, server)


def _settings(station: Station) -> tuple[object, ...]:
    both = (station.upload, station.download)
    counts = tuple(each and (each.count, each.rate_bps, each.paced) for each in both)
    return (
        station.up_bps,
        station.down_bps,
        station.phy,
        station.mcs,
        station.streams,
        *counts,
        station.udp_up,
        station.udp_down,
        station.error_up,
        station.error_down,
    )


def _station(station: Station, shown: Sequence[str], server: str | None) -> Iterator[str]:
    for remark in [*shown, *station.notes]:
        yield from commented(f"{remark[:1].upper()}{remark[1:]}.")
    up, down = station.up_bps, station.down_bps
    if station.phy is not None:
        yield entry("phy", text(station.phy), "older than the cell")
    if station.mcs is not None:
        rate = f"{(up or 0.0) / 1e6:.1f} Mb/s, both ways"
        yield from (entry("mcs", str(station.mcs), rate), entry("streams", str(station.streams)))
    elif up or down:
        yield entry("rate", text(phy.spelled(up or down or 0.0)))
    if up and down and up != down:
        yield entry("downlink_rate", text(phy.spelled(down)))
    for key, error in (("error_up", station.error_up), ("error_down", station.error_down)):
        if error is not None:
            message = "frames were repeated more often than those of other stations: noise"
            yield entry(key, f"{error:g}", message)
    yield from _flows("upload", station.upload, server)
    yield from _flows("download", station.download, server)
    yield from _datagrams("udp_up", station.udp_up, server)
    yield from _datagrams("udp_down", station.udp_down, server)


def _flows(key: str, connections: Connections | None, server: str | None) -> Iterable[str]:
    if connections is None:
        return
    kind = "" if connections.measured else "assumed"
    message = "; ".join(part for part in (kind, connections.note) if part)
    if connections.paced is not None:
        bulk, paced = _keys(connections, server), _keys(connections.paced, server)
        groups = f"{{ bulk = {bulk}, paced = {paced} }}"
        yield entry(key, groups, f"{message}; {connections.paced.note}")
    elif connections.rate_bps is None and server is None:
        yield entry(key, str(connections.count), message)
    else:
        yield entry(key, _keys(connections, server), message)


def _keys(connections: Connections, server: str | None) -> str:
    """Return connections as a table of a scenario in one line."""
    keys = []
    if connections.count > 1 or connections.rate_bps is None:
        keys.append(f"connections = {connections.count}")
    if connections.rate_bps is not None:
        keys.append(f"rate = {text(phy.spelled(connections.rate_bps))}")
    if server is not None:
        keys.append(f"server = {text(server)}")
    return f"{{ {', '.join(keys)} }}"


def _datagrams(key: str, stream: Stream | None, server: str | None) -> Iterable[str]:
    if stream is not None:
        rate, packet = text(phy.spelled(stream.rate_bps)), text(f"{stream.payload_bytes} B")
        at = "" if server is None else f", server = {text(server)}"
        yield entry(key, f"{{ rate = {rate}, packet = {packet}{at} }}", stream.note)
