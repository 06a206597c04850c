"""Shares of air time, and throughput, of stations that are served by one queue of an access point.

One FIFO gives all stations the same throughput, and the slow station most of the air time. If each
station has its own queue and the queues are served in turn, each station gets one aggregate per
round. Queues with airtime fairness, as in Linux's mac80211, give each station the same air time.
The model follows T. Hoiland-Jorgensen, M. Kazior, D. Taht, P. Hurtig, A. Brunstrom, "Ending the
Anomaly: Achieving Low Latency and Airtime Fairness in WiFi", USENIX ATC 2017.
``docs/papers/airtime.md`` lists the parts of the paper that were used, and the additions.

Module `receivers` computes the durations of a station's exchanges, `order` simulates the order in
which a queue sends, and `shares` has the closed forms.
"""

from lasthop.models.airtime.options import Options
from lasthop.models.airtime.predict import predict, suits

__all__ = ["Options", "predict", "suits"]
