"""Sweeps: simulation of a scenario at many points. Each point, a combination of settings, is
simulated once, and its result is kept.
"""

from lasthop.sweep.points import Point
from lasthop.sweep.sweep import Sweep, SweepInterrupted, sweep

__all__ = ["Point", "Sweep", "SweepInterrupted", "sweep"]
