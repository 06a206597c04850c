"""Shares of stations in a WiFi hot-spot with TCP traffic.

A. Detti, N. Blefari-Melazzi, I. Habib, A. Ordine, "Per-Station Throughput Fairness in a WLAN
Hot-Spot with TCP traffic" (extended version). ``docs/papers/hotspot.md`` lists the equations, how
the paper was interpreted, and the limits of the model.
"""

from lasthop.models.hotspot.options import Options
from lasthop.models.hotspot.predict import predict, suits

__all__ = ["Options", "predict", "suits"]
