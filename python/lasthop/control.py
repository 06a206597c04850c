"""Controllers as step functions: each step maps an observation to a setting.

The simulator runs the same code. Use the controllers of this module to control a live network from
its measurements.

>>> wce = Wce(max_bps=6_000_000)
>>> wce.step(now_s=0.1, rtt_s=0.120)  # a ping took 120 ms: a queue grows at the bottleneck
5960000
>>> wce.step(now_s=0.2, rtt_s=None)  # no answer: C holds
5960000
>>> settings = EstimatorSettings(max_bps=20_000_000)
>>> estimator = CapacityEstimator(settings)
>>> estimator.tick(now_s=0.1, stations=[7], passed_bytes=0)  # station to ping, number of the ping
[(7, 1)]
>>> estimator.answer(now_s=0.102, number=1, rtt_s=0.002, passed_bytes=25_000)  # no further pings
[]
>>> vbs = Vbs([0.5, 0.5], occupancy_packets=60)
>>> vbs.step(backlog_packets=70, shares=[0.6, 0.4])  # the first class has more than its share
[1.0, 0.0]
"""

from lasthop._core import CapacityEstimator, EstimatorSettings, Vbs, Wce

__all__ = ["CapacityEstimator", "EstimatorSettings", "Vbs", "Wce"]
