"""Measurements of flent (``.flent``, ``.flent.gz``): time series of rates, delays and queues.

References: flent's doc/data-format.rst, flent/runners.py and flent/tests. A series is a list of
values; a missing value is null. The machine that ran flent is the sender of ``TCP upload``.
Suffixes such as ``::1`` and BE distinguish several streams. Since 2017, the metadata names a
separate runner for series that flent computes (sums, averages, fairness). ``tcp_rtt`` is the
kernel's smoothed round-trip time of a stream. [ms] ``VoIP::delay`` is the one-way delay from the
machine that ran flent. [ms] ``qdisc_stats_HOST::backlog_pkts`` and similar series are statistics of
``tc -s qdisc`` at HOST.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lasthop.measured.observed import Measurement, NothingMeasuredError, Queue, Stream
from lasthop.measured.pings import ping_stream
from lasthop.measured.tree import Tree

__all__ = ["is_flent", "read"]

NAMED = re.compile(r"(TCP|UDP) (upload|download)(?P<rest>.*)", re.IGNORECASE)
UNDIRECTED = re.compile(r"(TCP|UDP) .+")
"""Pattern of stream names without a direction, such as ``TCP cubic``. The direction of such a
stream follows from the command that flent ran.
"""
COMMAND = re.compile(r"(?:^|\s)-t (TCP_STREAM|TCP_MAERTS|TCP_SENDFILE)\b")
"""Pattern of the option that selects the test of netperf in the command that flent ran. With
TCP_MAERTS, the machine that ran flent receives.
"""
COMPUTED = ("sum", "avg", "average", "total", "totals", "fairness", "mean")
"""Words in the names of series that flent computed from other series."""
COMPUTING = (
    "SumRunner",
    "AverageRunner",
    "SmoothAverageRunner",
    "FairnessRunner",
    "DiffMinRunner",
)
UNITS_BPS = {"Mbits/s": 1e6, "Kbits/s": 1e3, "Kbps": 1e3, "Gbits/s": 1e9, "bits/s": 1.0}
WAYS = {"upload": "up", "download": "down"}
CATEGORIES = {
    "BE": "best-effort",
    "BK": "background",
    "VI": "video",
    "EF": "voice",
    "VO": "voice",
    **dict.fromkeys(("CS0", "CS3"), "best-effort"),
    **dict.fromkeys(("CS1", "CS2"), "background"),
    **dict.fromkeys(("CS4", "CS5"), "video"),
    **dict.fromkeys(("CS6", "CS7"), "voice"),
}
"""Access categories by the marks in stream names. The category of a class selector follows from its
precedence (IEEE 802.11, table of user priorities and access categories)."""
MARK = re.compile(r"(?<!\w)(CS[0-7]|BE|BK|VI|VO|EF)\d*(?!\w)")
VOIP = "VoIP"
QDISC = re.compile(r"qdisc(?:_stats_(?P<host>.+?)|-stats)(?:::(?P<what>[a-z_]+))?")
OWN = ("", "localhost", "127.0.0.1", "::1")
"""Names by which flent refers to the machine that ran it."""
PING = "Ping"
"""Prefix of the names of series with the round-trip times of pings."""
DELAYS = (PING, "HTTP", "UDP RTT", "TCP RTT")
"""Prefixes of the names of delay series that belong to no stream."""
MAX_NAMED = 6
"""Maximum number of series that a message lists."""
ANY = -1e18
"""Lower limit of accepted delays. It is negative, because a delay between two machines may be
negative if their clocks differ.
"""


def is_flent(tree: Any) -> bool:
    """Return whether a JSON value is a measurement of flent."""
    return isinstance(tree, Mapping) and {"results", "x_values"} <= tree.keys()


def read(file: Tree) -> Measurement:
    """Return the streams of a measurement, sorted by number, and its qdiscs.

    Raises
    ------
    UserError
        If a value has a wrong type, or if no series belongs to a stream or a qdisc.
    """
    series = file.at("results")
    meta = file.at("metadata").at("SERIES_META")
    notes: list[str] = []
    results = sorted(streams(series, meta, notes), key=lambda each: _in_order(each.name))
    results += voip(file, meta.at(VOIP), notes)
    results += pings(file, meta)
    measured = list(queues(series, file.at("metadata").at("LOCAL_HOST").text()))
    notes += [*other_delays(series, meta), *left_out(series, meta, results)]
    if not results and not measured:
        known = ", ".join(list(series.table())[:4]) or "none"
        raise NothingMeasuredError(
            f"{file.path}: no series of a TCP or UDP upload or download, of pings, of VoIP or of a "
            f"qdisc; "
            f"its series are {known}"
        )
    return Measurement(str(file.path), "flent", results, notes, queues=measured)


def _in_order(name: str) -> tuple[str, int]:
    """Return a sort key that puts stream 2 before stream 10."""
    match = re.search(r"(\d+)$", name)
    return (name[: match.start()], int(match[1])) if match else (name, 0)


def is_computed(name: str, about: Tree) -> bool:
    """Return whether flent computed a series from other series."""
    computed = any(word in COMPUTED for word in name.lower().split())
    return computed or about.at("RUNNER").value in COMPUTING


def direction_of(name: str, about: Tree) -> str | None:
    """Return the direction of a stream; None if the series is not the rate of a stream.

    The command of netperf has priority over the name, since ``--swap-up-down`` changes only the
    command.
    """
    match = NAMED.fullmatch(name)
    test = COMMAND.search(about.at("COMMAND").text())
    if test is not None and (match or UNDIRECTED.fullmatch(name)):
        return "down" if test[1] == "TCP_MAERTS" else "up"
    return WAYS[match[2].lower()] if match else None


def streams(series: Tree, meta: Tree, notes: list[str]) -> Iterator[Stream]:
    """Yield a stream for each series that is the rate of a stream. Series that flent computed from
    other series are left out."""
    for name in series.table():
        about = meta.at(name)
        units = about.at("UNITS").value
        if "::tcp_" in name or is_computed(name, about):
            continue
        way = direction_of(name, about)
        scale = 1e6 if units is None else UNITS_BPS.get(str(units))
        if way is None or scale is None:
            continue
        rate = about.at("MEAN_VALUE").number()
        mean = mean_of(series.at(name))
        if rate is None and mean is None:
            continue
        udp = name.upper().startswith("UDP")
        if udp and rate is None:
            if "MEAN_VALUE" in (about.value or {}):
                notes.append(f"{name}: the receiver reported nothing; the rate sent is no goodput")
                continue
            notes.append(f"{name}: no report of the receiver, the sender's rate is used")
        trip_ms = mean_of(series.at(f"{name}::tcp_rtt"))
        yield Stream(
            name=name,
            direction=way,
            goodput_bps=scale * (rate if rate is not None else mean or 0.0),
            rtt_s=None if trip_ms is None else trip_ms / 1e3,
            transport="udp" if udp else "tcp",
            category=category_of(name),
        )


def category_of(name: str) -> str:
    """Return the access category in the name of a stream, such as BK; empty if the name has
    none.
    """
    marks = {CATEGORIES[mark] for mark in MARK.findall(name)}
    return marks.pop() if len(marks) == 1 else ""


def mean_of(series: Tree, least: float = 0.0) -> float | None:
    """Return the mean of those values of a series that are not null; None if all values are
    null."""
    if series.value is None:
        return None
    values = [value for each in series.items() if (value := each.number(least=least)) is not None]
    return sum(values) / len(values) if values else None


def voip(file: Tree, about: Tree, notes: list[str]) -> Iterator[Stream]:
    """Yield the VoIP stream that the machine with flent sent by D-ITG or irtt."""
    series = file.at("results")
    delay_ms = mean_of(series.at(f"{VOIP}::delay"), ANY)
    rate_kbps = mean_of(series.at(f"{VOIP}::bitrate"))
    if delay_ms is None and rate_kbps is None:
        return
    if delay_ms is not None and any(
        (each.number(least=ANY) or 0.0) < 0.0 for each in series.at(f"{VOIP}::delay").items()
    ):
        notes.append(f"{VOIP}: its one-way delay is below 0 at times: the clocks differ, left out")
        delay_ms = None
    jitter_ms = mean_of(series.at(f"{VOIP}::jitter"))
    if jitter_ms is not None:
        notes.append(f"{VOIP}::jitter: mean {jitter_ms:.3g} ms, not compared")
    yield Stream(
        name=VOIP,
        direction="up",
        goodput_bps=None if rate_kbps is None else rate_kbps * 1e3,
        loss_probability=lost_part(file, about, notes),
        one_way_delay_s=None if delay_ms is None else delay_ms / 1e3,
        transport="udp",
    )


def lost_part(file: Tree, about: Tree, notes: list[str]) -> float | None:
    """Return the fraction of VoIP packets that were lost; None if the number of sent packets is
    unknown.

    The series contains the numbers of lost packets. irtt reports the number of sent packets. D-ITG
    reports no number of sent packets, but its raw values list the received packets.
    """
    lost_series = file.at("results").at(f"{VOIP}::loss")
    if lost_series.value is None:
        return None
    lost = sum(each.number() or 0.0 for each in lost_series.items())
    if not lost:
        return 0.0
    sent = about.at("PACKETS_SENT").number() or 0.0
    raw = file.at("raw_values").at(VOIP).value
    if not sent and isinstance(raw, list) and raw:
        sent = lost + sum(not (isinstance(each, Mapping) and each.get("lost")) for each in raw)
    if not sent:
        notes.append(
            f"{VOIP}::loss: {lost:.0f} packets lost; the number of sent packets is not reported"
        )
        return None
    return min(lost / sent, 1.0)


def queues(series: Tree, local_host: str) -> Iterator[Queue]:
    """Yield each qdisc whose statistics flent recorded."""
    hosts: dict[str, dict[str, Tree]] = {}
    for name in series.table():
        match = QDISC.fullmatch(name)
        if match is not None and match["what"]:
            hosts.setdefault(match["host"] or "", {})[match["what"]] = series.at(name)
    for host, known in hosts.items():
        nothing = Tree(series.path, None)
        delay_ms = mean_of(known.get("delay", nothing))
        packets = mean_of(known.get("backlog_pkts", nothing))
        if delay_ms is None and packets is None:
            continue
        yield Queue(
            "" if host in (*OWN, local_host) else host,
            sojourn_s=None if delay_ms is None else delay_ms / 1e3,
            packets=packets,
            drop_probability=dropped_part(
                known.get("dropped", nothing), known.get("sent_pkts", nothing)
            ),
        )


def dropped_part(dropped: Tree, sent: Tree) -> float | None:
    """Return the fraction of packets that a qdisc dropped. [-]

    ``dropped`` counts the packets of each interval. ``sent_pkts`` counts all packets since the
    qdisc was installed.
    """
    if dropped.value is None or sent.value is None:
        return None
    totals = [value for each in sent.items() if (value := each.number()) is not None]
    # If a qdisc is replaced, its counter of drops starts again at 0. The value of that interval is
    # then negative.
    lost = sum(max(each.number(least=ANY) or 0.0, 0.0) for each in dropped.items())
    passed = totals[-1] - totals[0] if totals and totals[-1] >= totals[0] else 0.0
    return lost / (lost + passed) if passed > 0 else None


def pings(file: Tree, meta: Tree) -> Iterator[Stream]:
    """Yield a stream for each series of pings. The machine with flent sends the requests.

    The raw values have one entry per reply, with a sequence number in recent versions of flent.
    The series has an interpolated value for each point in time, and is used without raw values.
    """
    for name in file.at("results").table():
        if not name.startswith(PING) or is_computed(name, meta.at(name)):
            continue
        raw = file.at("raw_values").at(name)
        entries = raw.items() if isinstance(raw.value, list) else []
        values = [value for each in entries if (value := each.at("val").number()) is not None]
        numbers = {number for each in entries if (number := each.at("seq").number())}
        sent = max(numbers) - min(numbers) + 1 if len(numbers) == len(values) > 0 else None
        if not values:
            series = file.at("results").at(name)
            values = [value for each in series.items() if (value := each.number()) is not None]
        if values:
            yield ping_stream(name, [1e-3 * value for value in values], sent, category_of(name))


def other_delays(series: Tree, meta: Tree) -> Iterator[str]:
    """Yield messages about delay series that belong to no stream, such as averages of pings."""
    for name in series.table():
        if not name.startswith(DELAYS):
            continue
        if name.startswith(PING) and not is_computed(name, meta.at(name)):
            continue
        mean = mean_of(series.at(name))
        if mean is not None:
            yield f"{name}: mean {mean:.3g} ms, not compared"


def left_out(series: Tree, meta: Tree, result: list[Stream]) -> Iterator[str]:
    """Yield a message about rate series that are neither compared nor derived from others."""
    taken = {each.name for each in result}
    names = [
        name
        for name in series.table()
        if str(meta.at(name).at("UNITS").value) in UNITS_BPS
        and name not in taken
        and not name.startswith(("UDP ", VOIP))  # Other messages list these series.
        and not is_computed(name, meta.at(name))
    ]
    if names:
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        listed = ", ".join(names[:MAX_NAMED]) + more
        yield f"left out, since no flow is of their kind or direction: {listed}"
