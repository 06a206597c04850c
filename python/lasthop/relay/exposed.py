"""Prometheus metrics of a relay."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lasthop.daemon.exposition import TEXT, families, listener, page_of
from lasthop.daemon.page import serving
from lasthop.relay.settings import Address

if TYPE_CHECKING:
    from prometheus_client.core import Metric

QUANTITIES = (
    ("sessions", "gauge", "Connected clients; at a client, 1 if it is connected."),
    ("connections", "gauge", "TCP connections between the relays that carry streams."),
    ("connections_resting", "gauge", "Open connections that are not needed at the moment."),
    ("connections_asked", "gauge", "Connections that the rule asks for."),
    ("rtt_s", "gauge", "Mean smoothed round-trip time of the connections, in seconds."),
    ("streams_open", "gauge", "Streams."),
    ("streams_total", "counter", "Streams that have begun."),
    ("streams_refused", "counter", "Streams that were refused because the limit was reached."),
    (
        "streams_denied",
        "counter",
        "Streams to targets to which the server lets no client connect.",
    ),
    ("streams_reset", "counter", "Streams that broke off."),
    ("sent_bytes", "counter", "Payload handed to connections, each byte once."),
    ("taken_bytes", "counter", "Payload that programs have taken."),
    ("messages_again", "counter", "Messages sent again over a second connection."),
    ("connections_total", "counter", "Connections that have been made."),
    ("connections_lost", "counter", "Connections that were lost with data in flight."),
    ("merging_bytes", "gauge", "Memory promised to senders."),
    ("kept_bytes", "gauge", "Memory for data that is sent and not acknowledged."),
)
PROBING = (
    ("probes_in_use", "gauge", "Whether T is measured by UDP probes; 0: they are not answered."),
    ("probe_rtt_s", "gauge", "Mean round-trip time of UDP probes, in seconds, while it is T."),
    ("probes_sent", "counter", "UDP probes that were sent."),
    ("probes_answered", "counter", "UDP probes that were answered."),
)
"""Additional metrics of a client relay that measures the round-trip time by UDP probes."""
HANDSHAKES = ("handshakes", "counter", "Handshakes by how they ended.")
PROBES = ("probes", "counter", "Datagrams at the UDP port of probes by how they ended.")


def metrics_of(status: dict[str, Any]) -> Iterator["Metric"]:
    """Yield all metrics that are computed from a relay's status."""
    yield from families("relay", {}, QUANTITIES, [status])
    if "probes_in_use" in status:
        yield from families("relay", {}, PROBING, [status])
    for family in (HANDSHAKES, PROBES):
        name, *_ = family
        if name in status:  # only a server's status has this metric
            rows = [{"outcome": how, name: count} for how, count in status[name].items()]
            yield from families("relay", {"outcome": "outcome"}, [family], rows)


def opened(at: Address) -> socket.socket:
    """Return a listening socket for Prometheus. Raise `UserError` if its port is not available."""
    return listener(at, f"--metrics {at}")


@contextmanager
def serving_metrics(at: Address | None, status: Callable[[], dict[str, Any]]) -> Iterator[None]:
    """Serve metrics over HTTP while the body runs."""
    if at is None:
        yield
        return
    with serving(opened(at), page_of(lambda: metrics_of(status())), TEXT):
        yield
