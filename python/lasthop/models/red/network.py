"""Search for the bottleneck of a network: the link that is full if TCP flows share all links
fairly.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from lasthop.errors import listed
from lasthop.models.errors import ModelError
from lasthop.progress.cost_limits import check_time
from lasthop.scenario.typed import Flow, Link, Scenario, TcpFlow, UdpFlow

FULL = 1.0 - 1e-9
"""Ratio of load to rate above which a link is full. [-]"""
SAME_RTT = 0.01
"""Relative difference below which round-trip times belong to the same group. [-]"""

AnyFlow = TypeVar("AnyFlow", bound=Flow)


@dataclass(frozen=True)
class Path(Generic[AnyFlow]):
    """Path of a flow through the network.

    Parameters
    ----------
    flow : Flow
        Flow of the scenario.
    forward, back : tuple of Link
        Links that the data passes, and links that the ACKs pass.
    """

    flow: AnyFlow
    forward: tuple[Link, ...]
    back: tuple[Link, ...]

    @property
    def name(self) -> str:
        """Name of the flow."""
        return self.flow.name

    def passes(self, link: str) -> bool:
        """Return whether the flow's data passes a link."""
        return any(each.name == link for each in self.forward)


@dataclass(frozen=True)
class TcpPath(Path[TcpFlow]):
    """Path of a TCP flow."""

    @property
    def packet_bytes(self) -> int:
        """Length of a full packet, including headers. [bytes]"""
        return self.flow.tcp.packet_bytes

    def rtt_s(self, queue: str, counted: bool) -> float:
        """Return the round-trip time without queues: propagation and transmission. [s]

        Parameters
        ----------
        queue : str
            Link whose queue the model contains.
        counted : bool
            Whether the result includes the transmission time of the link `queue`. If false, the
            queue of the model includes this time.
        """
        data = sum(
            sent_s(link, self.packet_bytes)
            for link in self.forward
            if counted or link.name != queue
        )
        acks = sum(sent_s(link, self.flow.tcp.header_bytes) for link in self.back)
        delay = sum(link.delay_s for link in (*self.forward, *self.back))
        return delay + data + acks


@dataclass(frozen=True)
class Group:
    """Flows with nearly the same round-trip time.

    Parameters
    ----------
    flows : tuple of str
        Names of the flows.
    rtt_s : float
        Mean of their round-trip times without queues. [s]
    """

    flows: tuple[str, ...]
    rtt_s: float


def sent_s(link: Link, size_bytes: float) -> float:
    """Return the transmission time of a packet on a link. [s]"""
    return 0.0 if link.rate_bps is None else 8.0 * size_bytes / link.rate_bps


def paths_of(scenario: Scenario) -> tuple[list[TcpPath], list[Path[UdpFlow]]]:
    """Return the paths of TCP flows, and the paths of UDP flows."""
    links = {link.name: link for link in scenario.links}

    def over(names: Sequence[str]) -> tuple[Link, ...]:
        return tuple(links[name] for name in names)

    return (
        [TcpPath(flow, over(flow.forward), over(flow.back)) for flow in scenario.tcp_flows],
        [Path(flow, over(flow.forward), over(flow.back)) for flow in scenario.udp_flows],
    )


def bottleneck(tcp: Sequence[TcpPath], udp: Sequence[Path[UdpFlow]]) -> Link:
    """Return the bottleneck: the only link whose queue all TCP flows fill.

    The function finds full links by max-min fair sharing, which TCP only approximates. Each flow's
    rate is also limited by its receive window divided by its round-trip time.

    Raises
    ------
    ModelError
        If no link is full, if the full link does not limit every flow, or if several links are
        full.
    """
    used = {link.name: link for path in tcp for link in path.forward}
    load = dict.fromkeys(used, 0.0)
    for other in udp:
        for link in other.forward:
            if link.name in load:
                load[link.name] += other.flow.udp.rate_bps
    rate, held_by = shared(tcp, load)
    full = [
        link
        for name, link in used.items()
        if link.rate_bps is not None and load[name] >= FULL * link.rate_bps
    ]
    routers = [link for link in full if not link.of_host]
    if not routers:
        slow = held_by[tcp[0].name]
        raise ModelError(
            "section II", f"no link is full: flow {tcp[0].name} is held back by {slow}"
        )
    if len(routers) > 1:
        names = listed([link.name for link in routers])
        raise ModelError(
            "section II",
            f"links {names} are full; for two full links see the stability case `parking-lot`",
        )
    [result] = routers
    for path in tcp:
        if held_by[path.name] != result.name:
            raise ModelError(
                "section II",
                f"link {result.name} is full, and flow {path.name} is held "
                f"back at {rate[path.name] / 1e6:.4g} Mb/s by {held_by[path.name]}",
            )
    return result


def shared(
    tcp: Sequence[TcpPath], load: dict[str, float]
) -> tuple[dict[str, float], dict[str, str]]:
    """Share the links by max-min fairness. Return each flow's rate [bit/s] and the link that limits
    the flow.

    On entry `load` contains the load of other traffic on each link [bit/s], and on return the total
    load.
    """
    rate = {path.name: 0.0 for path in tcp}
    most = {
        path.name: 8.0 * path.packet_bytes * path.flow.tcp.window_packets / path.rtt_s("", True)
        for path in tcp
        if path.rtt_s("", True) > 0.0
    }
    held: dict[str, str] = {}
    while len(held) < len(tcp):
        check_time("filling links max-min fairly")
        rising = [path for path in tcp if path.name not in held]
        users = Counter(link.name for path in rising for link in path.forward)
        rates = {link.name: link.rate_bps for path in rising for link in path.forward}
        room = [
            (max(0.0, rate_bps - load[name]) / users[name], name)
            for name, rate_bps in rates.items()
            if rate_bps is not None
        ]
        room += [(most[p.name] - rate[p.name], "") for p in rising if p.name in most]
        if not room:
            raise ModelError("section II", f"no link of flow {rising[0].name} has a rate")
        step, _ = min(room)
        for path in rising:
            rate[path.name] += step
            for link in path.forward:
                load[link.name] += step
        for path in rising:
            if rate[path.name] >= FULL * most.get(path.name, float("inf")):
                window = path.flow.tcp.window_packets
                held[path.name] = f"its receive window of {window} packets"
                continue
            for link in path.forward:
                if link.rate_bps is not None and load[link.name] >= FULL * link.rate_bps:
                    held[path.name] = link.name
    return rate, held


def groups_of(tcp: Sequence[TcpPath], queue: str, counted: bool) -> list[Group]:
    """Return the flows in groups with nearly equal round-trip times, shortest round-trip time
    first.
    """
    ordered = sorted(((path.rtt_s(queue, counted), path.name) for path in tcp), key=lambda x: x[0])
    groups: list[list[tuple[float, str]]] = []
    for rtt, name in ordered:
        if groups and rtt <= groups[-1][0][0] * (1.0 + SAME_RTT):
            groups[-1].append((rtt, name))
        else:
            groups.append([(rtt, name)])
    return [
        Group(tuple(name for _, name in group), sum(rtt for rtt, _ in group) / len(group))
        for group in groups
    ]
