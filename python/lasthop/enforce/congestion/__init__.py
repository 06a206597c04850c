"""Congestion controls of the engine for Linux's TCP: loading, users, unloading."""

from lasthop.enforce.congestion.controls import CONTROLS, Control
from lasthop.enforce.congestion.loading import load, loaded, unload

__all__ = ["CONTROLS", "Control", "load", "loaded", "unload"]
