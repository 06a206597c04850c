"""States of commands and of extras on a machine."""

from dataclasses import dataclass

from lasthop.doctor.limits import Limit

__all__ = ["FAILS", "PARTLY", "RUNS", "CommandState", "Extra"]

RUNS, PARTLY, FAILS = "runs", "partly", "fails"
"""States of a command: it runs, it runs without some of its parts, or it does not run."""


@dataclass(frozen=True)
class CommandState:
    """State of a command on a machine."""

    command: str
    group: str
    state: str
    """``runs``, ``partly`` or ``fails``."""
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True)
class Extra:
    """Optional packages that belong together."""

    name: str
    missing: tuple[str, ...]
    """Packages that are not installed."""
    remedy: str | None
    """Command that installs the packages; None if all are installed."""
