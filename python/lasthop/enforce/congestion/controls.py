"""TCP congestion controls that can be loaded into Linux, and their names in the kernel.

The directory `share` contains the compiled BPF objects. Their C sources are in `crates/bpf`.
"""

import os
from pathlib import Path
from typing import NamedTuple

from lasthop.errors import UserError

SHARE = Path(__file__).parent / "share"


class Control(NamedTuple):
    """A TCP congestion control of the engine, compiled as a BPF object for the kernel."""

    name: str
    """Name of the congestion control in scenarios."""
    kernel_name: str
    """Name in the kernel if a user loads the congestion control for the whole machine."""
    short: str
    """Beginning of `own_name`. This is the name in the kernel if a process loads the congestion
    control only for itself, such as for an emulation.
    """
    is_everyones: bool
    """Whether `kernel_name` is also the name of a congestion control in the Linux sources, so that
    a kernel may already have it.
    """
    line: str

    @property
    def object(self) -> bytes:
        """BPF object file that the kernel loads."""
        return (SHARE / f"{self.name}.o").read_bytes()

    @property
    def own_name(self) -> str:
        """Kernel name that is unique to this process, of at most 15 characters."""
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
