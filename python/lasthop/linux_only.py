"""Commands, functions and packages of lasthop that need Linux, and the error on other systems.

No other module outside of `PACKAGES` imports from `PACKAGES` when it is imported itself. A test
checks this.
"""

import sys
from typing import Any

from lasthop.errors import UserError

__all__ = [
    "COMMANDS",
    "OTHER_KERNEL",
    "PACKAGES",
    "NeedsLinuxError",
    "Unavailable",
    "is_linux",
    "is_linux_only",
    "need_linux",
    "refusal",
]

PACKAGES = ("daemon", "emulation", "enforce", "linux", "relay", "uml")
"""Packages directly below `lasthop` that use the kernel of Linux."""

COMMANDS = ("congestion", "emulate", "gateway", "kernel", "queue", "relay")
"""Commands and groups of commands that need Linux."""

ELSEWHERE = {
    "darwin": "; on macOS use a Linux virtual machine",
    "win32": "; on Windows use WSL 2",
}
"""Ways to run Linux on other systems, by the value of `sys.platform`."""

OTHER_KERNEL = "install a kernel, or a package of its modules, that has it"
"""Remedy for a kernel without a feature."""


def is_linux() -> bool:
    """Return whether this system is Linux."""
    return sys.platform == "linux"


def is_linux_only(module: str) -> bool:
    """Return whether a module belongs to one of `PACKAGES`. The name is relative to `lasthop`."""
    return module.partition(".")[0] in PACKAGES


class NeedsLinuxError(UserError, ImportError):
    """Error of a command, function or package that needs Linux, on another system. Tools that
    import all modules of a package skip those that raise an `ImportError`.
    """


def refusal(what: str, system: str | None = None) -> NeedsLinuxError | None:
    """Return the error of a command, function or package that needs Linux; None on Linux.

    Parameters
    ----------
    what : str
        Name of the command, function or package.
    system : str, optional
        Name of the system, as in `sys.platform`; by default that of this machine.
    """
    system = sys.platform if system is None else system
    if system == "linux":
        return None
    return NeedsLinuxError(f"`{what}` needs Linux{ELSEWHERE.get(system, '')}")


def need_linux(what: str) -> None:
    """Refuse a command, function or package on other systems than Linux.

    Raises
    ------
    NeedsLinuxError
        If this system is not Linux.
    """
    if (error := refusal(what)) is not None:
        raise error


class Unavailable:
    """Stand-in for a public function or package that needs Linux. It can be imported on other
    systems, but each use raises `NeedsLinuxError`.

    Parameters
    ----------
    name : str
        Public name, such as ``lasthop.emulate``.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<{self._name}: needs Linux>"

    def __call__(self, *args: object, **kwargs: object) -> None:
        """Raise `NeedsLinuxError`."""
        need_linux(self._name)

    def __getattr__(self, attribute: str) -> Any:
        """Raise `NeedsLinuxError`, or `AttributeError` for a private attribute."""
        if not attribute.startswith("_"):
            need_linux(f"{self._name}.{attribute}")
        raise AttributeError(attribute)
