"""Metrics for Prometheus, on this machine alone."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lasthop.daemon.exposition import TEXT, families
from lasthop.daemon.page import serving
from lasthop.errors import UserError

if TYPE_CHECKING:
    from prometheus_client.core import Metric

OF_STATIONS = (
    ("sent_bytes", "counter", "Bytes that have left the station's queue, both ways."),
    ("sent_packets", "counter", "Packets that have left the station's queue."),
    ("dropped_packets", "counter", "Packets dropped at the station's full queue."),
    ("backlog_packets", "gauge", "Packets that wait in the station's queue."),
    ("rate_bps", "gauge", "Rate of the last second, both ways, in bytes per second."),
    ("udp_uplink_bytes", "counter", "UDP from the station, estimated from a sample."),
    ("udp_uplink_packets", "counter", "UDP from the station, estimated from a sample."),
)
OF_PHY_RATES = (
    ("phy_rate_bps", "gauge", "Data rate by which a station is weighed, in bytes per second."),
)
OF_GROUPS = (
    ("sent_bytes", "counter", "Bytes that have left the group's class, both ways."),
    ("sent_packets", "counter", "Packets that have left the group's class."),
    ("backlog_packets", "gauge", "Packets that wait in the group's class."),
    ("rate_bps", "gauge", "Rate of the last second, both ways, in bytes per second."),
    ("stations", "gauge", "Stations of the group with a leaf."),
)
OF_APS = (
    ("rate_bps", "gauge", "Rate C of the bottleneck, in bytes per second."),
    ("rtt_s", "gauge", "Last round-trip time that the estimator used, in seconds."),
    ("base_rtt_s", "gauge", "Round-trip time without a queue, in seconds."),
    ("pings", "counter", "Echo requests sent."),
    ("answers", "counter", "Echo replies that came back."),
)

OF_PORTS = (
    ("macs", "gauge", "MAC addresses at the port."),
    ("waiting", "gauge", "New MAC addresses at the port that have no leaf yet."),
)
OF_FILTERS = (
    ("filter_bytes", "counter", "Bytes at the filters: redirected to leaves, exempt, unmatched."),
)


def kinds_of(row: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Return the counters of an access point and direction by kind. [bytes]"""
    others = row["unclassified_bytes"] + row["multicast_bytes"] + row["forged_bytes"]
    yield "station", row["redirected_bytes"] - others
    yield "unclassified", row["unclassified_bytes"]
    yield "multicast", row["multicast_bytes"]
    yield "forged", row["forged_bytes"]
    yield from row["exempt_bytes"].items()
    yield "unmatched", row["unmatched_bytes"]


class Metrics:
    """Makes metrics of the status when Prometheus asks.

    Parameters
    ----------
    status : callable
        The status of the gateway.
    """

    def __init__(self, status: Callable[[], dict[str, Any]]) -> None:
        self.status = status

    def collect(self) -> Iterator["Metric"]:
        """All metrics now."""
        from prometheus_client.core import GaugeMetricFamily

        status = self.status()
        yield from families("ap", ("ap",), OF_APS, [((ap["name"],), ap) for ap in status["aps"]])
        stations = [((row["name"], row["ap"]), row) for row in status["stations"]]
        yield from families("station", ("station", "ap"), OF_STATIONS, stations)
        rates = [
            ((row["name"], row["ap"], row["phy_rate_source"]), row)
            for row in status["stations"]
            if row.get("phy_rate_bps") is not None
        ]
        if rates:
            yield from families("station", ("station", "ap", "source"), OF_PHY_RATES, rates)
        groups = [((row["name"], row["ap"]), row) for row in status.get("groups", ())]
        if groups:
            yield from families("group", ("group", "ap"), OF_GROUPS, groups)
        rows = [
            ((row["ap"], row["direction"], kind), {"filter_bytes": count})
            for row in status.get("filters", ())
            for kind, count in kinds_of(row)
        ]
        yield from families("ap", ("ap", "direction", "kind"), OF_FILTERS, rows)
        ports = [((row["name"],), row) for row in status.get("ports", ())]
        yield from families("port", ("port",), OF_PORTS, ports)
        shaping = "Whether packets are being shaped."
        yield GaugeMetricFamily("lasthop_shaping", shaping, value=float(status["shaping"]))
        yield GaugeMetricFamily("lasthop_stations", "Stations with a leaf.", value=len(stations))


def check_port(at: tuple[str, int] | None) -> None:
    """Refuse a port that somebody else serves."""
    if at is not None:
        listener(at).close()


def listener(at: tuple[str, int]) -> socket.socket:
    """A socket for Prometheus; `UserError` if its port cannot be had."""
    try:
        family = socket.AF_INET6 if ":" in at[0] else socket.AF_INET
        return socket.create_server(at, family=family)
    except OSError as error:
        raise UserError(
            f"gateway.metrics: port {at[1]} of {at[0]}: {os.strerror(error.errno or 0)}",
            'choose another port, or metrics = "off"',
        ) from None


@contextmanager
def serve_metrics(
    at: tuple[str, int] | None, status: Callable[[], dict[str, Any]]
) -> Iterator[None]:
    """Serve metrics while the body runs."""
    if at is None:
        yield
        return
    with serving(listener(at), pages(status), TEXT):
        yield


def pages(status: Callable[[], dict[str, Any]]) -> Callable[[], bytes]:
    """Makes a page of metrics, anew for each new status."""
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Metrics(lambda: of))
    of: dict[str, Any] = {}
    made = b""

    def page() -> bytes:
        nonlocal of, made
        if (now := status()) is not of:
            of, made = now, b""
        made = made or generate_latest(registry)
        return made

    return page
