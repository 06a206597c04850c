"""Phase effects: where the fractions of packet times in round-trip times decide who loses.

Deterministic packets of flows with several round-trip times meet a drop-tail queue in fixed
phases, so that some find it full again and again and others never (Floyd and Jacobson, "On traffic
phase effects in packet-switched gateways", Internetworking: Research and Experience 3, 1992).
Replications start at other times but have the same phases, so that their intervals do not show it.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from lasthop.models.reading import Scenario

__all__ = ["phase_effects"]

DETERMINISTIC = ("drop_tail", "threshold")
"""Disciplines whose drops follow from the order of arrivals alone."""


def phase_effects(scenario: Scenario, summary: Mapping[str, Any]) -> list[str]:
    """Say which queues of a result dropped packets that may have come in fixed phases."""
    full = {queue["name"] for queue in summary.get("queues", ()) if dropped(queue)}
    return [
        f"queue {name}: phase effects: {rtts} round-trip times meet a {kind} queue, and who finds "
        "it full may hang on fractions of a packet time; intervals do not show that, "
        'jitter = "packet" of the flows ends it'
        for name, kind, rtts in exposed(scenario, full)
    ]


def exposed(scenario: Scenario, among: Collection[str]) -> Iterator[tuple[str, str, int]]:
    """Queues `among` those named that flows of several round-trip times share without jitter: name,
    kind, how many.
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
    links = {link.name: link for link in scenario.links}
    rtts: dict[str, set[float]] = {}
    for flow in scenario.tcp_flows:
        way = [links[name] for name in (*flow.forward, *flow.back)]
        is_bulk = flow.web is None and not flow.station
        if is_bulk and not any(link.jitter_s for link in way):
            rtt = round(sum(link.delay_s for link in way), 9)
            for name in flow.forward:
                if name in queues:
                    rtts.setdefault(name, set()).add(rtt)
    for name, found in rtts.items():
        if len(found) > 1:
            yield name, queues[name], len(found)


def dropped(queue: Mapping[str, Any]) -> bool:
    """Whether a queue of a result dropped packets."""
    part = queue.get("drop_probability")
    return part is not None and bool(part["mean"])
