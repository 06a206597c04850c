"""Phase effects: queues at which the order of arrivals, not chance, decides which flow has losses.

Packets of all replications have the same phases, or random phases that last until the end of the
run. Therefore the mean over more replications still contains the effect. Five kinds are known:

*Round-trip times.* If nothing is random, packets of flows with several round-trip times arrive at a
drop-tail queue in fixed phases. See Floyd and Jacobson, "On traffic phase effects in
packet-switched gateways", Internetworking: Research and Experience 3, 1992.

*A link of the same rate.* While the link before a full queue is busy, its packets arrive one packet
time apart, always at the same phase of the queue's departures. Either each of these packets arrives
just after a departure and is accepted, or none is. Take two links of 100 Mb/s with thresholds of 15
packets. The flows that join at the second link lose 3.6 % of their packets, but 2.9 % if the rates
differ by 0.3 % (study red-fig19). Exact multiples of the rate have the same effect.

*Access links whose rate divides that of the queue.* The packets of the hosts arrive in lock step,
and the same flows lose packets repeatedly. If 12 flows with access links of 20 Mb/s share a link of
20 Mb/s, one flow gets the whole link.

*Constant-rate datagrams.* Sources overload a queue, and the ratio of their packet gaps is a ratio
of small whole numbers. The phases of their first datagrams then persist. If two sources of 15 Mb/s
share 20 Mb/s, one gets between 50 and 76 %. CoDel does not help, because it does not drop at
random. RED, PI, PIE and proportional drops do not help if their random drops are less than the
overload. The limit then drops the other packets, because a full queue is a drop-tail queue.
`lasthop.warnings.full_queue` computes this condition. Take two sources of 8 Mb/s over 10 Mb/s, with
RED thresholds of 5 and 15 packets and a limit of 20 packets. One of the sources gets between 1.8
and 8 Mb/s.

*Periodic losses.* One of every N packets is lost, and constant-rate sources send in a fixed order,
which repeats after some number of packets. If N and this number have a common factor, only some of
the sources lose packets. If N is a multiple of this number, only one source loses packets.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, islice
from math import gcd, inf
from typing import TYPE_CHECKING, Any

from lasthop.answers.summary import estimates_in
from lasthop.errors import listed
from lasthop.scenario.csma import CsmaFlow
from lasthop.scenario.queues import Queue, Threshold
from lasthop.scenario.rows import passing
from lasthop.scenario.transports import Udp
from lasthop.scenario.typed import (
    AggregatingCell,
    CellScenario,
    CsmaScenario,
    Flow,
    Link,
    Scenario,
    Station,
    TcpFlow,
    UdpFlow,
)
from lasthop.warnings.full_queue import DRAWN, lock_time_s

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["phase_effects", "phase_locks"]

DETERMINISTIC = ("drop_tail", "threshold")
"""Disciplines whose drops depend only on the order of arrivals, without random numbers."""

UNDRAWN = (*DETERMINISTIC, "codel")
"""Disciplines with a single queue that do not drop at random."""

MULTIPLE = 3
"""Largest integer ratio of a router link's rate to the next queue's rate at which phases lock. With
ratios of four and more, phases did not lock in simulations. [-]
"""

LOCKED_PART = 0.1
"""Fraction of the measured time in which a queue's limit drops packets, because random drops do not
yet remove the overload. Above this fraction, a warning is given. [-]
"""

PART = 0.25
"""Smallest fraction of a queue's input links that must have equal rates for a warning. Two of many
different rates may be equal by chance. [-]
"""

SIMPLE = 4
"""Largest denominator of the ratio of two packet rates (higher to lower) for which the sources'
phases lock. [-]
"""

MAX_FLOWS = 500
"""Maximum number of examined flows. Further flows are ignored, because reading 100,000 flows takes
too long.
"""


def phase_effects(scenario: Scenario, summary: Mapping[str, Any]) -> list[str]:
    """Return warnings about queues of a result that dropped packets, possibly in fixed phases."""
    drops = estimates_in(summary, "queues", "drop_probability")
    full = {name for name, part in drops.items() if part.mean}
    return [
        *(
            f"queue {name}: phase effects: flows with {rtts} round-trip times share a {kind} "
            "queue, and fractions of a packet time may decide which flow finds it full; intervals "
            'do not show this; set jitter = "packet" of the flows'
            for name, kind, rtts in exposed(scenario, full)
        ),
        *locks(scenario, full),
    ]


def phase_locks(scenario: Scenario) -> list[str]:
    """Return warnings, before a simulation, about queues that will drop packets in fixed phases."""
    return list(locks(scenario))


# -- several round-trip times -------------------------------------------------------------------


def exposed(scenario: Scenario, among: Collection[str]) -> Iterator[tuple[str, str, int]]:
    """Yield the queues without random drops at which TCP flows with different round-trip times
    meet. Flows over links with jitter are ignored.

    Only queues in `among` are checked. The tuple contains name and discipline of the queue, and the
    number of round-trip times.
    """
    queues = {
        link.name: link.queue.discipline.replace("_", "-")
        for link in scenario.routers
        if link.name in among
        and link.queue.discipline in DETERMINISTIC
        and link.rate_bps is not None
        and link.trace is None
    }
    if not queues:
        return
    delays_s: dict[str, float] = {}
    jittered: set[str] = set()
    for link in passing(scenario.links):
        delays_s[link.name] = link.delay_s
        if link.jitter_s:
            jittered.add(link.name)
    rtts: dict[str, set[float]] = {}
    for flow in scenario.tcp_flows:
        way = (*flow.forward, *flow.back)
        is_bulk = flow.web is None and not flow.station
        if is_bulk and jittered.isdisjoint(way):
            rtt = round(sum(delays_s[name] for name in way), 9)
            for name in flow.forward:
                if name in queues:
                    rtts.setdefault(name, set()).add(rtt)
    for name, result in rtts.items():
        if len(result) > 1:
            yield name, queues[name], len(result)


# -- locks --------------------------------------------------------------------------------------


MANY = 100
"""Smallest number of flows for which a queue is always assumed to become full. [-]"""


@dataclass(frozen=True)
class Hop:
    """A queue on the path of a flow's data."""

    name: str
    """Name of the queue in a result."""
    queue: Queue
    """Queue discipline with its settings."""
    limit_packets: int
    """Queue length at which arriving packets are dropped. [packets]"""
    rate_bps: float | None
    """Rate of the link; None if it is unlimited, and for a queue of a cell. [bit/s]"""
    is_radio: bool = False
    is_host: bool = False
    is_steady: bool = True
    """Whether packets leave a full queue at a constant interval; False if the link's rate follows a
    trace.
    """
    is_jittered: bool = False
    loss_every: int | None = None

    @property
    def discipline(self) -> str:
        """Name of the discipline in scenario files."""
        return self.queue.discipline

    @property
    def kind(self) -> str:
        """Name of the discipline in messages."""
        return self.discipline.replace("_", "-")

    def drops_by(self, disciplines: Collection[str]) -> bool:
        """Return whether the queue has one of these disciplines and can become full."""
        return (
            self.discipline in disciplines
            and (self.is_radio or self.rate_bps is not None)
            and not self.is_host
        )


@dataclass
class Meeting:
    """A queue, with the flows and the input links whose packets arrive at the queue."""

    hop: Hop
    flows: list[Flow | CsmaFlow] = field(default_factory=list)
    feeders: dict[str, tuple[Hop | None, list[Flow]]] = field(default_factory=dict)
    """Input links of the queue, each with its flows. The input link of a flow is the nearest
    preceding link with a rate; None if there is no such link. The key is the name of the link;
    without a link, it is the name of the flow.
    """
    constant: dict[str, tuple[Udp, float]] = field(default_factory=dict)
    """Constant-rate sources by flow name, each with its load: its arrival rate over the queue's
    departure rate.
    """

    def add(self, flow: Flow, before: Hop | None, load: float) -> None:
        """Add a flow whose packets arrive from the link `before`."""
        self.flows.append(flow)
        name = flow.name if before is None else before.name
        self.feeders.setdefault(name, (before, []))[1].append(flow)
        if isinstance(flow, UdpFlow) and flow.udp.arrivals == "constant":
            self.constant[flow.name] = (flow.udp, load)

    @property
    def load(self) -> float:
        """Total load of the constant-rate sources: arrival rate over the queue's departure rate.
        [-]
        """
        return sum(load for _, load in self.constant.values())

    @property
    def may_fill(self) -> bool:
        """Whether bulk TCP flows can fill the queue.

        The arrival rate must exceed the departure rate, and the sum of the windows must exceed the
        limit of the queue. `MANY` flows are always assumed to fill the queue.
        """
        if len(self.flows) >= MANY:
            return True
        bulk = [flow for flow in self.flows if isinstance(flow, TcpFlow) and flow.web is None]
        windows = sum(flow.tcp.window_packets for flow in bulk)
        arriving = sum(inf if hop is None else hop.rate_bps or inf for hop, _ in self.feeding)
        return windows > self.hop.limit_packets and arriving > (self.hop.rate_bps or inf)

    @property
    def feeding(self) -> Iterable[tuple[Hop | None, list[Flow]]]:
        """Input links of the queue (None if unlimited), each with its flows."""
        return self.feeders.values()


def is_bulk(flow: Flow) -> bool:
    """Return whether a flow is a TCP connection that always has data to send."""
    return isinstance(flow, TcpFlow) and flow.web is None


def locks(scenario: Scenario, full: Collection[str] | None = None) -> Iterator[str]:
    """Yield warnings about queues that may drop packets in fixed phases.

    If `full` is given, only these queues, which were full in a result, are checked. Queues with the
    same problem share one warning.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for meeting in meetings(scenario).values():
        if full is None or meeting.hop.name in full:
            for faults in (of_links, of_hosts, partial(of_sources, scenario)):
                for fault in faults(meeting, full is not None):
                    alike.setdefault((meeting.hop.kind, fault), []).append(meeting.hop.name)
        if meeting.hop.loss_every is not None:
            yield from of_losses(meeting, meeting.hop.loss_every)
    for (kind, fault), names in alike.items():
        queues = f"queue {names[0]}" if len(names) == 1 else f"queues {listed(names)}"
        yield f"{queues} ({kind}): phase lock: {fault}"


def of_links(meeting: Meeting, was_full: bool) -> Iterator[str]:
    """Yield the text of a warning if an input link from a router has the queue's rate, or a small
    multiple of this rate.
    """
    hop, rate_bps = meeting.hop, meeting.hop.rate_bps
    if hop.is_radio or not hop.drops_by(DETERMINISTIC) or not hop.is_steady or not rate_bps:
        return
    if len(meeting.feeders) < 2 or not (was_full or meeting.may_fill):
        return
    from fractions import Fraction

    for feeder, flows in meeting.feeding:
        if feeder is None or feeder.is_host or not feeder.is_steady or not feeder.rate_bps:
            continue
        ratio = Fraction(int(feeder.rate_bps), int(rate_bps))
        locked = ratio.numerator == 1 or (ratio.denominator == 1 and ratio <= MULTIPLE)
        if locked and any(map(is_bulk, flows)):
            times = "the same rate" if ratio == 1 else f"exactly {ratio} times the rate"
            yield (
                f"the link before has {times}, {mbps(feeder.rate_bps)}. Its packets come at the "
                "same phase of every departure and have an advantage, or a disadvantage, in all "
                "replications; set rates that differ, by 0.3 % for example (`rate_spread` of a "
                "parking_lot)"
            )


def of_hosts(meeting: Meeting, was_full: bool) -> Iterator[str]:
    """Yield the text of a warning if several access links have equal rates that divide the queue's
    rate.
    """
    hop, rate_bps = meeting.hop, meeting.hop.rate_bps
    if hop.is_radio or not hop.drops_by(DETERMINISTIC) or not hop.is_steady or not rate_bps:
        return
    if not (was_full or meeting.may_fill):
        return
    equal: dict[int, int] = {}
    for feeder, flows in meeting.feeding:
        if feeder is None or not feeder.is_host or feeder.is_jittered or not feeder.rate_bps:
            continue
        if any(map(is_bulk, flows)) and int(rate_bps) % int(feeder.rate_bps) == 0:
            equal[int(feeder.rate_bps)] = equal.get(int(feeder.rate_bps), 0) + 1
    for own_bps, count in equal.items():
        if count >= max(2.0, PART * len(meeting.feeders)):
            times = int(rate_bps) // own_bps
            rate = "the same" if times == 1 else f"exactly {times} times that"
            yield (
                f"several flows have access links of {mbps(own_bps)}, and the queue's rate is "
                f"{rate}, so that packets arrive in lock step and the same flows lose "
                'repeatedly; set jitter = "packet" of the flows'
            )


def of_sources(scenario: Scenario, meeting: Meeting, was_full: bool) -> Iterator[str]:
    """Yield the text of a warning if constant-rate sources with fixed phases overload the queue."""
    is_drawn = meeting.hop.drops_by(DRAWN)
    if is_drawn and not limit_binds(scenario, meeting):
        return
    if not is_drawn and not meeting.hop.drops_by(UNDRAWN):
        return
    alone = was_full and len(meeting.constant) == len(meeting.flows)
    if meeting.load <= 1.0 and not alone:
        return
    if not keep_phases([udp for udp, _ in meeting.constant.values()]):
        return
    in_calls = any(isinstance(flow, UdpFlow) and flow.call for flow in meeting.flows)
    remedy = "run more replications" if in_calls else 'set arrivals = "poisson" of these flows'
    yield (
        f"{len(meeting.constant)} constant-rate UDP flows ({listed([*meeting.constant])}) "
        f"overload it,{FULL.format(meeting.hop.kind) if is_drawn else ''} and the phases of their "
        f"first datagrams decide until the end which flow finds room; {remedy}"
    )


FULL = " {} drops less than the overload, so that the queue stays full,"
"""Clause of a warning about a random-drop discipline whose queue stays full."""


def limit_binds(scenario: Scenario, meeting: Meeting) -> bool:
    """Return whether the limit of a queue drops datagrams for long enough, in addition to random
    drops.

    The limit must drop packets of constant-rate sources for more than the fraction `LOCKED_PART` of
    the measured time.
    """
    load = meeting.load
    if load <= 1.0:
        return False
    sources = [udp for udp, _ in meeting.constant.values()]
    service_s = load / float(sum(map(packet_rate, sources)))
    packet = max(udp.packet_bytes for udp in sources), service_s
    hop = meeting.hop
    until_s = lock_time_s(hop.queue, hop.limit_packets, load, packet)
    measured_s = scenario.duration_s - scenario.warmup_s
    return until_s - scenario.warmup_s > LOCKED_PART * measured_s


def of_losses(meeting: Meeting, every: int) -> Iterator[str]:
    """Yield a warning if periodic losses always affect the same constant-rate source."""
    if len(meeting.constant) < max(2, len(meeting.flows)):
        return
    rates = [packet_rate(udp) for udp, _ in meeting.constant.values()]
    shortest = min(rates)
    turns = [rate / shortest for rate in rates]
    scale = 1
    for each in turns:
        scale = scale * each.denominator // gcd(scale, each.denominator)
    cycle = int(sum(each * scale for each in turns))
    common = gcd(every, cycle)
    if common > 1:
        lossy = (
            "All losses are of the same flow"
            if common == cycle
            else f"All losses are at {cycle // common} of these {cycle} positions"
        )
        yield (
            f"link {meeting.hop.name}: phase lock: one of every {every} packets is lost, and "
            f"{len(rates)} constant-rate UDP flows ({listed([*meeting.constant])}) "
            f"repeat their order every {cycle} packets. {lossy}; set "
            'arrivals = "poisson" of these flows, or loss = { probability = ... }'
        )


def keep_phases(sources: Sequence[Udp]) -> bool:
    """Return whether any two sources have packet rates in a ratio of small whole numbers."""
    rates = [packet_rate(udp) for udp in sources]
    different = sorted(set(rates))
    if len(different) < len(rates):
        return True
    ratios = (high / low for low, high in combinations(different[:SOURCES], 2))
    return any(ratio.denominator <= SIMPLE for ratio in ratios)


SOURCES = 30
"""Maximum number of different packet rates that are compared in pairs. Further rates are ignored.
"""


def packet_rate(udp: Udp) -> "Fraction":
    """Return the packet rate of a constant-rate source. [packets/s]"""
    from fractions import Fraction

    return Fraction(int(udp.rate_bps), 8 * udp.payload_bytes)


def mbps(rate_bps: float) -> str:
    """Return a rate as text with the unit Mb/s."""
    return f"{rate_bps / 1e6:g} Mb/s"


# -- paths --------------------------------------------------------------------------------------


NONE = Queue(discipline="none")
"""Placeholder for the queue of a wire that has none."""

Place = tuple[str, str]
"""Identity of a queue: its name, and its access category in a cell (empty elsewhere)."""


def meetings(scenario: Scenario) -> dict[Place, Meeting]:
    """Return the queues on the paths of the first flows, each with its flows, in path order.

    If constant-rate sources overload a queue, later queues on their paths ignore these sources.
    """
    if isinstance(scenario, CsmaScenario):
        return of_conflicts(scenario)
    cell = isinstance(scenario, CellScenario)
    if not cell and not any(may_lock(link) for link in scenario.routers):
        return {}
    hosts = len(scenario.routers) + 4 * MAX_FLOWS
    links = {link.name: of_link(link) for link in islice(scenario.links, hosts)}
    results: dict[Place, Meeting] = {}
    paths: list[tuple[Flow, list[Place]]] = []
    for flow in islice(scenario.flows, MAX_FLOWS):
        path = path_of(flow, scenario, links)
        places = [(hop.name, flow.category if hop.is_radio else "") for hop in path]
        paths.append((flow, places))
        before: Hop | None = None
        for hop, place in zip(path, places, strict=True):
            meeting = results.setdefault(place, Meeting(hop))
            meeting.add(flow, before, load_of(flow, hop, scenario))
            if hop.is_radio:
                before = None
            elif hop.rate_bps is not None:
                before = hop
    overloaded = {place for place, meeting in results.items() if meeting.load > 1.0}
    for flow, places in paths:
        first = next((k for k, place in enumerate(places) if place in overloaded), len(places))
        for place in places[first + 1 :]:
            results[place].constant.pop(flow.name, None)
    return results


def of_conflicts(scenario: CsmaScenario) -> dict[Place, Meeting]:
    """Return the queues at the first links of routes in a conflict graph, each with its flows."""
    csma = scenario.csma
    wireless = {link.name for link in csma.links}
    results: dict[Place, Meeting] = {}
    some = list(islice(csma.flows, MAX_FLOWS))
    longest = max((flow.transport.packet_bytes for flow in some), default=1)
    for flow in some:
        first = flow.route[0]
        if first not in wireless:
            continue
        queue = Queue(discipline="drop_tail")
        hop = Hop(first, queue, csma.queue_packets, None, is_radio=True)
        meeting = results.setdefault((first, ""), Meeting(hop))
        meeting.flows.append(flow)
        if flow.udp is not None and flow.udp.arrivals == "constant":
            most_pps = csma.active_rate_pps(flow.udp.packet_bytes / longest)
            meeting.constant[flow.name] = (flow.udp, float(packet_rate(flow.udp)) / most_pps)
    return results


def may_lock(link: Link) -> bool:
    """Return whether drops at a router's link may be phase-locked."""
    return link.loss_every is not None or (
        link.rate_bps is not None and link.queue.discipline in (*UNDRAWN, *DRAWN)
    )


def of_link(link: Link) -> Hop:
    """Return the queue of a wired link."""
    return Hop(
        link.name,
        *drops(link.queue, link.queue_packets),
        link.rate_bps,
        is_host=link.of_host,
        is_steady=link.trace is None,
        is_jittered=link.jitter_s > 0.0,
        loss_every=link.loss_every,
    )


def drops(queue: Queue, limit_packets: int) -> tuple[Queue, int]:
    """Return a queue, and the queue length at which it drops arriving packets. [packets]"""
    if isinstance(queue, Threshold):
        limit_packets = min(limit_packets, queue.threshold_packets)
    return queue, limit_packets


def path_of(flow: Flow, scenario: Scenario, links: Mapping[str, Hop]) -> list[Hop]:
    """Return the queues on the path of a flow's data, in order."""
    wired = [links[name] for name in flow.forward if name in links]
    if not isinstance(scenario, CellScenario) or not flow.station:
        return wired
    ap, station = scenario.cell.ap, scenario.station[flow.station]
    if flow.is_up:
        own = drops(station.queue, station.queue_packets)
        radio = Hop(station.name, *own, None, is_radio=True)
        return [radio, of_wire(scenario, "up"), *wired]
    radio = Hop("ap", *drops(ap.queue, ap.queue_packets), None, is_radio=True)
    return [*wired, of_wire(scenario, "down"), radio]


def of_wire(scenario: Scenario, way: str) -> Hop:
    """Return the queue of one direction of a cell's wire."""
    wire = scenario.wire
    rate_bps, trace = wire.rate_bps, wire.trace
    queue, limit = wire.queue, wire.queue_packets
    if way == "up":
        queue, limit = wire.back_queue or queue, wire.back_queue_packets or limit
        trace = wire.back_trace or (None if wire.back_rate_bps else wire.trace)
        rate_bps = wire.back_rate_bps or wire.rate_bps
    return Hop(
        f"wire/{way}",
        *(drops(queue, limit) if queue else (NONE, 0)),
        rate_bps,
        is_steady=trace is None,
        loss_every=wire.loss_every,
    )


def load_of(flow: Flow, hop: Hop, scenario: Scenario) -> float:
    """Return a constant-rate source's load of a queue: its arrival rate over the departure rate.
    [-]

    For a queue of a cell, the load is a lower bound, since collisions and channel errors are
    ignored.
    """
    if not isinstance(flow, UdpFlow) or flow.udp.arrivals != "constant":
        return 0.0
    packets = float(packet_rate(flow.udp))
    if not hop.is_radio:
        return 8.0 * flow.udp.packet_bytes * packets / hop.rate_bps if hop.rate_bps else 0.0
    assert isinstance(scenario, CellScenario)
    return packets * least_exchange_s(flow, scenario.station[flow.station], scenario)


def least_exchange_s(flow: UdpFlow, station: Station, scenario: CellScenario) -> float:
    """Return the smallest air time of one datagram, including its channel access. [s]"""
    from lasthop.models.dcf.airtime import aifs_s, exchange_s

    cell = scenario.cell
    rate_bps = station.rate_bps if flow.is_up else station.downlink_rate_bps
    if isinstance(cell, AggregatingCell):
        return 8.0 * flow.udp.packet_bytes / rate_bps
    controls = station.uplink_control_bps if flow.is_up else station.downlink_control_bps
    access = (station if flow.is_up else cell.ap).access(flow.category)
    time_s = exchange_s(cell, flow.udp.packet_bytes, rate_bps, *controls)
    if access.has_bursts:
        return time_s
    return time_s + aifs_s(cell, access.aifsn) + 0.5 * access.cwmin * cell.slot_s
