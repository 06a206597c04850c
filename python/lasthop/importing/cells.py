"""Conversion of a capture's counters to a `Network`: measured and assumed values, with reasons."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lasthop.importing import phy
from lasthop.importing.capture import MAX_STATIONS, Capture, Cell, choose, others, read
from lasthop.importing.counters import MAX_CONNECTIONS, Connection, StationCounters, Way
from lasthop.importing.hostapd import quoted
from lasthop.importing.layer import Layer, keys, layer, notes, place
from lasthop.importing.observed import Connections, Network, Note, Station
from lasthop.importing.packets import Progress
from lasthop.importing.ppdu import GENERATIONS
from lasthop.importing.sources import sources
from lasthop.scenario.access_points import FACTS

__all__ = ["Choices", "network"]

MIN_FRAMES = 100
"""Minimum number of data frames for an estimate of a station's fraction of retries. [frames]"""
MIN_ERROR = 0.1
"""Smallest frame error rate that is imported. Below this rate, noise cannot be distinguished from
collisions. [-]
"""
SERVICES = 2.0
"""Smallest ratio of a server's response time to the service time of the packets that were captured
between request and reply. Below this ratio, the reply may have waited behind these packets, so the
delay of the wired path is unknown. [-]
"""
MIN_WIRE_S = 1e-3
FULL_SHARE = 0.9
"""Fraction of the segments that found at most as many packets in the queue as the estimated queue
limit. [-]
"""
HEADER_PROTECTED, HEADER_QOS, HEADER = 16, 2, 28
"""Lengths of the CCMP fields, of the QoS field, and of a data frame's plain header with FCS.
[bytes]"""
MAX_WINDOW = 65535


@dataclass(frozen=True)
class Choices:
    """Options of the user that set values which a capture may not contain.

    Attributes
    ----------
    access_point : str
        MAC address of the access point, from the option --ap.
    lan : str
        Subnet of the stations, from the option --lan.
    phy : str
        Physical layer, from the option --phy.
    """

    access_point: str | None = None
    lan: str | None = None
    phy: str | None = None


def network(path: Path, choices: Choices, progress: Progress | None = None) -> Network:
    """Return the network of one cell in a capture.

    Raises
    ------
    UserError
        If the file is no capture, has no station that sends, or lacks the chosen access point.
    """
    known = read(path, choices.lan, progress)
    address, cell = choose(path, known, choices.access_point)
    physical = layer(known, cell, choices.phy)
    remarks = [*notes(physical, cell), *_remarks(known, cell, address)]
    far_s = _far_s(known, cell)
    tallies = list(cell.stations.values())
    quiet = {name: _least_repeats(tallies, name) for name in ("up", "down")}
    stations = [_station(each, known, physical, quiet, far_s) for each in tallies]
    if not any(map(_sends, stations)):
        largest = max(range(len(tallies)), key=lambda k: tallies[k].down.payload_bytes)
        stations[largest] = _with_download(stations[largest])
        remarks.append(Note("no station transfers much: one download is assumed", warns=True))
    remarks += _with_rates(stations)
    # A wired capture contains packets after this queue, so only a radio capture shows its length.
    queue = _queue(cell, far_s, known.span_s) if known.radio else None
    return Network(
        source=f"capture {path.name}",
        phy=physical.phy,
        phy_note=physical.why,
        stations=stations,
        cell=dict(keys(physical, tallies)) | dict(_cell(cell, physical.phy)),
        wire=dict(_wire(far_s)),
        tcp=dict(_tcp(tallies)),
        ap_queue=queue,
        ap_queue_note=""
        if queue is None
        else "estimated: nine of ten packets to stations found at most this many",
        duration_s=known.span_s,
        notes=remarks,
        facts=() if physical.channel is None else (FACTS["any-edca"],),
    )


def _with_rates(stations: Sequence[Station]) -> list[Note]:
    """Return a list with a note on the connections whose rate was limited by their applications.
    The list is empty if there are no such connections.
    """
    count = sum(not flow.window_limited for each in stations for flow in each.flows)
    if not count:
        return []
    several = "1 connection was" if count == 1 else f"{count} connections were"
    text = (
        f"{several} not limited by the window, but had less to send than it allowed: here the "
        "application writes at that rate (`rate`), or datagrams have it if the station also has "
        "connections that the window limits; their round trip is that of the handshake"
    )
    return [Note(text, warns=True)]


def _sends(station: Station) -> bool:
    return any((station.upload, station.download, station.udp_up, station.udp_down))


def _with_download(station: Station) -> Station:
    from dataclasses import replace

    return replace(station, download=Connections(1, False, "nobody moves much"))


def _remarks(known: Capture, cell: Cell, address: bytes) -> Iterator[Note]:
    rest = list(others(known, address))
    if rest:
        several = "another access point is" if len(rest) == 1 else f"{len(rest)} others are"
        yield Note(
            f"{several} heard in this capture and left out; --ap chooses. Networks on the same "
            "channel use air time that is not in the scenario",
            warns=True,
        )
    if not known.radio:
        yield Note("no radio in this capture: physical layer and rates are assumed", warns=True)
    elif not known.mhz:
        yield Note("frames without radiotap: their rates are unknown and assumed", warns=True)
    if cell.left_out:
        yield Note(
            f"only the first {MAX_STATIONS} stations and {MAX_CONNECTIONS} connections are "
            f"followed: {cell.left_out} packets of others are left out",
            warns=True,
        )
    if any(each.protected for each in cell.stations.values()):
        yield Note(
            "payload is encrypted: directions are derived from bytes, the number of "
            "connections is assumed"
        )


def _cell(cell: Cell, preset: str) -> Iterator[tuple[str, tuple[str, str]]]:
    frames_seen = sum(each.up.frames + each.down.frames for each in cell.stations.values())
    qos = sum(each.qos for each in cell.stations.values()) > frames_seen / 2
    protected = sum(each.protected for each in cell.stations.values()) > frames_seen / 2
    header = HEADER + HEADER_QOS * qos + HEADER_PROTECTED * protected
    if header != HEADER:
        what = " and ".join(["QoS"] * qos + ["encryption"] * protected)
        yield "mac_header", (quoted(f"{header} B"), f"with {what}")
    slow = {"802.11b": phy.CCK_BPS, "802.11g-long": (*phy.CCK_BPS, 6e6, 12e6, 24e6)}
    allowed = slow.get(preset, (6e6, 12e6, 24e6))
    usual = 2e6 if preset in slow else 24e6
    control = [rate for rate, count in cell.control.items() if rate in allowed and count > 1]
    if control and max(control) > usual:
        yield "control_rate", (quoted(phy.spelled(max(control))), "fastest MAC ACK")
    if cell.rts and preset not in GENERATIONS:
        yield "rts_threshold", (quoted(f"{min(cell.rts)} B"), "RTS in front of frames")


def _least_repeats(tallies: Sequence[StationCounters], name: str) -> float:
    """Return the smallest fraction of retries of any station. Collisions cause this fraction, and
    they affect all stations equally."""
    known = [_repeats(each.way(name)) for each in tallies]
    return min((part for part in known if part is not None), default=0.0)


def _repeats(way: Way) -> float | None:
    """Return the fraction of frames that were retries; None if there were too few frames."""
    return way.repeats / way.frames if way.frames >= MIN_FRAMES else None


def _noise(way: Way, least: float) -> float | None:
    """Return the fraction of frames that noise destroys; `least` is the fraction due to
    collisions."""
    part = _repeats(way)
    if part is None:
        return None
    error = 1.0 - (1.0 - part) / (1.0 - least)
    return round(error, 2) if error >= MIN_ERROR else None


def _station(
    tally: StationCounters, known: Capture, physical: Layer, quiet: dict[str, float], far_s: float
) -> Station:
    placed = place(physical, tally)
    notes = list(placed.remarks)
    if tally.signals:
        levels = sorted(tally.signals.elements())
        notes.append(f"signal {levels[len(levels) // 2]} dBm where it was recorded")
    flows = [each.flow(known.first_s, far_s, bool(known.radio)) for each in tally.bulk()]
    up, down = (sources(tally, flows, way) for way in ("up", "down"))
    upload, download = up.connections, down.connections
    if not flows and tally.protected:
        upload, download = _by_bytes(tally)
    short = len(tally.connections) - len(flows)
    if short:
        several = "connection is" if short == 1 else "connections are"
        notes.append(f"{short} short {several} left out")
    return Station(
        address=tally.address,
        up_bps=placed.up_bps,
        down_bps=placed.down_bps,
        phy=placed.phy,
        mcs=placed.mcs,
        streams=placed.streams,
        upload=upload,
        download=download,
        udp_up=up.stream,
        udp_down=down.stream,
        error_up=_noise(tally.up, quiet["up"]),
        error_down=_noise(tally.down, quiet["down"]),
        flows=flows,
        notes=notes,
    )


def _by_bytes(tally: StationCounters) -> tuple[Connections | None, Connections | None]:
    """Return assumed uploads and downloads of a station whose packets are encrypted, from its
    bytes."""
    up, down = tally.up.payload_bytes, tally.down.payload_bytes
    text = f"{down / 1e6:.3g} MB down, {up / 1e6:.3g} MB up, encrypted"
    most = max(up, down)
    if most < MIN_FRAMES * 100:
        return None, None
    results = [Connections(1, False, text) if each >= most / 4 else None for each in (up, down)]
    return results[0], results[1]


def _far_s(known: Capture, cell: Cell) -> float:
    """Return the shortest response time of the servers; 0 if the reply may have waited behind other
    packets for this time. [s]
    """
    every = [each.far for tally in cell.stations.values() for each in tally.connections.values()]
    if not every:
        return 0.0
    far_s, between = min(every)
    service_s = known.span_s / max(sum(cell.passed.values()), 1)
    if known.radio and far_s < SERVICES * (between + 1) * service_s:
        return 0.0
    return far_s if MIN_WIRE_S < far_s < 10.0 else 0.0


def _wire(far_s: float) -> Iterator[tuple[str, tuple[str, str]]]:
    if far_s:
        text = f"the fastest reply from servers took {far_s * 1e3:.3g} ms"
        yield "delay", (quoted(phy.duration(float(f"{far_s / 2:.2g}"))), text)


def _tcp(tallies: Sequence[StationCounters]) -> Iterator[tuple[str, tuple[str, str]]]:
    every = [each for tally in tallies for each in tally.bulk() if each.tcp]
    if not every:
        return
    mss = max(each.trips.mss_bytes for each in every)
    if 1 <= mss <= 2304 and mss != 1460:
        yield "mss", (quoted(f"{mss} B"), "longest payload of a segment")
    window = _most_common(every, _window)
    if window is not None:
        yield (
            "window",
            (str(min(window, MAX_WINDOW)), "window that receivers announce, in segments"),
        )
    segments = sum(each.main.segments for each in every)
    acks = sum(each.back.pure_acks for each in every)
    delayed = acks < 0.75 * segments
    text = f"{acks / max(segments, 1):.2g} ACKs for a segment"
    yield "delayed_ack", ("true" if delayed else "false", text)


def _window(connection: Connection) -> int | None:
    """Return the largest announced receive window in segments; None if its scale is unknown."""
    announced, mss = connection.back.window_bytes, connection.trips.mss_bytes
    return max(round(announced / mss), 1) if announced and 1 <= mss <= 2304 else None


def _most_common(
    every: Sequence[Connection], what: Callable[[Connection], int | None]
) -> int | None:
    known = Counter(value for each in every if (value := what(each)) is not None)
    return known.most_common(1)[0][0] if known else None


def _queue(cell: Cell, far_s: float, span_s: float) -> int | None:
    """Return the limit of the access point's queue, estimated while downloads lose segments.
    [packets]

    The queue length that a segment finds is the number of packets that leave after an ACK and
    before the segment that this ACK allows. Packets that leave within the response time of the
    servers were not in the queue and are subtracted. The limit is the length that the fraction
    `FULL_SHARE` of the segments does not exceed.
    """
    answering = far_s * cell.passed["down"] / span_s if span_s > 0 else 0.0
    counts = Counter[int]()
    for tally in cell.stations.values():
        for each in tally.bulk():
            if each.tcp and each.direction == "down" and each.trips.retransmitted:
                counts.update(each.trips.backlog)
    total = sum(counts.values())
    if total < MIN_FRAMES:
        return None
    below = 0
    for packets in sorted(counts):
        below += counts[packets]
        if below >= FULL_SHARE * total:
            return max(round(packets - answering), 1)
    return None
