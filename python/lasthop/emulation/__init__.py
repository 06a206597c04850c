"""Emulations: the engine simulates the network between network namespaces, which use the TCP of
Linux."""

from lasthop.linux_only import is_linux, require_linux

if not is_linux():
    require_linux("lasthop.emulation")

from lasthop.emulated.emulation import Emulation
from lasthop.emulation.emulate import emulate

__all__ = ["Emulation", "emulate"]
