"""Emulations: the engine's network between network namespaces with the TCP of Linux."""

from lasthop.emulation.emulate import Emulation, emulate

__all__ = ["Emulation", "emulate"]
