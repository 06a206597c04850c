"""Congestion controls that can be loaded into Linux, and their names there.

The sources of the objects in `share` are in `crates/bpf`.
"""

import os
from pathlib import Path
from typing import NamedTuple

from lasthop.errors import UserError

SHARE = Path(__file__).parent / "share"


class Control(NamedTuple):
    """A congestion control of the engine as an object for the kernel."""

    name: str
    """Name of the congestion control in scenarios."""
    kernel_name: str
    """Name of the congestion control in the kernel if a user loads it."""
    short: str
    """Beginning of the congestion control's kernel name while an emulation uses it."""
    is_everyones: bool
    """Whether the kernel may already have a congestion control of this name."""
    line: str

    @property
    def object(self) -> bytes:
        """Object file that the kernel loads."""
        return (SHARE / f"{self.name}.o").read_bytes()

    @property
    def own_name(self) -> str:
        """Return the kernel name that only this process uses; at most 15 characters."""
        return f"{self.short}_{os.getpid()}"


CONTROLS = {
    each.name: each
    for each in (
        Control("compound", "lasthop_ctcp", "ctcp", False, "Reno and the queueing delay"),
        Control("illinois", "illinois", "illi", True, "Reno by the queueing delay"),
    )
}


def control(name: str) -> Control:
    """Return the congestion control with this name in scenarios or in the kernel.

    Raises
    ------
    UserError
        If no congestion control has this name.
    """
    for each in CONTROLS.values():
        if name in (each.name, each.kernel_name):
            return each
    raise UserError(
        f'congestion control "{name}": unknown: nothing to load', f"choose {', '.join(CONTROLS)}"
    )
