"""The thirty cases in which the engine's CAKE is compared with the kernel's `sch_cake`, and the
rules of the comparison. The plan was written before the first comparison.

A case with `Datagrams` compares only the queue: each flow sends equal packets at equal gaps, whose
rate and start follow from the seed. Both sides therefore receive the same list of packets. A case
with `Tcp` uses the TCP of user-mode Linux, through the kernel's queue or through the engine's
queue, in simulated time. Both kinds differ only by the queue.

Bands of the comparison, with the equivalence test of `equivalence.py` over the ten seeds:

- goodput of each group of flows, and total goodput: 2 %;
- Jain's index of the goodputs of all flows: 0.01;
- 95th percentile of the time in the queue, for each group of flows: 10 %;
- dropped and marked packets, and for each tin the sent, dropped and marked packets: 10 %.

For datagrams, the confidence interval is that of the differences per seed, because both sides
receive the same packets. For TCP, it is that of independent means.

Two bands have a least absolute width: `LEAST_DELAY_S` for delays, and a tenth of `FEW` for counts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from random import Random

WARMUP_S, LENGTH_S = 5.0, 20.0
"""Start of the measured period, and end of a run. [s]"""
SEEDS = tuple(range(1, 11))
GOODPUT_BAND, JAIN_BAND, DELAY_BAND, COUNT_BAND = 0.02, 0.01, 0.10, 0.10
"""Largest differences at which results are called equal: relative, except that of Jain's index."""
FEW = 30
"""Number of packets per run below which the band of a count has its least width."""
LEAST_DELAY_S = 0.0005
"""Least width of the band of a delay: less than half the time of a packet at 10 Mbit/s. [s]"""
HEADER_BYTES, ACK_BYTES, PACKET_BYTES = 28, 40, 1500
NS_PER_S = 1_000_000_000
SPREAD = 0.05
"""Largest relative difference of the rate of a flow from the rate of its group, so that arrivals
are not in phase."""
START_S = 0.5
"""Flows start at random times until this time. [s]"""
TCP_START_S = 1.0
FIRST_PORT, LAST_PORT = 10_000, 59_000

CS1, CS2, CS3, CS4, CS5, CS6, CS7, EF, AF41 = 8, 16, 24, 32, 40, 48, 56, 46, 34
"""Values of the DSCP field (RFC 2474, 2597, 3246)."""


@dataclass(frozen=True)
class Cake:
    """Settings of CAKE, in the words of `tc`."""

    rate_bps: int = 10_000_000
    diffserv: str = "besteffort"
    flow_mode: str = "flows"
    rtt_ms: int = 100
    overhead_bytes: int = 0
    mpu_bytes: int = 0
    framing: str = "noatm"
    ack_filter: str = "no-ack-filter"
    memory_bytes: int | None = None

    @property
    def words(self) -> str:
        """Return the arguments of `tc`. Without the overhead of 0, `tc` also counts Ethernet
        headers."""
        memory = "" if self.memory_bytes is None else f" memlimit {self.memory_bytes}"
        return (
            f"bandwidth {self.rate_bps}bit {self.diffserv} {self.flow_mode} rtt {self.rtt_ms}ms "
            f"overhead {self.overhead_bytes} mpu {self.mpu_bytes} {self.framing} "
            f"{self.ack_filter}{memory}"
        )


TINS = {
    "besteffort": dict.fromkeys((0, CS1, CS2, CS3, CS4, CS5, CS6, CS7, EF, AF41), 0),
    "diffserv3": {CS1: 0, 0: 1, AF41: 1, EF: 2},
    "diffserv4": {CS1: 0, 0: 1, AF41: 2, EF: 3},
    "diffserv8": {CS1: 1, 0: 2, CS3: 3, AF41: 3, CS2: 5, CS5: 6, EF: 6, CS7: 7},
    "precedence": {0: 0, CS1: 1, CS2: 2, CS3: 3, CS4: 4, CS5: 5, CS6: 6, CS7: 7},
}
"""Number of the tin of a DSCP, in the order in which `tc` prints the tins (tc-cake(8))."""


@dataclass(frozen=True)
class Datagrams:
    """A group of UDP flows, each with its own ports. `source` and `sink` are numbers of hosts."""

    name: str
    count: int
    rate_bps: int
    """Rate of each flow, with IP headers. [bit/s]"""
    source: int = 0
    sink: int = 0
    packet_bytes: int = 1500
    """Size of an IP packet. [bytes]"""
    dscp: int = 0
    start_s: float = 0.0
    stop_s: float = LENGTH_S


@dataclass(frozen=True)
class Tcp:
    """A group of TCP connections that always have data. `is_down` connections send their data
    through the queue of the opposite direction, and only their ACKs pass the compared queue."""

    name: str
    count: int
    source: int = 0
    sink: int = 0
    congestion: str = "cubic"
    dscp: int = 0
    is_down: bool = False


@dataclass(frozen=True)
class Case:
    """A queue and its traffic."""

    name: str
    cake: Cake
    datagrams: tuple[Datagrams, ...] = ()
    tcp: tuple[Tcp, ...] = ()
    rtt_ms: int = 20
    """Round-trip propagation time of TCP. [ms]"""
    has_ecn: bool = False
    down: Cake | None = None
    """Queue of the opposite direction; None if that direction has no queue."""

    def key(self, side: str, seed: int) -> str:
        """Return the key under which a run of this case is stored."""
        return f"{self.name}, {side}, seed {seed}"


@dataclass(frozen=True)
class Flow:
    """One UDP flow of a run."""

    name: str
    group: Datagrams
    port: int
    first_ns: int
    """Time of the first packet. [ns]"""
    gap_ns: int

    def times_ns(self) -> Iterator[int]:
        """Yield the times of all packets. [ns]"""
        return iter(range(self.first_ns, round(NS_PER_S * self.group.stop_s), self.gap_ns))

    @property
    def rate_bps(self) -> float:
        """Rate of the flow, with IP headers. [bit/s]"""
        return 8 * self.group.packet_bytes * NS_PER_S / self.gap_ns


def flows(case: Case, seed: int) -> list[Flow]:
    """Return the UDP flows of a run."""
    draw = Random(f"{case.name} {seed}")
    made = []
    for group in case.datagrams:
        for number in range(1, group.count + 1):
            rate_bps = group.rate_bps * (1 + draw.uniform(-SPREAD, SPREAD))
            gap_ns = ceil(8 * group.packet_bytes * NS_PER_S / rate_bps)
            first_ns = round(NS_PER_S * (group.start_s + draw.uniform(0.0, START_S)))
            port = draw.randint(FIRST_PORT, LAST_PORT)
            made.append(Flow(f"{group.name}-{number}", group, port, first_ns, gap_ns))
    return made


def packets(some: list[Flow]) -> list[tuple[int, int]]:
    """Return the packets of a run in the order of their times: time [ns] and index of the flow."""
    return sorted((at_ns, index) for index, flow in enumerate(some) for at_ns in flow.times_ns())


def tcp_starts_s(case: Case, seed: int) -> dict[str, float]:
    """Return the start of each TCP connection of a run, by name. [s]"""
    draw = Random(f"{case.name} {seed} tcp")
    return {
        f"{group.name}-{number}": draw.uniform(0.0, TCP_START_S)
        for group in case.tcp
        for number in range(1, group.count + 1)
    }


def path_delay_ms(case: Case) -> float:
    """Return the delay between the queue and the sender, in the direction of the ACKs. [ms]

    CAKE releases a packet at the beginning of its transmission. The delay is therefore longer than
    the RTT by the transmission times of a packet.
    """
    only_acks = all(group.is_down for group in case.tcp)
    sent_bytes = ACK_BYTES if only_acks else PACKET_BYTES
    delay_ms = case.rtt_ms + 8e3 * sent_bytes / case.cake.rate_bps
    return delay_ms if case.down is None else delay_ms + 8e3 * PACKET_BYTES / case.down.rate_bps


# -- cases --------------------------------------------------------------------------------------

MBPS = 1_000_000
EIGHT_AGAINST_ONE_SOURCE = (
    Datagrams("eight", 8, 3 * MBPS // 2, source=0),
    Datagrams("one", 1, 8 * MBPS, source=1),
)
EIGHT_AGAINST_ONE_SINK = (
    Datagrams("eight", 8, 3 * MBPS // 2, sink=0),
    Datagrams("one", 1, 8 * MBPS, sink=1),
)
TRIPLE = (
    Datagrams("many", 6, 3 * MBPS // 2, source=0, sink=0),
    Datagrams("shared", 2, 3 * MBPS, source=1, sink=0),
    Datagrams("apart", 1, 8 * MBPS, source=2, sink=1),
)


def marked(rate_bps: int, **dscps: int) -> tuple[Datagrams, ...]:
    """Return one flow per DSCP, each with this rate."""
    return tuple(Datagrams(name, 1, rate_bps, dscp=dscp) for name, dscp in dscps.items())


OVERLOAD = (
    Datagrams("fast", 1, 12 * MBPS),
    Datagrams("middle", 2, 4 * MBPS),
    Datagrams("slow", 4, MBPS // 2),
)
LOW_RATE = (
    Datagrams("fast", 1, MBPS),
    Datagrams("middle", 2, MBPS // 2),
    Datagrams("voice", 1, 80_000, packet_bytes=200),
)
MIXED_SIZES = (
    Datagrams("large", 2, 4 * MBPS),
    Datagrams("medium", 2, 5 * MBPS // 2, packet_bytes=576),
    Datagrams("small", 2, 3 * MBPS // 10, packet_bytes=80),
)


def datagram_cases() -> Iterator[Case]:
    """Yield the cases with datagrams."""
    yield Case("flows", Cake(), EIGHT_AGAINST_ONE_SOURCE)
    yield Case("srchost", Cake(flow_mode="srchost"), EIGHT_AGAINST_ONE_SOURCE)
    yield Case("dsthost", Cake(flow_mode="dsthost"), EIGHT_AGAINST_ONE_SINK)
    yield Case("hosts", Cake(flow_mode="hosts"), TRIPLE)
    yield Case("dual-srchost", Cake(flow_mode="dual-srchost"), EIGHT_AGAINST_ONE_SOURCE)
    yield Case("dual-dsthost", Cake(flow_mode="dual-dsthost"), EIGHT_AGAINST_ONE_SINK)
    yield Case("triple-isolate", Cake(flow_mode="triple-isolate"), TRIPLE)
    classes = marked(4 * MBPS, background=CS1, ordinary=0, video=AF41, voice=EF)
    yield Case("besteffort", Cake(), classes)
    yield Case("diffserv3", Cake(diffserv="diffserv3"), classes)
    yield Case("diffserv4", Cake(diffserv="diffserv4"), classes)
    eight = marked(
        2 * MBPS, cs1=CS1, ordinary=0, cs2=CS2, cs3=CS3, af41=AF41, cs5=CS5, ef=EF, cs7=CS7
    )
    yield Case("diffserv8", Cake(diffserv="diffserv8"), eight)
    classes8 = marked(2 * MBPS, cs0=0, cs1=CS1, cs2=CS2, cs3=CS3, cs4=CS4, cs5=CS5, cs6=CS6)
    yield Case("precedence", Cake(diffserv="precedence"), classes8)
    light = (
        Datagrams("bulk", 4, 5 * MBPS // 2),
        Datagrams("background", 2, 3 * MBPS, dscp=CS1),
        Datagrams("video", 1, 2 * MBPS, packet_bytes=1200, dscp=AF41),
        Datagrams("voice", 2, 80_000, packet_bytes=200, dscp=EF),
    )
    yield Case("diffserv4, light voice", Cake(diffserv="diffserv4"), light)
    yield Case("overhead and mpu", Cake(overhead_bytes=38, mpu_bytes=84), MIXED_SIZES)
    yield Case("ATM", Cake(overhead_bytes=40, framing="atm"), MIXED_SIZES)
    yield Case("PTM", Cake(overhead_bytes=30, framing="ptm"), MIXED_SIZES)
    yield Case("1 Mb/s", Cake(rate_bps=MBPS), LOW_RATE)
    yield Case("rtt 10 ms", Cake(rtt_ms=10), OVERLOAD)
    yield Case("rtt 300 ms", Cake(rtt_ms=300), OVERLOAD)
    blue = (Datagrams("flood", 1, 20 * MBPS), Datagrams("modest", 4, 2 * MBPS))
    yield Case("unresponsive", Cake(), blue)
    yield Case("memory limit", Cake(memory_bytes=65_536), OVERLOAD)
    sparse = (
        Datagrams("bulk", 4, 4 * MBPS),
        Datagrams("sparse", 20, 50_000, packet_bytes=200),
        Datagrams("burst", 2, 2 * MBPS, start_s=8.0, stop_s=12.0),
    )
    yield Case("sparse flows", Cake(), sparse)


def tcp_cases() -> Iterator[Case]:
    """Yield the cases with TCP."""
    yield Case("TCP, flows", Cake(), tcp=(Tcp("cubic", 4), Tcp("reno", 4, congestion="reno")))
    hosts = (Tcp("eight", 8, source=0), Tcp("one", 1, source=1))
    yield Case("TCP, dual-srchost", Cake(flow_mode="dual-srchost"), tcp=hosts)
    classes = (Tcp("background", 2, dscp=CS1), Tcp("ordinary", 2), Tcp("video", 1, dscp=AF41))
    yield Case("TCP, diffserv4", Cake(diffserv="diffserv4"), tcp=classes)
    yield Case("TCP, ECN", Cake(), tcp=(Tcp("cubic", 4),), has_ecn=True)
    down = Cake(rate_bps=20 * MBPS)
    acks = (Tcp("down", 4, is_down=True),)
    up = Cake(rate_bps=MBPS // 4, ack_filter="ack-filter")
    yield Case("TCP, ack-filter", up, tcp=acks, down=down)
    up = Cake(rate_bps=MBPS // 4, ack_filter="ack-filter-aggressive")
    yield Case("TCP, ack-filter-aggressive", up, tcp=acks, down=down)
    near = Cake(rate_bps=20 * MBPS, rtt_ms=10)
    yield Case("TCP, rtt 10 ms", near, tcp=(Tcp("cubic", 4),), rtt_ms=5)
    slow = Cake(rate_bps=MBPS)
    flood = (Datagrams("flood", 1, 2 * MBPS), Datagrams("voice", 1, 80_000, packet_bytes=200))
    yield Case("TCP, 1 Mb/s, unresponsive", slow, flood, (Tcp("cubic", 2),), rtt_ms=50)


CASES: Mapping[str, Case] = {case.name: case for case in (*datagram_cases(), *tcp_cases())}
"""All cases by name."""
