"""Metrics for Prometheus, on this machine alone."""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lasthop.errors import UserError

if TYPE_CHECKING:
    from prometheus_client.core import Metric

OF_STATIONS = (
    ("sent_bytes", "counter", "Bytes that have left the station's queue, both ways."),
    ("sent_packets", "counter", "Packets that have left the station's queue."),
    ("dropped_packets", "counter", "Packets dropped at the station's full queue."),
    ("backlog_packets", "gauge", "Packets that wait in the station's queue."),
    ("rate_bps", "gauge", "Rate of the last second, both ways, in bit/s."),
    ("udp_uplink_bytes", "counter", "UDP from the station, estimated from a sample."),
    ("udp_uplink_packets", "counter", "UDP from the station, estimated from a sample."),
)
OF_APS = (
    ("rate_bps", "gauge", "Rate C of the bottleneck, in bit/s."),
    ("rtt_s", "gauge", "Last round-trip time that the estimator took, in seconds."),
    ("base_rtt_s", "gauge", "Round-trip time without a queue, in seconds."),
    ("pings", "counter", "Echo requests sent."),
    ("answers", "counter", "Echo replies that came back."),
)


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
        rows = [((row["name"], row["ap"]), row) for row in status["stations"]]
        yield from families("station", ("station", "ap"), OF_STATIONS, rows)
        shaping = "Whether packets are being shaped."
        yield GaugeMetricFamily("lasthop_shaping", shaping, value=float(status["shaping"]))
        yield GaugeMetricFamily("lasthop_stations", "Stations with a place.", value=len(rows))


def families(
    kind: str,
    labels: tuple[str, ...],
    measured: tuple[tuple[str, str, str], ...],
    rows: Sequence[tuple[tuple[str, ...], dict[str, Any]]],
) -> Iterator["Metric"]:
    """One family of metrics for each thing that is measured."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    for name, sort, text in measured:
        family = CounterMetricFamily if sort == "counter" else GaugeMetricFamily
        metric = family(f"lasthop_{kind}_{exposed(name)}", text, labels=labels)
        for values, row in rows:
            if row.get(name) is not None:
                metric.add_metric(values, float(row[name]))
        yield metric


def exposed(name: str) -> str:
    """A quantity's name in Prometheus's manner: units in full."""
    for short, full in (("_bps", "_bits_per_second"), ("_s", "_seconds")):
        if name.endswith(short):
            return name.removesuffix(short) + full
    return name


def check_port(at: tuple[str, int] | None) -> None:
    """Refuse a port that somebody else serves."""
    if at is None:
        return
    family = socket.AF_INET6 if ":" in at[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(at)
            trial.listen()
        except OSError as error:
            raise refused(at, error) from None


def refused(at: tuple[str, int], error: OSError) -> UserError:
    """What to say of a port that cannot be had."""
    return UserError(
        f"gateway.metrics: port {at[1]} of {at[0]}: {error.strerror}",
        'another port, or metrics = "off"',
    )


@contextmanager
def serve_metrics(
    at: tuple[str, int] | None, status: Callable[[], dict[str, Any]]
) -> Iterator[None]:
    """Serve metrics while the body runs."""
    if at is None:
        yield
        return
    from prometheus_client import CollectorRegistry, start_http_server

    registry = CollectorRegistry(auto_describe=False)
    try:
        server, thread = start_http_server(at[1], addr=at[0], registry=registry)
    except OSError as error:
        raise refused(at, error) from None
    registry.register(Metrics(status))
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
