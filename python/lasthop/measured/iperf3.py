"""Output of ``iperf3 --json``, of a client or a server.

A client that ran at a station sends upwards, with ``--reverse`` downwards, with ``--bidir`` both
ways; a server's output is seen from the other end. Goodput is the receiver's count, since a
sender counts what is still in its buffers. References: iperf3's man page and its JSON.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lasthop.errors import UserError
from lasthop.measured.observed import Measurement, Stream
from lasthop.measured.tree import Tree

__all__ = ["is_iperf3", "read"]

US = 1e-6


def is_iperf3(tree: Any) -> bool:
    """Whether JSON is iperf3's."""
    known = isinstance(tree, Mapping) and {"start", "end"} <= tree.keys()
    return known or (isinstance(tree, Mapping) and "error" in tree and "start" in tree)


def read(file: Tree) -> Measurement:
    """The streams of a run.

    Raises
    ------
    UserError
        If the run failed, or a value is not of its form.
    """
    if error := file.at("error").text():
        raise UserError(f"{file.path}: iperf3 failed: {error}")
    start, end = file.at("start"), file.at("end")
    settings = start.at("test_start")
    server = "accepted_connection" in start.table()
    sends = bool(settings.at("reverse").value) == server
    notes: list[str] = []
    mss = start.at("tcp_mss_default").number() or 1448.0
    found = list(streams(end, Machine(server, sends), mss, notes))
    if not found:
        raise UserError(f"{file.path}: `end.streams`: has no stream: the run was cut short")
    return Measurement(str(file.path), "iperf3", found, notes)


class Machine(NamedTuple):
    """Where a report was made: whether by the server, and whether it sends where nothing says."""

    server: bool
    sends: bool

    def way(self, sends: Any) -> str:
        """The direction of a stream, up from the client."""
        ours = self.sends if sends is None else bool(sends)
        return "up" if ours != self.server else "down"


def streams(end: Tree, machine: Machine, mss_bytes: float, notes: list[str]) -> Iterator[Stream]:
    """Each stream of the end report."""
    listed = end.at("streams")
    for number, stream in enumerate(listed.items() if listed.value is not None else (), 1):
        table = stream.table()
        name = f"stream {number}"
        if "udp" in table:
            udp = stream.at("udp")
            yield datagrams(udp, name, machine.way(udp.at("sender").value))
        elif "sender" in table:
            way = machine.way(stream.at("sender").at("sender").value)
            yield segments(stream, name, way, mss_bytes, notes)
        else:
            raise stream.wrong("a stream with sender and receiver, or of udp")


def datagrams(udp: Tree, name: str, way: str) -> Stream:
    """A stream of UDP: what arrived, and the part that did not."""
    rate = udp.at("bits_per_second").number()
    lost = udp.at("lost_percent").number("a part in percent")
    part = None if lost is None else min(lost, 100.0) / 100.0
    return Stream(
        name=name,
        direction=way,
        goodput_bps=None if rate is None else rate * (1.0 - (part or 0.0)),
        loss_probability=part,
    )


def segments(stream: Tree, name: str, way: str, mss_bytes: float, notes: list[str]) -> Stream:
    """A stream of TCP: the receiver's count, the sender's round trips and repeats."""
    sender, receiver = stream.at("sender"), stream.at("receiver")
    arrived = receiver.at("bits_per_second").number()
    sent = sender.at("bits_per_second").number()
    if not arrived and sent:
        notes.append(f"{name}: its receiver counted nothing, the sender's count is taken")
        arrived = sent
    again = sender.at("retransmits").number("a count from 0")
    total = sender.at("bytes").number("a count from 0")
    loss = None
    if again is not None and total:
        count = total / mss_bytes + again
        loss = again / count
    trip_us = sender.at("mean_rtt").number()
    return Stream(
        name=name,
        direction=way,
        goodput_bps=arrived,
        rtt_s=trip_us * US if trip_us else None,
        loss_probability=loss,
        retransmissions=again,
    )
