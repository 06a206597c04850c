"""Warnings about settings of CAKE without effect on a scenario."""

from collections.abc import Iterator

from lasthop.scenario.queues import Cake
from lasthop.scenario.typed import CellScenario, Link, Scenario, Wire

__all__ = ["cake_warnings"]


def cake_warnings(scenario: Scenario) -> Iterator[str]:
    """Yield warnings about the settings of the queues with CAKE at wired links."""
    for place, queue, rate_bps, acks in _queues(scenario):
        if (
            queue.bandwidth_bps is not None
            and rate_bps is not None
            and queue.bandwidth_bps >= rate_bps
        ):
            yield (
                f"{place}: the shaper of CAKE never delays a packet, because its bandwidth of "
                f"{queue.bandwidth_bps / 1e6:g} Mb/s is not below the rate of the link "
                f"({rate_bps / 1e6:g} Mb/s); set less, or leave out bandwidth"
            )
        if queue.ack_filter != "off" and not acks:
            yield (
                f"{place}: ack_filter has no effect, because no TCP ACKs pass this queue; the ACKs "
                "of a download pass the queue of its uplink"
            )
        if queue.nat and not any(
            flow.hosts and (flow.hosts.from_nat or flow.hosts.to_nat) for flow in scenario.flows
        ):
            yield (
                f"{place}: nat has no effect, because no flow has from_nat or to_nat, which name "
                "the router with NAT in front of a host"
            )


def _queues(scenario: Scenario) -> Iterator[tuple[str, Cake, float | None, bool]]:
    """Yield each queue with CAKE: its place, its settings, the rate of its link [bit/s], and
    whether ACKs of TCP connections pass it.
    """
    for link in scenario.routers:
        if isinstance(link.queue, Cake):
            acks = any(link.name in flow.back for flow in scenario.tcp_flows)
            yield _place(link), link.queue, link.rate_bps, acks
    if isinstance(scenario, CellScenario):
        wire = scenario.wire
        has_own = wire.back_queue is not None
        directions = {flow.direction for flow in scenario.tcp_flows if flow.station}
        if isinstance(wire.queue, Cake):
            rate_bps = wire.rate_bps if has_own else _faster_bps(wire)
            acks = "up" in directions or (bool(directions) and not has_own)
            yield "`wire.queue`", wire.queue, rate_bps, acks
        if isinstance(wire.back_queue, Cake):
            rate_bps = wire.back_rate_bps or wire.rate_bps
            yield "`wire.back_queue`", wire.back_queue, rate_bps, "down" in directions


def _faster_bps(wire: Wire) -> float | None:
    """Return the rate of the faster direction of the wire, or None if a direction is unlimited.
    [bit/s]

    Without `wire.back_queue`, the shaper of `wire.queue` has one bandwidth for both directions.
    """
    rates = (wire.rate_bps, wire.back_rate_bps or wire.rate_bps)
    return None if None in rates else max(filter(None, rates))


def _place(link: Link) -> str:
    """Return the key of a link's queue."""
    name, back = link.name.removesuffix("/back"), link.name.endswith("/back")
    return f"`link.{name}.{'back_queue' if back else 'queue'}`"
