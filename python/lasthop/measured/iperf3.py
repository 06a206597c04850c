"""Output of ``iperf3 --json``, of a client or a server.

A client at a station sends uplink traffic. With ``--reverse`` it receives downlink traffic, and
with ``--bidir`` it does both. In a server's output, the directions are reversed. Goodput is
computed from the receiver's bytes, because the sender's bytes include data that is still in
buffers. References: iperf3's man page; `iperf_print_results` in src/iperf_api.c, versions 3.0 to
3.20.

The table of a UDP stream contains values of the sender and of the receiver. The number of bytes is
the sender's. A receiving server reports 0 bytes, and a ``lost_percent`` of 0. The number of lost
packets is the receiver's. The receiver's bytes are in ``sum_received`` (since 3.11), and in the
intervals of the receiving machine. If a run ends with an error, the report has the key ``error``.
It may also contain the values that were measured before the error.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lasthop.measured.observed import Measurement, NothingMeasuredError, Stream
from lasthop.measured.tree import Tree

__all__ = ["is_iperf3", "read"]

US = 1e-6
BACK = "_bidir_reverse"
"""Suffix of the names of sums over the server's streams in a --bidir test."""
ANY = -1e18
"""Lower limit of accepted numbers of lost packets. It is negative, because iperf3 may subtract a
packet twice from this number if the packet arrives out of order."""


def is_iperf3(tree: Any) -> bool:
    """Return whether a JSON value is output of iperf3."""
    known = isinstance(tree, Mapping) and {"start", "end"} <= tree.keys()
    return known or (isinstance(tree, Mapping) and "error" in tree and "start" in tree)


def read(file: Tree) -> Measurement:
    """Return the measured streams of a run.

    Raises
    ------
    UserError
        If the run failed before any data was transferred, or if a value has a wrong type.
    """
    error, notes = file.at("error").text(), list[str]()
    start = file.at("start")
    settings = start.at("test_start")
    server = "accepted_connection" in start.table()
    machine = Machine(server, bool(settings.at("reverse").value) == server)
    counted = Counted(file, list(of_intervals(file.at("intervals"), machine)))
    mss = start.at("tcp_mss_default").number() or 1448.0
    results = list(streams(counted, machine, mss, notes))
    if error and not any(each.goodput_bps for each in results):
        raise NothingMeasuredError(f"{file.path}: iperf3 failed: {error}")
    if not results:
        raise NothingMeasuredError(
            f"{file.path}: `end.streams`: has no stream: the run was cut short"
        )
    if error:
        notes.insert(0, f"interrupted ({error}): the counts until then are used")
    return Measurement(str(file.path), "iperf3", results, notes)


class Machine(NamedTuple):
    """Machine that wrote a report: whether it is the server, and its default role as sender or
    receiver."""

    server: bool
    sends: bool

    def is_sender(self, sends: Any) -> bool:
        """Return whether the machine is the sender of a stream; `sends` is the stream's own flag or
        None.
        """
        return self.sends if sends is None else bool(sends)

    def way(self, sends: Any) -> str:
        """Return the direction of a stream: ``"up"`` if the client is the sender."""
        return "up" if self.is_sender(sends) != self.server else "down"


@dataclass
class Intervals:
    """Totals of one stream at one machine, over all intervals that iperf3 does not mark as omitted.

    Attributes
    ----------
    sends : bool
        Whether the machine sends the stream.
    bits, seconds : float
        Payload, and the duration of the intervals. [bit], [s]
    again : float
        Number of retransmitted segments.
    trips_us : list of float
        Round-trip times at the ends of intervals. [us]
    udp : bool
        Whether the stream is UDP.
    """

    sends: bool
    bits: float = 0.0
    seconds: float = 0.0
    again: float | None = None
    trips_us: list[float] = field(default_factory=list)
    udp: bool = False

    @property
    def rate_bps(self) -> float | None:
        """Mean rate; None if there are no intervals. [bit/s]"""
        return self.bits / self.seconds if self.seconds else None


def of_intervals(intervals: Tree, machine: Machine) -> Iterator[tuple[float, Intervals]]:
    """Yield socket number and totals of each stream, in the order of the first intervals."""
    results: dict[float, Intervals] = {}
    for interval in intervals.items() if intervals.value is not None else ():
        listed = interval.at("streams")
        for stream in listed.items() if listed.value is not None else ():
            socket = stream.at("socket").number() or 0.0
            sends = machine.is_sender(stream.at("sender").value)
            known = results.setdefault(socket, Intervals(sends, udp="packets" in stream.table()))
            if stream.at("omitted").value:
                continue
            known.bits += 8.0 * (stream.at("bytes").number() or 0.0)
            known.seconds += stream.at("seconds").number() or 0.0
            again = stream.at("retransmits").number(least=ANY)
            if again is not None:
                known.again = (known.again or 0.0) + max(again, 0.0)
            if trip_us := stream.at("rtt").number():
                known.trips_us.append(trip_us)
    yield from results.items()


@dataclass(frozen=True)
class Counted:
    """An iperf3 report, and the totals of each stream over the report's intervals."""

    file: Tree
    intervals: list[tuple[float, Intervals]]

    def of_socket(self, stream: Tree) -> Intervals | None:
        """Return the totals over the intervals of the stream with the socket of `stream`; None if
        there are none."""
        socket = stream.at("socket").number()
        return None if socket is None else dict(self.intervals).get(socket)

    def listed(self) -> list[Tree]:
        """Return the streams in the summary at the end of the report."""
        result = self.file.at("end").at("streams")
        return list(result.items()) if result.value is not None else []


def streams(
    counted: Counted, machine: Machine, mss_bytes: float, notes: list[str]
) -> Iterator[Stream]:
    """Yield the streams from the summary at the end; if there is no summary, from the intervals."""
    listed = counted.listed()
    for number, stream in enumerate(listed, 1):
        table = stream.table()
        name = f"stream {number}"
        if "udp" in table:
            yield datagrams(stream.at("udp"), name, machine, counted, notes)
        elif "sender" in table:
            yield segments(stream, name, machine, mss_bytes, counted, notes)
        else:
            raise stream.wrong("a stream with sender and receiver, or of udp")
    if listed:
        return
    for number, (_, known) in enumerate(counted.intervals, 1):
        yield interrupted(known, f"stream {number}", machine, notes)


def interrupted(known: Intervals, name: str, machine: Machine, notes: list[str]) -> Stream:
    """Return a stream from its intervals, because the run was interrupted before the summary."""
    way = machine.way(known.sends)
    if known.udp and known.sends:
        notes.append(f"{name}: the number of received datagrams is not reported")
        return Stream(name, way, transport="udp")
    if known.udp:
        return Stream(name, way, known.rate_bps, transport="udp")
    trips = known.trips_us
    return Stream(
        name=name,
        direction=way,
        goodput_bps=known.rate_bps,
        rtt_s=US * sum(trips) / len(trips) if trips else None,
        retransmissions=known.again if known.sends else None,
    )


def datagrams(udp: Tree, name: str, machine: Machine, counted: Counted, notes: list[str]) -> Stream:
    """Return a UDP stream: goodput at the receiver, and the fraction of lost datagrams."""
    sends = machine.is_sender(udp.at("sender").value)
    packets = udp.at("packets").number("a count from 0") or 0.0
    lost = udp.at("lost_packets").number("a count", ANY)
    percent = udp.at("lost_percent").number("a part in percent", ANY)
    part = None if percent is None else min(max(percent, 0.0), 100.0) / 100.0
    if lost is not None and packets:
        part = min(max(lost / packets, 0.0), 1.0)
    rate = arrived_bps(udp, machine, counted, sends, part)
    if rate is None:
        notes.append(f"{name}: the number of received datagrams is not reported")
        part = None
    return Stream(
        name=name,
        direction=machine.way(udp.at("sender").value),
        goodput_bps=rate,
        loss_probability=part,
        transport="udp",
    )


def arrived_bps(
    udp: Tree, machine: Machine, counted: Counted, sends: bool, part: float | None
) -> float | None:
    """Return the rate at which a stream's datagrams arrived; None if the report does not contain
    the rate. [bit/s]"""
    own = counted.of_socket(udp)
    if not sends and own is not None and own.rate_bps:
        return own.rate_bps
    total = received_bps(counted, machine, sends)
    if total:
        return total * share(udp, counted, machine, sends)
    sent = udp.at("bits_per_second").number()
    if sends and (machine.server or counted.file.at("error").value is not None):
        return None  # A sender's report may lack the receiver's values.
    if sent:
        return sent * (1.0 - (part or 0.0))
    packets = udp.at("packets").number() or 0.0
    seconds = udp.at("seconds").number() or 0.0
    size = counted.file.at("start").at("test_start").at("blksize").number() or 0.0
    return 8.0 * size * packets * (1.0 - (part or 0.0)) / seconds if seconds else sent


def received_bps(counted: Counted, machine: Machine, sends: bool) -> float | None:
    """Return the total rate that the receiver reports for the streams of one direction. [bit/s]"""
    end = counted.file.at("end")
    two_ways = end.at(f"sum_received{BACK}").value is not None
    back = two_ways and sends == machine.server
    return end.at(f"sum_received{BACK if back else ''}").at("bits_per_second").number()


def share(udp: Tree, counted: Counted, machine: Machine, sends: bool) -> float:
    """Return a stream's fraction of all received datagrams in its direction. [-]"""

    def arrived(each: Tree) -> float:
        lost = max(each.at("lost_packets").number(least=ANY) or 0.0, 0.0)
        return max((each.at("packets").number() or 0.0) - lost, 0.0)

    tables = [each.at("udp") for each in counted.listed()]
    alike = [
        each
        for each in tables
        if each.value is not None and machine.is_sender(each.at("sender").value) == sends
    ]
    total = sum(map(arrived, alike))
    return arrived(udp) / total if total else 1.0 / len(alike)


def segments(
    stream: Tree,
    name: str,
    machine: Machine,
    mss_bytes: float,
    counted: Counted,
    notes: list[str],
) -> Stream:
    """Return a TCP stream: goodput at the receiver, and round-trip time and retransmissions at the
    sender."""
    sender, receiver = stream.at("sender"), stream.at("receiver")
    own = counted.of_socket(sender)
    arrived = receiver.at("bits_per_second").number()
    sent = sender.at("bits_per_second").number()
    if not arrived and not sent and own is not None:
        arrived = own.rate_bps
    elif not arrived and sent:
        notes.append(f"{name}: its receiver counted nothing, the sender's count is used")
        arrived = sent
    again = sender.at("retransmits").number("a count from 0")
    total = sender.at("bytes").number("a count from 0")
    loss = None
    if not total:
        again = None  # A receiver's report has no retransmissions.
    elif again is not None:
        loss = again / (total / mss_bytes + again)
    trip_us = sender.at("mean_rtt").number()
    return Stream(
        name=name,
        direction=machine.way(sender.at("sender").value),
        goodput_bps=arrived,
        rtt_s=trip_us * US if trip_us else None,
        loss_probability=loss,
        retransmissions=again,
    )
