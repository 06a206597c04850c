"""CAKE as a queueing discipline of the kernel: netlink options and statistics (linux/pkt_sched.h).

The words of the `tc` command are those of tc-cake(8). Every option is always sent, since CAKE keeps
the value of an option that a later request leaves out.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lasthop.linux import tc
from lasthop.linux.counters import GETQDISC, STATISTICS, dumped
from lasthop.linux.disciplines import Discipline, microseconds
from lasthop.linux.netlink import Socket, attribute, attributes, number_in, u32_attribute

BASE_RATE64, DIFFSERV, ATM, FLOW_MODE, OVERHEAD, RTT, TARGET = 2, 3, 4, 5, 6, 7, 8
MEMORY, NAT, RAW, WASH, MPU, INGRESS = 10, 11, 12, 13, 14, 15
ACK_FILTER, SPLIT_GSO, FWMARK = 16, 17, 18
COMPARED = (
    *(BASE_RATE64, DIFFSERV, ATM, FLOW_MODE, OVERHEAD, RTT, TARGET),
    *(MEMORY, NAT, WASH, MPU, INGRESS, ACK_FILTER, SPLIT_GSO, FWMARK),
)
"""Attributes that the kernel reports, and that are compared with the requested values."""

DIFFSERVS = ("diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence")
LINK_LAYERS = {"none": "noatm", "atm": "atm", "ptm": "ptm"}
"""Words of `tc` for the encodings of the line, in the order of the kernel's numbers."""
ISOLATIONS = (
    *("flowblind", "srchost", "dsthost", "hosts"),
    *("flows", "dual-srchost", "dual-dsthost", "triple-isolate"),
)
ACK_FILTERS = {
    "off": "no-ack-filter",
    "conservative": "ack-filter",
    "aggressive": "ack-filter-aggressive",
}
"""Words of `tc` for the ACK filters, in the order of the kernel's numbers."""
TARGETS_PER_RTT = 20
"""Ratio of the RTT to CoDel's target (q_cake.c of iproute2). [-]"""

TINS: Mapping[str, tuple[str, ...]] = {
    "besteffort": ("best-effort",),
    "diffserv3": ("bulk", "best-effort", "voice"),
    "diffserv4": ("bulk", "best-effort", "video", "voice"),
}
"""Names of the tins in the order in which the kernel reports them. The tins of other words have
numbers only."""
APPLICATION, TIN_STATISTICS = 4, 10
"""Attributes that contain the statistics of CAKE, and of its tins."""


class Options(NamedTuple):
    """Options of CAKE. The words are those of a scenario's table `queue.cake`."""

    rate_bps: int | None
    """Rate of the shaper; None for no shaper. [bit/s]"""
    rtt_s: float
    diffserv: str
    isolation: str
    nat: bool
    ack_filter: str
    overhead_bytes: int | None
    """Number of bytes that the line adds to an IP packet; None for the length that the kernel
    counts."""
    mpu_bytes: int = 0
    link_layer: str = "none"
    memory_limit_bytes: int | None = None
    """Largest memory of the waiting packets; None for the kernel's default."""
    ingress: bool = False

    @property
    def discipline(self) -> Discipline:
        """Queueing discipline of the kernel with these options."""
        rtt_us = microseconds(self.rtt_s)
        numbers = {
            DIFFSERV: DIFFSERVS.index(self.diffserv),
            ATM: list(LINK_LAYERS).index(self.link_layer),
            FLOW_MODE: ISOLATIONS.index(self.isolation),
            OVERHEAD: self.overhead_bytes or 0,
            RTT: rtt_us,
            TARGET: max(rtt_us // TARGETS_PER_RTT, 1),
            MEMORY: self.memory_limit_bytes or 0,
            NAT: int(self.nat),
            WASH: 0,
            MPU: self.mpu_bytes,
            INGRESS: int(self.ingress),
            ACK_FILTER: list(ACK_FILTERS).index(self.ack_filter),
            SPLIT_GSO: 1,
            FWMARK: 0,
        }
        if self.overhead_bytes is None:
            numbers[RAW] = 0
        options = attribute(BASE_RATE64, struct.pack("=Q", (self.rate_bps or 0) // 8))
        options += b"".join(u32_attribute(kind, value) for kind, value in numbers.items())
        return Discipline("cake", options, " ".join(self.words()))

    def words(self) -> Iterator[str]:
        """Yield the options as arguments of the `tc` command."""
        yield "unlimited" if self.rate_bps is None else f"bandwidth {self.rate_bps}bit"
        yield self.diffserv
        yield self.isolation
        yield "nat" if self.nat else "nonat"
        yield "nowash"
        yield ACK_FILTERS[self.ack_filter]
        yield "split-gso"
        yield f"rtt {microseconds(self.rtt_s)}us"
        yield LINK_LAYERS[self.link_layer]
        yield "raw" if self.overhead_bytes is None else f"overhead {self.overhead_bytes}"
        if self.mpu_bytes:
            yield f"mpu {self.mpu_bytes}"
        if self.memory_limit_bytes is not None:
            yield f"memlimit {self.memory_limit_bytes}b"
        if self.ingress:
            yield "ingress"


def compared(options: bytes) -> tuple[int, ...]:
    """Return the options of CAKE in a request or in the kernel's report, as comparable numbers."""
    has = dict(attributes(options))
    return tuple(number_in(has.get(each)) for each in COMPARED)


class Tin(NamedTuple):
    """Counters and state of a tin."""

    threshold_bps: int
    target_s: float
    interval_s: float
    arrived_packets: int
    """Number of packets that have arrived. `tc` prints it as "pkts"."""
    dropped_packets: int
    acks_dropped: int
    """Number of packets that the ACK filter has dropped."""
    marked_packets: int
    backlog_packets: int
    backlog_bytes: int
    peak_delay_s: float
    mean_delay_s: float
    """Moving average of the queueing delay. [s]"""
    base_delay_s: float
    """Moving minimum of the queueing delay. [s]"""
    sparse_flows: int
    bulk_flows: int


def tins(kernel: Socket, interface: int, parent: int = tc.ROOT) -> list[Tin]:
    """Return the tins of the CAKE that is at this parent of an interface, in the kernel's order.
    The list is empty if there is no CAKE."""
    for each in dumped(kernel, GETQDISC, interface):
        if each.kind == "cake" and each.parent == parent:
            has = dict(attributes(each.has.get(STATISTICS, b"")))
            application = dict(attributes(has.get(APPLICATION, b"")))
            listed = attributes(application.get(TIN_STATISTICS, b""))
            return [tin(dict(attributes(values))) for _, values in listed]
    return []


def tin(has: Mapping[int, bytes]) -> Tin:
    """Return the counters of a tin from its netlink attributes."""

    def count(which: int) -> int:
        return number_in(has.get(which))

    def time_s(which: int) -> float:
        return count(which) / 1e6

    return Tin(
        threshold_bps=8 * count(12),
        target_s=time_s(13),
        interval_s=time_s(14),
        arrived_packets=count(2),
        dropped_packets=count(4),
        acks_dropped=count(6),
        marked_packets=count(8),
        backlog_packets=count(10),
        backlog_bytes=count(11),
        peak_delay_s=time_s(18),
        mean_delay_s=time_s(19),
        base_delay_s=time_s(20),
        sparse_flows=count(21),
        bulk_flows=count(22),
    )
