"""What can be up in the background: a sort of it says what it reads and how it is served."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from lasthop.daemon.state import State
from lasthop.linux.undo import UndoLog

Wanted = TypeVar("Wanted")
"""What a file asks for, checked."""
Settings = Sequence[tuple[str, str]]
"""Values set from the command line."""
Show = Callable[[dict[str, Any]], None]
"""Takes a status every second."""


Read: TypeAlias = Callable[[str | Path, Settings], Wanted]
"""Reads a file with values set over it; `UserError` if anything is wrong with it."""


@dataclass(frozen=True)
class Life(Generic[Wanted]):
    """All that a process in the background is given."""

    wanted: Wanted
    state: State
    """Its lock is held by this process."""
    again: Callable[[], Wanted]
    """Reads the file anew."""
    say: Callable[[str], None]
    """Takes lines of the log."""
    is_up: Callable[[], None]
    """To be called once all is set up."""
    show: Show | None


@dataclass(frozen=True)
class Sort(Generic[Wanted]):
    """Something that is set up at an interface, looked after, and taken back."""

    word: str
    """What commands and messages call it."""
    read: Read[Wanted]
    interface: Callable[[Wanted], str]
    """Which no two share."""
    refuse: Callable[[Wanted, State, bool], None]
    """Refuses what can be known to fail before a file is written; whether it is up already."""
    serve: Callable[[Life[Wanted]], None]
    """Sets up, runs until it is to end, and takes everything back."""
    undo: Callable[[UndoLog], list[str]]
    """Takes back what another process has left behind; what could not be, in words."""
