"""Greedy UDP sources in an emulation: the queue that each source keeps full, and the source's rate.

In a simulation, a greedy source sends a datagram whenever the queue is not full. In an emulation, a
socket cannot observe the queue. The source therefore sends at a constant rate that is higher than
the rate at which the queue drains. If the queue belongs to a link, the source first sends at twice
its constant rate, to fill the queue.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lasthop.scenario.typed import BEST_EFFORT, CsmaScenario, Flow, Link, UdpFlow, Wire
from lasthop.scenario.typed import Scenario as Typed

VARYING = 2
"""Ratio of the rate of a greedy source to the rate of its link, if the link's rate varies. For a
link on the air, the maximum rate of the link is used. For a link with a trace, the average rate is
used. [-]"""


@dataclass(frozen=True)
class Filled:
    """Queue that a greedy source keeps full: the first queue on its path that has a rate.

    Attributes
    ----------
    name : str
        The queue's name in a result; empty if the queue changes or has no name there.
    rate_bps : float
        Rate of payload that keeps the queue full if no datagram is lost before it. [bit/s]
    passing : float
        Fraction of datagrams that are not lost before the queue. [-]
    on_air : bool
        Whether `rate_bps` is the rate of frames, which is higher than the throughput on the air.
    drain_s : float
        Time in which the full queue drains, for a link with a constant rate. [s]
    """

    name: str
    rate_bps: float
    passing: float = 1.0
    on_air: bool = False
    drain_s: float = 0.0

    @property
    def needed_bps(self) -> float:
        """Rate of payload at which a source keeps the queue full, despite all losses before the
        queue. [bit/s]

        Random losses with probability p cause gaps in the arrivals at the queue. The source
        therefore sends so fast that the rate after the losses exceeds the queue's rate by the
        fraction p. The queue then has room for less than one packet on average (diffusion
        approximation: (1 + p) / 2).
        """
        excess = 0.0 if self.on_air else 1.0 - self.passing
        return self.rate_bps * (1.0 + excess) / self.passing


def is_greedy(flow: UdpFlow) -> bool:
    """Return whether a flow is greedy, so that it keeps a queue full."""
    return flow.udp.arrivals == "greedy"


def filled(flow: UdpFlow, scenario: Typed) -> Filled:
    """Return the queue that a greedy flow keeps full."""
    if isinstance(scenario, CsmaScenario):
        longest = max(user.transport.packet_bytes for user in scenario.csma.flows)
        rate_pps = VARYING * scenario.csma.active_rate_pps(flow.udp.packet_bytes / longest)
        route = next(user.route for user in scenario.csma.flows if user.name == flow.name)
        return Filled(route[0], 8 * flow.udp.payload_bytes * rate_pps, on_air=True)
    station = scenario.station[flow.station]
    category = "" if flow.category == BEST_EFFORT else f"/{flow.category}"
    if flow.is_up:
        return Filled(f"{station.name}{category}", station.rate_bps, on_air=True)
    links = {link.name: link for link in scenario.links}
    path: list[Link | Wire] = [*(links[name] for name in flow.forward), scenario.wire]
    passing = 1.0
    for link in path:
        passing *= 1.0 - link.loss
        if link.rate_bps is not None:
            name = link.name if isinstance(link, Link) else "wire/down"
            if link.trace is not None:
                return Filled(name, link.rate_bps * VARYING, passing)
            drain_s = 8 * flow.udp.packet_bytes * link.queue_packets / link.rate_bps
            return Filled(name, link.rate_bps, passing, drain_s=drain_s)
    if scenario.vsb is None:
        return Filled(f"ap{category}", station.downlink_rate_bps, passing, on_air=True)
    # The source must fill the queue of the access point until the virtual shared bottleneck starts,
    # and then the queue of the bottleneck. The larger of the two rates fills both queues.
    shared_bps = scenario.vsb.rate_bps or 0.0
    return Filled("", max(station.downlink_rate_bps, shared_bps), passing)


def losses(
    scenario: Typed,
    lists: Mapping[str, Any],
    counts: Mapping[str, tuple[int, int]],
    *,
    programs_run: bool,
) -> dict[str, float | None]:
    """Return the loss probability of each greedy flow, excluding drops of the queue that the flow
    keeps full.

    In a simulation, a greedy source does not offer a datagram to a full queue. In an emulation, the
    excess rate of the source causes drops at this queue, which are not losses of the network.

    Let f be the fraction of the flow's datagrams that were lost, and d the queue's drop
    probability. Of the datagrams that the queue did not drop, the fraction (1 - f) / (1 - d)
    arrived. The result is 1 minus this fraction. The formula is valid only if no other packets pass
    the queue, since d is not measured per flow.

    f and d are fractions of the datagrams that entered the network. While a queue fills, many of
    these datagrams have neither arrived nor been lost. The measured loss probability of the flow
    does not include such datagrams.

    Parameters
    ----------
    scenario : Scenario
        The scenario, with users of a conflict graph as flows.
    lists : mapping
        Quantities that were measured in the network, by the name of the list that contains them.
    counts : mapping
        Number of datagrams sent and number of datagrams arrived since the end of the warm-up, by
        the flow's name.
    programs_run : bool
        Whether programs send packets, too.

    Returns
    -------
    dict
        The loss probability by the flow's name; None if drops and losses cannot be distinguished.
    """
    drops = means(lists.get("queues", ()), "drop_probability")
    results: dict[str, float | None] = {}
    measured = means(lists["flows"], "loss_probability")
    for flow in scenario.udp_flows:
        lost = measured.get(flow.name, 0.0)
        if not is_greedy(flow) or not lost:
            continue
        dropped = drops.get(filled(flow, scenario).name)
        if programs_run or dropped is None or dropped >= 1.0 or shares(flow, scenario):
            results[flow.name] = None
        else:
            part = lost * decided_part(lost, *counts.get(flow.name, (0, 0)))
            results[flow.name] = max(0.0, 1.0 - (1.0 - part) / (1.0 - dropped))
    return results


def decided_part(lost: float, sent: int, arrived: int) -> float:
    """Return the fraction of the sent datagrams that have arrived or were lost.

    While a queue drains, more datagrams may arrive than are sent. The fraction is limited to 1.

    Parameters
    ----------
    lost : float
        Loss probability among the datagrams that have arrived or were lost.
    sent, arrived : int
        Number of datagrams that were sent, and number of datagrams that have arrived.
    """
    if lost >= 1.0:
        return 1.0
    decided = arrived / (1.0 - lost)
    return min(1.0, decided / sent) if sent else 1.0


def means(items: Any, quantity: str) -> dict[str, float]:
    """Return the mean of a quantity for each item that has the quantity, by the item's name."""
    return {item["name"]: item[quantity]["mean"] for item in items if quantity in item}


def shares(flow: UdpFlow, scenario: Typed) -> bool:
    """Return whether packets of other flows may pass the queue that a greedy flow keeps full."""
    return any(
        _may_meet(flow, other, scenario) for other in scenario.flows if other.name != flow.name
    )


def _may_meet(flow: UdpFlow, other: Flow, scenario: Typed) -> bool:
    if isinstance(scenario, CsmaScenario):
        routes = {user.name: user.route for user in scenario.csma.flows}
        return routes[flow.name][0] in routes[other.name]
    if flow.is_up and other.station != flow.station:
        return False
    # UDP in the other direction causes no ACKs, so it adds no packets to this queue.
    return not isinstance(other, UdpFlow) or other.is_up == flow.is_up
