"""Shares of the air, and throughput, of stations that one queue of an access point serves.

One FIFO gives all stations the same throughput, and the slow station most of the air. A queue for
each station, served in turn, gives each an aggregate. Queues with airtime fairness, as in Linux's
mac80211, give each the same time. The question is that of T. Hoiland-Jorgensen, M. Kazior, D. Taht,
P. Hurtig, A. Brunstrom, "Ending the Anomaly: Achieving Low Latency and Airtime Fairness in WiFi",
USENIX ATC 2017; what of it was read, and what is our own: ``docs/papers/airtime.md``.

`receivers` has what a station's exchanges take, `order` in which order a queue sends them, `shares`
the closed forms.
"""

from lasthop.models.airtime.options import Options
from lasthop.models.airtime.predict import predict, suits

__all__ = ["Options", "predict", "suits"]
