"""Quantities as Prometheus wants them: families of metrics, names in its manner."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prometheus_client.core import Metric

BASE_UNITS = {"_bps": ("_bytes_per_second", 1 / 8), "_s": ("_seconds", 1.0)}
"""How Prometheus names a quantity whose name here ends so, and how many of its units one has."""
TEXT = "text/plain; version=0.0.4; charset=utf-8"
"""Media type of Prometheus' text format."""


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
        full, units = exposed(name)
        metric = family(f"lasthop_{kind}_{full}", text, labels=labels)
        for values, row in rows:
            if row.get(name) is not None:
                metric.add_metric(values, units * row[name])
        yield metric


def exposed(name: str) -> tuple[str, float]:
    """A quantity's name in Prometheus's manner, and its unit in the base units that this has."""
    for short, (full, units) in BASE_UNITS.items():
        if name.endswith(short):
            return name.removesuffix(short) + full, units
    return name, 1.0
