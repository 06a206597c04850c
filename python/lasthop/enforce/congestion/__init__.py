"""The engine's TCP congestion controls in Linux: load them, list their users, unload them."""

from lasthop.enforce.congestion.controls import CONTROLS, Control
from lasthop.enforce.congestion.loading import load, loaded, unload

__all__ = ["CONTROLS", "Control", "load", "loaded", "unload"]
