"""Limits of the emulator and the kernel, which are checked before the emulation changes
anything."""

from collections.abc import Collection, Iterator

from lasthop.emulated.ignored import CAN_FOLLOW
from lasthop.emulated.users import with_users
from lasthop.emulation.greedy import filled, is_greedy
from lasthop.enforce.congestion import CONTROLS
from lasthop.errors import UserError
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.transports import Ping, Udp
from lasthop.scenario.typed import CsmaScenario, Flow, SensorFlow, TcpFlow, UdpFlow
from lasthop.scenario.typed import Scenario as Typed

CONGESTION = {
    "reno": "reno",
    "newreno": "reno",
    "cubic": "cubic",
    "cubic_linux": "cubic",
    "bbr": "bbr",
}
"""The kernel's name of each congestion control in scenarios. The kernel's Reno is NewReno with
SACK."""
KNOWN = (*CONGESTION, *CONTROLS)
"""Congestion controls of scenarios that an emulation supports, including those that lasthop loads
into the kernel."""

LONGEST_S = 3600.0
"""Longest duration of an emulation. [s]"""

MAX_STATIONS = 1000
MAX_FLOWS = 4000
MAX_DATAGRAMS = 10_000
"""Largest number of datagrams that all sources together may send per second. [1/s]"""

MAX_WEB_CONNECTIONS = 500
"""Largest number of web connections that all sources together may begin per second. [1/s]"""

MIN_MSS = 88
"""Smallest MSS that the kernel accepts from a user (linux/tcp.h). [bytes]"""
UDP_HEADER = 28
"""Length of the IPv4 and UDP headers. [bytes]"""
MIN_REPORT = 4
"""Shortest payload of a sensor's report over UDP, which contains only the number of the report.
[bytes]"""


def check(scenario: Scenario) -> None:
    """Raise `UserError` for the first property of a scenario that cannot be emulated."""
    for problem in _refused(with_users(scenario)):
        raise UserError(
            f"{scenario.source}: {problem}",
            "simulate it instead: lasthop simulate",
        )


def check_followed(settings: Collection[str]) -> None:
    """Raise `UserError` if a setting of TCP cannot be applied to the kernel."""
    for each in settings:
        if each not in CAN_FOLLOW:
            known = " or ".join(CAN_FOLLOW)
            raise UserError(f'follow: "{each}": expected {known}')


def check_gro(scenario: Scenario) -> None:
    """Raise `UserError` if a receiver must acknowledge each segment. With GRO, the kernel sends a
    single ACK for merged segments."""
    for flow in with_users(scenario).tcp_flows:
        if not flow.tcp.delayed_ack:
            raise UserError(
                f"{scenario.source}: flow {flow.name}: `tcp.delayed_ack` is false: segments that "
                "are merged (gro) are acknowledged together"
            )


def check_programs(scenario: Scenario) -> None:
    """Raise `UserError` if the scenario has no host at which programs can run."""
    if isinstance(scenario.typed, CsmaScenario):
        raise UserError(
            f"{scenario.source}: `csma`: programs are not supported, since its links have one "
            "direction and only ACKs return"
        )


def _refused(scenario: Typed) -> Iterator[str]:
    duration_s, flows = scenario.duration_s, scenario.flows
    if duration_s > LONGEST_S:
        yield f"`duration`: {duration_s:g} s is too long: expected up to {LONGEST_S:g} s"
    if len(scenario.stations) > MAX_STATIONS:
        yield f"{len(scenario.stations)} stations: expected up to {MAX_STATIONS}"
    if len(flows) > MAX_FLOWS:
        yield f"{len(flows)} flows: expected up to {MAX_FLOWS}"
    for flow in flows:
        yield from _refused_of(flow)
    total = sum(datagrams_per_second(flow, scenario) for flow in scenario.udp_flows)
    if total > MAX_DATAGRAMS:
        yield f"{total:.0f} datagrams per second: expected up to {MAX_DATAGRAMS}"
    begun = sum(flow.web.connections_per_s for flow in scenario.tcp_flows if flow.web)
    if begun > MAX_WEB_CONNECTIONS:
        yield f"{begun:.0f} web connections per second: expected up to {MAX_WEB_CONNECTIONS}"


def _refused_of(flow: Flow) -> Iterator[str]:
    carrier = flow.transport
    if isinstance(carrier, Udp):
        if carrier.header_bytes != UDP_HEADER:
            yield (
                f"flow {flow.name}: headers of {carrier.header_bytes} B: expected {UDP_HEADER} B, "
                "those of IPv4 and UDP"
            )
        if isinstance(flow, SensorFlow) and carrier.payload_bytes < MIN_REPORT:
            yield (
                f"flow {flow.name}: reports of {carrier.payload_bytes} B: expected at least "
                f"{MIN_REPORT} B"
            )
        if isinstance(flow, UdpFlow) and flow.adapts:
            yield (
                f"flow {flow.name}: emulations have no call whose rate adapts (`control`): "
                'expected "none", or a program, such as a browser at the station (`programs`, '
                "--with)"
            )
    elif isinstance(carrier, Ping):
        return
    elif isinstance(flow, TcpFlow) and flow.stream is not None:
        yield (
            f"flow {flow.name}: emulations have no player of adaptive video (`stream`): expected "
            "a program, such as a browser at the station (`programs`, --with)"
        )
    elif isinstance(flow, TcpFlow) and flow.station and flow.web is not None:
        yield (
            f"flow {flow.name}: emulations have web traffic (`web`) only between wired nodes: "
            "expected a program, such as a browser at the station (`programs`, --with)"
        )
    elif isinstance(flow, TcpFlow) and flow.is_paced:
        yield (
            f"flow {flow.name}: limited by its application (`rate`, `every` or `on`): supported "
            "are TCP senders that always have data"
        )
    elif carrier.congestion == "bbr3":
        yield (
            f"flow {flow.name}: congestion bbr3: the kernels of emulations have no BBR v3: "
            "expected bbr, which is version 1"
        )
    elif carrier.congestion not in KNOWN:
        known = ", ".join(KNOWN)
        yield f"flow {flow.name}: congestion {carrier.congestion}: expected one of {known}"
    elif carrier.mss_bytes < MIN_MSS:
        yield (
            f"flow {flow.name}: mss of {carrier.mss_bytes} B: expected at least {MIN_MSS} B, the "
            "minimum of the kernel's TCP"
        )


def initial_rto_s(scenario: Scenario) -> float:
    """Return the initial RTO of the scenario, which must be the same for all flows. [s]

    Raises
    ------
    UserError
        If the values of flows differ, or if no flow has a value.
    """
    results = sorted({flow.tcp.initial_rto_s for flow in with_users(scenario).tcp_flows})
    if len(results) == 1:
        return results[0]
    values = " and ".join(f"{each:g} s" for each in results) or "no flow has a value"
    raise UserError(
        f"{scenario.source}: `tcp.initial_rto`: {values}: the kernel supports one value for all "
        "flows"
    )


def datagrams_per_second(flow: UdpFlow, scenario: Typed) -> float:
    """Return the average number of datagrams that a flow sends per second. [1/s]

    A greedy source keeps a queue full: the first queue on its path that has a rate. The source
    therefore sends so fast that, even after losses before the queue, its rate exceeds the rate of
    the queue.
    """
    rate_bps = filled(flow, scenario).needed_bps if is_greedy(flow) else flow.udp.rate_bps
    return rate_bps / (8 * flow.udp.payload_bytes)


def filling_s(flow: UdpFlow, scenario: Typed) -> float:
    """Return the time for which a greedy flow sends at twice its rate to fill its queue; 0 for
    other flows. [s]

    The result is the time in which a full queue drains. During this time, one half of the datagrams
    replaces the datagrams that leave the queue, and the other half fills the queue.
    """
    return filled(flow, scenario).drain_s if is_greedy(flow) else 0.0
