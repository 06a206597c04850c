"""Shares of air time, and throughput, of stations that are served by one queue of an access point.

One FIFO gives all stations the same throughput, and the slow station most of the air time. A queue
per station, served in turn, gives each station one aggregate per turn. Queues with airtime
fairness, as in Linux's mac80211, give each station the same time. The question is that of T.
Hoiland-Jorgensen, M. Kazior, D. Taht, P. Hurtig, A. Brunstrom, "Ending the Anomaly: Achieving Low
Latency and Airtime Fairness in WiFi", USENIX ATC 2017. ``docs/papers/airtime.md`` lists the parts
of the paper that were used, and the additions.

`receivers` has the durations of a station's exchanges, `order` the order in which a queue sends
them, and `shares` the closed forms.
"""

from lasthop.models.airtime.options import Options
from lasthop.models.airtime.predict import predict, suits

__all__ = ["Options", "predict", "suits"]
