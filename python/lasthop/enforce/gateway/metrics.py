"""Prometheus metrics of the gateway, which are served only to this machine."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lasthop.daemon.exposition import TEXT, families, listener, page_of
from lasthop.daemon.page import serving
from lasthop.daemon.tables import Row
from lasthop.enforce.gateway.status import Status
from lasthop.scenario.from_json import read_as

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
ALIKE = ("unclassified", "multicast", "forged")
"""Kinds of redirected packets that do not pass through the leaf of a station."""
STATION = {"station": "name", "ap": "ap"}
"""Labels of the metrics of stations. Each item has the name of a label, and the key under which a
status row contains the value of the label.
"""


def kinds_of(row: Row) -> Iterator[tuple[str, int]]:
    """Yield each kind of packet with its number of bytes, for one access point and one direction.
    [bytes]"""
    others = {kind: row[f"{kind}_bytes"] for kind in ALIKE}
    yield "station", row["redirected_bytes"] - sum(others.values())
    yield from (others | row["exempt_bytes"] | {"unmatched": row["unmatched_bytes"]}).items()


def metrics_of(status: dict[str, Any]) -> Iterator["Metric"]:
    """Yield all metrics that are computed from a status."""
    from prometheus_client.core import GaugeMetricFamily

    known = read_as(Status, status)
    yield from families("ap", {"ap": "name"}, OF_APS, known.aps)
    yield from families("station", STATION, OF_STATIONS, known.stations)
    if weighed := [row for row in known.stations if row.get("phy_rate_bps") is not None]:
        labels = STATION | {"source": "phy_rate_source"}
        yield from families("station", labels, OF_PHY_RATES, weighed)
    if known.groups:
        yield from families("group", {"group": "name", "ap": "ap"}, OF_GROUPS, known.groups)
    rows = [
        {**row, "kind": kind, "filter_bytes": count}
        for row in known.filters
        for kind, count in kinds_of(row)
    ]
    labels = {name: name for name in ("ap", "direction", "kind")}
    yield from families("ap", labels, OF_FILTERS, rows)
    yield from families("port", {"port": "name"}, OF_PORTS, known.ports)
    shaping = "Whether packets are being shaped."
    yield GaugeMetricFamily("lasthop_shaping", shaping, value=float(known.shaping))
    yield GaugeMetricFamily("lasthop_stations", "Stations with a leaf.", value=len(known.stations))


def check_port(at: tuple[str, int] | None) -> None:
    """Raise `UserError` if the TCP port for metrics is in use."""
    if at is not None:
        opened(at).close()


def opened(at: tuple[str, int]) -> socket.socket:
    """Return a listening socket for Prometheus. Raise `UserError` if its port is not available."""
    where = f"gateway.metrics: port {at[1]} of {at[0]}"
    return listener(at, where, 'choose another port, or metrics = "off"')


@contextmanager
def serve_metrics(
    at: tuple[str, int] | None, status: Callable[[], dict[str, Any]]
) -> Iterator[None]:
    """Serve metrics over HTTP while the body runs."""
    if at is None:
        yield
        return
    with serving(opened(at), pages(status), TEXT):
        yield


def pages(status: Callable[[], dict[str, Any]]) -> Callable[[], bytes]:
    """Return a function that renders the page of metrics. A page is rendered once per status."""
    latest: dict[str, Any] = {}
    content = b""
    make = page_of(lambda: metrics_of(latest))

    def page() -> bytes:
        nonlocal latest, content
        if (now := status()) is not latest:
            latest = now
            content = make()
        return content

    return page
