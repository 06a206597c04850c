"""Flows of a scenario by their kind of traffic, for the objectives of `explain`."""

from collections.abc import Sequence

from lasthop.answers.calls import is_paced as has_rate
from lasthop.errors import UserError, nearest
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import (
    Flow,
    PingFlow,
    SensorFlow,
    TcpFlow,
    UdpFlow,
    without_pings,
)

__all__ = [
    "always_demands",
    "call_directions",
    "competes",
    "flows_of",
    "has_chunks",
    "is_delay_sensitive",
    "is_large",
    "is_of_one_device",
    "is_over_tcp",
    "is_paced",
    "is_video",
    "other_than_pings",
    "paced_names",
    "ping_names",
    "pings_of",
]

MIN_SHARING_BPS = 500_000
"""Smallest rate at which datagrams may count in the objective ``fairness``. [bit/s]"""


def flows_of(scenario: Scenario, target: str | None) -> Sequence[Flow]:
    """Return the flows of the target: a station, a table of stations, a class or a flow. Without a
    target, return all flows. Pings are left out, because they measure the network.

    Raises
    ------
    UserError
        If the scenario has no such station or flow, or no flow other than pings, or if the target
        has only pings.
    """
    flows = without_pings(scenario.typed.flows)
    if not flows and scenario.typed.flows:
        raise UserError(f"{scenario.source}: no flow other than pings, which only measure")
    if target is None:
        return flows
    results = [flow for flow in flows if is_of_target(flow, target)]
    if not results and pings_of(scenario, target):
        raise UserError(
            f'target="{target}": has only pings; expected the objective "delay", or a station or a '
            "flow of other traffic",
            "with --for delay, the round-trip times of the target's pings are the objective",
        )
    if not results:
        known = {name for flow in flows for name in (flow.class_name, flow.station, flow.name)}
        near = ", ".join(nearest(target, sorted(known - {""})))
        raise UserError(f'target="{target}": no station or flow has this name', f"names: {near}")
    return results


def other_than_pings(scenario: Scenario, target: str | None) -> Sequence[Flow]:
    """Return the flows of the target like `flows_of`, or an empty list if it has only pings."""
    if target is not None and pings_of(scenario, target):
        flows = without_pings(scenario.typed.flows)
        return [flow for flow in flows if is_of_target(flow, target)]
    return flows_of(scenario, target)


def is_of_target(flow: Flow, target: str | None) -> bool:
    """Return whether a flow belongs to a target; True without a target."""
    names = (flow.name, flow.class_name, flow.station)
    return target is None or target in names or flow.name.startswith(f"{target}/")


def pings_of(scenario: Scenario, target: str | None) -> list[str]:
    """Return the names of the flows of pings of the target, or of all without a target."""
    return ping_names([flow for flow in scenario.typed.flows if is_of_target(flow, target)])


def is_delay_sensitive(flow: Flow) -> bool:
    """Return whether a flow has datagrams at a rate, sensor reports, web pages, a finite size, or
    chunks of an application.
    """
    if isinstance(flow, TcpFlow):
        return bool(flow.web) or bool(flow.tcp.segments) or has_chunks(flow)
    return is_paced(flow)


def is_video(flow: Flow) -> bool:
    """Return whether a flow carries adaptive video."""
    return isinstance(flow, TcpFlow) and flow.stream is not None


def has_chunks(flow: TcpFlow) -> bool:
    """Return whether an application writes the data of a connection in chunks, or a player fetches
    chunks of a video.
    """
    written = flow.application
    return flow.stream is not None or (written is not None and written.every_s is not None)


def is_paced(flow: Flow) -> bool:
    """Return whether a flow sends datagrams at a given rate, or sensor reports."""
    return isinstance(flow, SensorFlow) or has_rate(flow)


def always_demands(flow: Flow) -> bool:
    """Return whether a flow always has data to send: bulk TCP or a greedy source."""
    is_limited = isinstance(flow, TcpFlow) and flow.is_paced
    return not (is_limited or isinstance(flow, PingFlow) or is_delay_sensitive(flow))


def is_large(flow: Flow) -> bool:
    """Return whether a flow sends datagrams at `MIN_SHARING_BPS` or more."""
    return isinstance(flow, UdpFlow) and flow.udp.rate_bps >= MIN_SHARING_BPS


def competes(flow: Flow) -> bool:
    """Return whether a flow may count in the objective ``fairness``."""
    return always_demands(flow) or is_large(flow)


def is_of_one_device(flows: Sequence[Flow]) -> bool:
    """Return whether all flows that may compete are those of one station in one direction."""
    ends = {(flow.station, flow.direction) for flow in flows if competes(flow)}
    return len(ends) == 1 and bool(next(iter(ends))[0])


def call_directions(flows: Sequence[Flow]) -> dict[tuple[str, str], list[str]]:
    """Return the names of the flows of calls. The keys are pairs: the station or host that has the
    call, and the direction (``up`` or ``down``).
    """
    results: dict[tuple[str, str], list[str]] = {}
    for flow in flows:
        owner, _, kind = flow.name.rpartition("/")[0].rpartition("/")
        medium, _, direction = kind.rpartition("-")
        if is_paced(flow) and medium in ("udp", "audio", "video") and direction in ("up", "down"):
            results.setdefault((owner, direction), []).append(flow.name)
    owners = [owner for owner, _ in results]
    return {each: names for each, names in results.items() if owners.count(each[0]) == 2}


def is_over_tcp(flow: Flow) -> bool:
    """Return whether a flow carries sensor reports over TCP."""
    return isinstance(flow, SensorFlow) and flow.sensor.tcp is not None


def paced_names(flows: Sequence[Flow]) -> tuple[list[str], list[str]]:
    """Return the names of the flows with datagrams, and of the flows with reports over TCP."""
    paced = [flow for flow in flows if is_paced(flow)]
    return (
        [flow.name for flow in paced if not is_over_tcp(flow)],
        [flow.name for flow in paced if is_over_tcp(flow)],
    )


def ping_names(flows: Sequence[Flow]) -> list[str]:
    """Return the names of the flows of pings."""
    return [flow.name for flow in flows if isinstance(flow, PingFlow)]
