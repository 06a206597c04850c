"""Measurements of real networks, by flent, iperf3, ping and irtt, matched with the flows of a
scenario.

The module `reading` recognises the program that wrote a file. A module for each program reads the
file as a `Measurement`. The module `matching` matches the streams of measurements with the flows of
a scenario.
"""

from lasthop.measured.matching import Measured
from lasthop.measured.of_scenario import Files, measurements

__all__ = ["Files", "Measured", "measurements"]
