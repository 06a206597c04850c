"""Emulations: the engine simulates the network between network namespaces, which use the TCP of
Linux."""

from lasthop.emulation.emulate import emulate
from lasthop.emulation.emulation import Emulation

__all__ = ["Emulation", "emulate"]
