"""Traffic of a station of a capture, as keys of a scenario.

Connections that are limited by their windows become uploads and downloads. Connections that are
limited by their applications become uploads and downloads with a `rate`. A station has one table of
connections per direction. If it has connections of both kinds in one direction, those with a rate
become UDP traffic.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lasthop.importing.counters import Datagrams, StationCounters, most_at_once
from lasthop.importing.observed import Connections, Flow, Stream

__all__ = ["Sources", "sources"]

LARGEST_DATAGRAM = 1472
"""Largest payload of a datagram that fits into one Ethernet frame. [bytes]"""


@dataclass(frozen=True)
class Sources:
    """Traffic of a station in one direction: TCP connections and UDP datagrams; None for a kind
    that is absent."""

    connections: Connections | None
    stream: Stream | None


def sources(tally: StationCounters, flows: Sequence[Flow], way: str) -> Sources:
    """Return the traffic of a station in one direction.

    Parameters
    ----------
    tally : StationCounters
        Counters of the station.
    flows : sequence of Flow
        Connections of the station that are long enough to be imported.
    way : str
        Direction of the traffic, ``"up"`` or ``"down"``.
    """
    own = [flow for flow in flows if flow.direction == way]
    greedy = [flow for flow in own if flow.window_limited]
    datagrams = tally.udp_up if way == "up" else tally.udp_down
    others = [flow for flow in own if not flow.window_limited]
    if not greedy and others and rate_bps(others) > 0.0:
        return Sources(_paced(others), _stream(datagrams, [], 0))
    return Sources(
        _connections(greedy), _stream(datagrams, others, payload_bytes(tally, others, way))
    )


def rate_bps(flows: Sequence[Flow]) -> float:
    """Return the rate of payload of all connections together. [bit/s]

    The time span of n segments consists of the n - 1 gaps between them, so the data of one segment
    is subtracted.
    """
    span_s = max(flow.stop_s for flow in flows) - min(flow.start_s for flow in flows)
    return 8 * sum(each.data_bytes * (1 - 1 / each.segments) for each in flows) / span_s


def _paced(flows: Sequence[Flow]) -> Connections:
    """Return connections that are limited by their applications."""
    count = most_at_once([(flow.start_s, flow.stop_s) for flow in flows])
    return Connections(count, True, _measured(flows), rate_bps(flows) / count)


def _measured(flows: Sequence[Flow]) -> str:
    """Return the measured properties of connections that are limited by their applications."""
    several = f"{len(flows)} connections" if len(flows) > 1 else "1 connection"
    text = f"measured: {several}, {_mbps(rate_bps(flows))}, not limited by the window"
    trips = [flow.handshake_s for flow in flows if flow.handshake_s is not None]
    return text + (f", round trip {_range_ms(trips)}" if trips else "")


def payload_bytes(tally: StationCounters, flows: Sequence[Flow], way: str) -> int:
    """Return the longest payload of a station's TCP segments; without TCP, the mean payload of its
    packets.
    """
    longest = max(
        (each.trips.mss_bytes for each in tally.bulk() if each.direction == way), default=0
    )
    packets = sum(flow.segments for flow in flows)
    return longest or round(sum(flow.data_bytes for flow in flows) / max(packets, 1))


def _connections(flows: Sequence[Flow]) -> Connections | None:
    if not flows:
        return None
    count = most_at_once([(flow.start_s, flow.stop_s) for flow in flows])
    goodput = sum(flow.goodput_bps for flow in flows) / len(flows) / 1e6
    trips = [flow.rtt_s for flow in flows if flow.rtt_s is not None]
    text = f"measured {goodput:.3g} Mb/s each"
    if trips:
        text += f", round trip {sum(trips) / len(trips) * 1e3:.0f} ms"
    again = sum(flow.retransmitted for flow in flows) / max(sum(f.segments for f in flows), 1)
    text += f", {again:.2%} sent again" if again else ""
    if len(flows) > count:
        text += f"; {len(flows)} one after another"
    return Connections(count, True, text)


def _stream(datagrams: Datagrams, flows: Sequence[Flow], longest: int) -> Stream | None:
    """Return the UDP traffic of a direction. It includes the connections that are limited by their
    applications."""
    usual = max(datagrams.lengths, key=lambda each: datagrams.lengths[each], default=1)
    if not flows:
        if not datagrams.counts:
            return None
        return Stream(datagrams.rate_bps, min(max(usual, 1), LARGEST_DATAGRAM))
    total_bps = rate_bps(flows)
    if total_bps <= 0.0:
        return _stream(datagrams, [], longest)  # Only retransmissions were seen.
    text = _measured(flows)
    size = longest
    if datagrams.counts:
        text += f"; and datagrams of {_mbps(datagrams.rate_bps)}"
        size = usual if datagrams.rate_bps > total_bps else longest
        total_bps += datagrams.rate_bps
    return Stream(total_bps, min(max(size, 1), LARGEST_DATAGRAM), text)


def _mbps(rate_bps: float) -> str:
    return f"{rate_bps / 1e6:.3g} Mb/s"


def _range_ms(values_s: Sequence[float]) -> str:
    """Return the smallest and the largest of some times as text; one number if they are equal."""
    least, most = (f"{1e3 * each:.3g}" for each in (min(values_s), max(values_s)))
    return f"{least} ms" if least == most else f"{least} to {most} ms"
