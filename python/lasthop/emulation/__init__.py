"""A scenario in real time: the engine's cell between network namespaces with real TCP."""

from lasthop.emulation.emulate import Emulation, emulate

__all__ = ["Emulation", "emulate"]
