"""Greedy sources of datagrams in an emulation: the queue that each keeps full, and its rate.

In a simulation such a source sends a datagram whenever the queue has room. A socket cannot see the
queue, so in an emulation it sends at a constant rate that is above the queue's. In front of a link
it starts at twice this rate, which fills the queue.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lasthop.scenario.typed import BEST_EFFORT, CsmaScenario, Flow, Link, UdpFlow, Wire
from lasthop.scenario.typed import Scenario as Typed

VARYING = 2
"""Datagrams of a greedy source over those that its link sends, where the rate of the link varies:
on the air while it never pauses, with a trace on average. [-]"""


@dataclass(frozen=True)
class Filled:
    """The queue that a greedy source keeps full: the first on its path that has a rate.

    Attributes
    ----------
    name : str
        The queue's name in a result; empty if the queue changes or is not known by a name.
    rate_bps : float
        Rate of payload that keeps the queue full if no datagram is lost before it. [bit/s]
    passing : float
        Part of the datagrams that is not lost before the queue. [-]
    on_air : bool
        Whether the rate is that of frames, which the air does not reach.
    drain_s : float
        Time in which the full queue of a link with a constant rate drains. [s]
    """

    name: str
    rate_bps: float
    passing: float = 1.0
    on_air: bool = False
    drain_s: float = 0.0

    @property
    def needed_bps(self) -> float:
        """Rate of payload that keeps the queue full after all losses before it. [bit/s]

        Random losses of probability p leave gaps. An excess of p after the losses keeps the mean
        number of free places below one packet (diffusion approximation: (1 + p) / 2).
        """
        excess = 0.0 if self.on_air else 1.0 - self.passing
        return self.rate_bps * (1.0 + excess) / self.passing


def is_greedy(flow: UdpFlow) -> bool:
    """Whether a flow keeps a queue full."""
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
    # Until the bottleneck begins, the queue of the access point is filled.
    shared_bps = scenario.vsb.rate_bps or 0.0
    return Filled("", max(station.downlink_rate_bps, shared_bps), passing)


def losses(
    scenario: Typed,
    lists: Mapping[str, Any],
    counts: Mapping[str, tuple[int, int]],
    *,
    programs_run: bool,
) -> dict[str, float | None]:
    """Return the loss probability of each greedy flow without the drops of the queue it keeps full.

    In a simulation a greedy source does not offer a datagram to a full queue. The drops of that
    queue in an emulation are the excess of the source, not losses.

    If f is the part of the flow's datagrams that was lost and d the queue's drop probability, the
    part (1 - f) / (1 - d) of the datagrams that the queue did not drop was not lost. This holds if
    no other packets pass the queue, since d is not known by flow.

    Both parts are of the datagrams that entered, since d is. While a queue fills, many of them have
    neither arrived nor been lost, and the flow's loss probability does not count them.

    Parameters
    ----------
    scenario : Scenario
        The scenario, with users of a conflict graph as flows.
    lists : mapping
        Quantities measured in the network, by list.
    counts : mapping
        Datagrams sent and arrived since the end of the warm-up, by the flow's name.
    programs_run : bool
        Whether programs have packets of their own.

    Returns
    -------
    dict
        The loss probability by the flow's name; None if the drops cannot be told from losses.
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
    """Return the part of the datagrams sent that has arrived or was lost, at most 1.

    It is 1 if more have arrived or were lost than were sent, such as while a queue drains.

    Parameters
    ----------
    lost : float
        Loss probability among the datagrams that have arrived or were lost.
    sent, arrived : int
        Datagrams sent and arrived.
    """
    if lost >= 1.0:
        return 1.0
    decided = arrived / (1.0 - lost)
    return min(1.0, decided / sent) if sent else 1.0


def means(items: Any, quantity: str) -> dict[str, float]:
    """Return the mean of a quantity by the item's name, where it is known."""
    return {item["name"]: item[quantity]["mean"] for item in items if quantity in item}


def shares(flow: UdpFlow, scenario: Typed) -> bool:
    """Whether packets of other flows may pass the queue that a greedy flow keeps full."""
    return any(
        _may_meet(flow, other, scenario) for other in scenario.flows if other.name != flow.name
    )


def _may_meet(flow: UdpFlow, other: Flow, scenario: Typed) -> bool:
    if isinstance(scenario, CsmaScenario):
        routes = {user.name: user.route for user in scenario.csma.flows}
        return routes[flow.name][0] in routes[other.name]
    if flow.is_up and other.station != flow.station:
        return False
    # Datagrams of the other direction have no ACKs, which would pass the queue.
    return not isinstance(other, UdpFlow) or other.is_up == flow.is_up


def warning(flows: Mapping[str, None]) -> str:
    """Return the warning about flows whose loss has the drops of the queue they keep full."""
    names = list(flows)
    listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return (
        f"loss of {listed}: it includes the datagrams that found the queue of their greedy source "
        "full, because other packets pass this queue too or its drops are not known; simulate does "
        "not offer such datagrams"
    )
