"""Measurements of real networks: flent and iperf3, and what belongs to which flow of a scenario.

`reading.py` tells the programs apart, a file each reads one of them as a `Measurement`, and
`matching.py` lays its streams beside a scenario's flows and says how.
"""

from lasthop.measured.matching import Measured
from lasthop.measured.of_scenario import Files, measurements

__all__ = ["Files", "Measured", "measurements"]
