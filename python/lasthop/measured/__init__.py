"""Measurements of real networks, by flent and iperf3, matched with the flows of a scenario.

`reading.py` recognises the program, one file per program reads its output as a `Measurement`, and
`matching.py` matches its streams with the flows of a scenario.
"""

from lasthop.measured.matching import Measured
from lasthop.measured.of_scenario import Files, measurements

__all__ = ["Files", "Measured", "measurements"]
