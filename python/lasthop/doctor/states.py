"""States of verbs and of extras on a machine."""

from dataclasses import dataclass

from lasthop.doctor.limits import Limit

__all__ = ["NO", "PARTLY", "RUNS", "Extra", "VerbState"]

RUNS, PARTLY, NO = "runs", "partly", "no"
"""States of a verb: it runs, it runs without some of its parts, or it does not run."""


@dataclass(frozen=True)
class VerbState:
    """State of a verb on a machine."""

    verb: str
    group: str
    state: str
    """State of the verb: ``runs``, ``partly`` or ``no``."""
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True)
class Extra:
    """Optional packages that belong together."""

    name: str
    missing: tuple[str, ...]
    """Packages that are not installed."""
    remedy: str | None
    """Command that installs the packages; None if all are installed."""
