"""Sweeps: simulation of a scenario at many points. A point is a combination of settings. Each point
is simulated once, and its result is stored.
"""

from lasthop.sweep.points import Point
from lasthop.sweep.sweep import Sweep, SweepInterrupted, sweep

__all__ = ["Point", "Sweep", "SweepInterrupted", "sweep"]
