"""Commands, functions and packages of lasthop that need Linux, and the error on other systems.

Modules outside these packages do not import them at import time. A test checks this.
"""

import sys
from typing import Any

from lasthop.errors import UserError

__all__ = [
    "COMMANDS",
    "LINUX_PACKAGES",
    "LinuxOnly",
    "NeedsLinuxError",
    "is_linux",
    "is_linux_only",
    "linux_error",
    "require_linux",
]

LINUX_PACKAGES = ("daemon", "emulation", "enforce", "linux", "relay", "uml")
"""Packages directly below `lasthop` that use the kernel of Linux."""

COMMANDS = ("congestion", "emulate", "gateway", "kernel", "queue", "relay")
"""Commands and groups of commands that need Linux."""

REMEDIES = {"win32": "run it in WSL 2"}
"""Remedies on systems with their own way to run Linux, by the value of `sys.platform`."""

VIRTUAL_MACHINE = "run it in a Linux virtual machine"
"""Remedy on all other systems."""

IN_THE_PATH = "run it on the Linux machine between the guests and the Internet"
"""Remedy for commands that shape the traffic of other machines."""

COMMANDS_IN_THE_PATH = ("lasthop gateway", "lasthop queue")


def is_linux() -> bool:
    """Return whether this system is Linux."""
    return sys.platform == "linux"


def is_linux_only(module: str) -> bool:
    """Return whether a module belongs to one of `LINUX_PACKAGES`. The name is relative to
    `lasthop`.
    """
    return module.partition(".")[0] in LINUX_PACKAGES


class NeedsLinuxError(UserError, ImportError):
    """Error of a command, function or package that needs Linux, on another system. Tools that
    import all modules of a package skip those that raise an `ImportError`.
    """


def linux_error(name: str, system: str | None = None) -> NeedsLinuxError | None:
    """Return the error of a command, function or package that needs Linux; None on Linux.

    Parameters
    ----------
    name : str
        Name of the command, function or package.
    system : str, optional
        Name of the system, as in `sys.platform`; by default that of this machine.
    """
    system = sys.platform if system is None else system
    if system == "linux":
        return None
    remedy = REMEDIES.get(system, VIRTUAL_MACHINE)
    if name in COMMANDS_IN_THE_PATH:
        remedy = IN_THE_PATH
    return NeedsLinuxError(f"`{name}` needs Linux", remedy)


def require_linux(name: str) -> None:
    """Refuse a command, function or package on systems other than Linux.

    Raises
    ------
    NeedsLinuxError
        If this system is not Linux.
    """
    if (error := linux_error(name)) is not None:
        raise error


class LinuxOnly:
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
        require_linux(self._name)

    def __getattr__(self, attribute: str) -> Any:
        """Raise `NeedsLinuxError`, or `AttributeError` for a private attribute."""
        if not attribute.startswith("_"):
            require_linux(f"{self._name}.{attribute}")
        raise AttributeError(attribute)
