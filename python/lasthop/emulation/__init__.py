"""A scenario with the TCP of Linux: the engine's network between network namespaces."""

from lasthop.emulation.emulate import Emulation, emulate

__all__ = ["Emulation", "emulate"]
