"""Prometheus metrics: the conversion of quantities to metrics, and the page that contains the
metrics."""

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lasthop.errors import UserError

if TYPE_CHECKING:
    from prometheus_client.core import Metric

BASE_UNITS = {"_bps": ("_bytes_per_second", 1 / 8), "_s": ("_seconds", 1.0)}
"""Conversions to the base units of Prometheus. The key is the end of a name in the status. The
values are the end of the name in Prometheus, and the factor by which the quantity is multiplied.
"""
TEXT = "text/plain; version=0.0.4; charset=utf-8"
"""Media type of Prometheus' text format."""


Measured: TypeAlias = tuple[str, str, str]
"""Quantity of status rows: its name, ``"counter"`` or ``"gauge"``, and its description."""


def families(
    kind: str,
    labels: Mapping[str, str],
    measured: Iterable[Measured],
    rows: Sequence[Mapping[str, Any]],
) -> Iterator["Metric"]:
    """Yield a family of Prometheus metrics for each measured quantity.

    `labels` maps each label of a metric to the key of its value in a status row.
    """
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    for name, sort, text in measured:
        family = CounterMetricFamily if sort == "counter" else GaugeMetricFamily
        full, units = exposed(name)
        metric = family(f"lasthop_{kind}_{full}", text, labels=tuple(labels))
        for row in rows:
            if row.get(name) is not None:
                metric.add_metric([row[key] for key in labels.values()], units * row[name])
        yield metric


def exposed(name: str) -> tuple[str, float]:
    """Return the Prometheus name of a quantity, and the factor that converts its value to
    Prometheus' base unit."""
    for short, (full, units) in BASE_UNITS.items():
        if name.endswith(short):
            return name.removesuffix(short) + full, units
    return name, 1.0


class Collector:
    """Object from which `prometheus_client` requests metrics."""

    def __init__(self, collect: Callable[[], Iterator["Metric"]]) -> None:
        self.collect = collect


def page_of(collect: Callable[[], Iterator["Metric"]]) -> Callable[[], bytes]:
    """Return the function that renders a page with the present metrics."""
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collector(collect))
    return lambda: generate_latest(registry)


def listener(at: tuple[str, int], where: str, hint: str | None = None) -> socket.socket:
    """Return a listening socket for Prometheus. Raise `UserError` if its port is not available."""
    try:
        family = socket.AF_INET6 if ":" in at[0] else socket.AF_INET
        return socket.create_server(tuple(at), family=family)
    except OSError as error:
        raise UserError(f"{where}: {os.strerror(error.errno or 0)}", hint) from None
