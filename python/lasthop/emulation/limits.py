"""The limits of emulator and kernel, checked before anything is made."""

from collections.abc import Callable, Collection, Iterator, Mapping

from lasthop.congestion import CONTROLS
from lasthop.emulation.greedy import filled, is_greedy
from lasthop.emulation.users import with_users
from lasthop.errors import UserError
from lasthop.models.reading import (
    Compound,
    CsmaScenario,
    Flow,
    SensorFlow,
    Tcp,
    Udp,
    UdpFlow,
)
from lasthop.models.reading import Scenario as Typed
from lasthop.scenario import Scenario

CONGESTION = {"reno": "reno", "newreno": "reno", "cubic": "cubic", "cubic_linux": "cubic"}
"""The kernel's name of each congestion control that it has; its Reno is NewReno with SACK."""
KNOWN = (*CONGESTION, *CONTROLS)
"""Those, and those that an emulation loads for itself."""
PUBLISHED = Compound(alpha=0.125, beta=0.5, k=0.75, gamma_packets=30.0, zeta=0.5)
"""Parameters that Compound TCP has in the kernel, the engine's defaults."""

OWN: Mapping[str, tuple[Callable[[Tcp], object], tuple[object, ...]]] = {
    "initial_window": (lambda tcp: tcp.initial_cwnd_packets, (2, 10)),
    "min_rto": (lambda tcp: tcp.min_rto_s, (0.2,)),
    "initial_rto": (lambda tcp: tcp.initial_rto_s, (1.0,)),
    "ack_delay": (lambda tcp: tcp.ack_delay_s, (0.1,)),
    "ack_processing": (lambda tcp: tcp.ack_processing_s, (0.0,)),
    "ecn": (lambda tcp: tcp.ecn, (False,)),
    "compound": (lambda tcp: tcp.congestion != "compound" or tcp.compound, (True, PUBLISHED)),
}
"""Settings in which the kernel's TCP has its own way, with default and what the kernel does."""

CAN_FOLLOW = ("initial_rto", "initial_window")
"""Those of them that it can be made to follow."""

LONGEST_S = 3600.0
"""Longest emulation. [s]"""

MOST_STATIONS = 1000
MOST_FLOWS = 4000
MOST_DATAGRAMS = 10_000
"""Most datagrams that all sources together send in a second."""

MOST_WEB_CONNECTIONS = 500
"""Most web connections that all sources together begin in a second."""

LEAST_MSS = 88
"""Smallest segment that the kernel takes from a user (linux/tcp.h). [bytes]"""
UDP_HEADER = 28
"""Headers of IPv4 and UDP. [bytes]"""
LEAST_REPORT = 4
"""The number of a report that goes by UDP. [bytes]"""


def check(scenario: Scenario) -> None:
    """Raise `UserError` with the first thing that cannot be emulated."""
    for what in _refused(with_users(scenario)):
        raise UserError(
            f"{scenario.source}: {what}",
            "simulate it instead: lasthop simulate",
        )


def check_followed(settings: Collection[str]) -> None:
    """Raise `UserError` if the kernel cannot be made to follow a setting of TCP."""
    for each in settings:
        if each not in CAN_FOLLOW:
            known = " and ".join(CAN_FOLLOW)
            raise UserError(f"follow: {each}: expected {known}")


def check_gro(scenario: Scenario) -> None:
    """Raise `UserError` if each segment is to be acknowledged, which merged ones are not."""
    for flow in with_users(scenario).tcp_flows:
        if not flow.tcp.delayed_ack:
            raise UserError(
                f"{scenario.source}: flow {flow.name}: `tcp.delayed_ack` is false: segments that "
                "are merged (gro) are acknowledged together"
            )


def check_programs(scenario: Scenario) -> None:
    """Raise `UserError` if no program can run at any place of the scenario."""
    if isinstance(scenario.typed, CsmaScenario):
        raise UserError(
            f"{scenario.source}: `csma`: programs are not supported, since its links have one "
            "direction and only ACKs return"
        )


def _refused(scenario: Typed) -> Iterator[str]:
    duration_s, flows = scenario.duration_s, scenario.flows
    if duration_s > LONGEST_S:
        yield f"`duration`: {duration_s:g} s; an emulation lasts up to {LONGEST_S:g} s"
    if len(scenario.stations) > MOST_STATIONS:
        yield f"{len(scenario.stations)} stations; the emulator supports up to {MOST_STATIONS}"
    if len(flows) > MOST_FLOWS:
        yield f"{len(flows)} flows; the emulator supports up to {MOST_FLOWS}"
    for flow in flows:
        yield from _refused_of(flow)
    total = sum(datagrams_per_second(flow, scenario) for flow in scenario.udp_flows)
    if total > MOST_DATAGRAMS:
        yield f"{total:.0f} datagrams a second; the emulator sends up to {MOST_DATAGRAMS}"
    begun = sum(flow.web.connections_per_s for flow in scenario.tcp_flows if flow.web)
    if begun > MOST_WEB_CONNECTIONS:
        yield (
            f"{begun:.0f} web connections a second; the emulator begins up to "
            f"{MOST_WEB_CONNECTIONS}"
        )


def _refused_of(flow: Flow) -> Iterator[str]:
    carrier = flow.transport
    if isinstance(carrier, Udp):
        if carrier.header_bytes != UDP_HEADER:
            yield (
                f"flow {flow.name} has headers of {carrier.header_bytes} B; those of IPv4 and "
                f"UDP are {UDP_HEADER} B"
            )
        if isinstance(flow, SensorFlow) and carrier.payload_bytes < LEAST_REPORT:
            yield (
                f"flow {flow.name}: reports of {carrier.payload_bytes} B; the emulator's have "
                f"{LEAST_REPORT} B at least"
            )
    elif carrier.congestion not in KNOWN:
        known = ", ".join(KNOWN)
        yield f"flow {flow.name}: congestion {carrier.congestion}; the emulator has {known}"
    elif carrier.mss_bytes < LEAST_MSS:
        yield (
            f"flow {flow.name}: mss of {carrier.mss_bytes} B; the kernel's TCP accepts "
            f"{LEAST_MSS} B and more"
        )


def initial_rto_s(scenario: Scenario) -> float:
    """What all flows have before their first sample.

    Raises
    ------
    UserError
        If they differ, or there is none.
    """
    found = sorted({flow.tcp.initial_rto_s for flow in with_users(scenario).tcp_flows})
    if len(found) == 1:
        return found[0]
    said = " and ".join(f"{each:g} s" for each in found) or "no flow has one"
    raise UserError(
        f"{scenario.source}: `tcp.initial_rto`: {said}: the kernel supports one value for all flows"
    )


def unfollowed(scenario: Typed, followed: Collection[str] = ()) -> list[str]:
    """Settings of TCP which the kernel's does not follow, in words; those `followed` it does."""
    asked: dict[str, None] = {}
    for flow in scenario.tcp_flows:
        for setting, (value, fine) in OWN.items():
            if setting not in followed and value(flow.tcp) not in fine:
                asked[setting] = None
    return [
        f"`tcp.{setting}` has no effect in an emulation: the kernel's TCP uses its own setting"
        for setting in asked
    ]


def datagrams_per_second(flow: UdpFlow, scenario: Typed) -> float:
    """Datagrams that a flow sends in a second, on average.

    A greedy source sends more than fits into the first queue on its path that has a rate, even
    after the losses before that queue.
    """
    rate_bps = filled(flow, scenario).needed_bps if is_greedy(flow) else flow.udp.rate_bps
    return rate_bps / (8 * flow.udp.payload_bytes)


def filling_s(flow: UdpFlow, scenario: Typed) -> float:
    """Return how long a greedy flow sends at twice its rate to fill its queue; 0 for others. [s]

    In the time in which the full queue drains, one half of these datagrams replaces those that
    leave. The other half fills the queue.
    """
    return filled(flow, scenario).drain_s if is_greedy(flow) else 0.0
