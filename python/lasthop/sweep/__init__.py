"""A scenario at many settings: every point simulated once, kept, and never again."""

from lasthop.sweep.points import Point
from lasthop.sweep.sweep import Sweep, SweepInterrupted, sweep

__all__ = ["Point", "Sweep", "SweepInterrupted", "sweep"]
