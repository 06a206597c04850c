"""Stations behind one queue of an access point: who gets which part of the air, and throughput.

One FIFO gives all the same throughput, and the slow one most of the air; a queue for each station,
served in turn, gives each an aggregate; queues with airtime fairness, as Linux's mac80211 has them,
give each the same time. The question is that of T. Hoiland-Jorgensen, M. Kazior, D. Taht, P.
Hurtig, A. Brunstrom, "Ending the Anomaly: Achieving Low Latency and Airtime Fairness in WiFi",
USENIX ATC 2017; what of it was read, and what is our own: ``docs/papers/airtime.md``.

`receivers` has what a station's exchanges take, `order` in which order a queue sends them, `shares`
the closed forms.
"""

from lasthop.models.airtime.assumptions import ASSUMPTIONS
from lasthop.models.airtime.options import Options
from lasthop.models.airtime.predict import predict, suits

__all__ = ["ASSUMPTIONS", "Options", "predict", "suits"]
