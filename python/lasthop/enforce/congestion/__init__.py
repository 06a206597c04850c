"""Laws of the engine for Linux's own TCP: what can be loaded, by whom, and how it goes away."""

from lasthop.enforce.congestion.controls import CONTROLS, Control
from lasthop.enforce.congestion.loading import load, loaded, unload

__all__ = ["CONTROLS", "Control", "load", "loaded", "unload"]
