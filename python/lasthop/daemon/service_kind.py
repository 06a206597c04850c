"""Kinds of services that run in the background, such as gateways and shaped queues."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic

from lasthop.daemon.configuration import Read, Wanted
from lasthop.daemon.log import say
from lasthop.daemon.state import State

Show = Callable[[dict[str, Any]], None]
"""Function that is called with the status every second."""


@dataclass(frozen=True)
class ServiceContext(Generic[Wanted]):
    """Arguments of a service that runs in a separate process."""

    wanted: Wanted
    state: State
    """State of the service, whose lock this process holds."""
    read_again: Callable[[], Wanted]
    """Function that reads the file again."""
    say: Callable[[str], None] = say
    """Function that writes a line of the log."""
    is_up: Callable[[], None] = lambda: None
    """Function to call when everything is set up."""
    show: Show | None = None


@dataclass(frozen=True)
class ServiceKind(Generic[Wanted]):
    """Kind of services. A service sets up an interface, monitors it, and reverts its changes."""

    word: str
    """Name of the kind in commands and messages."""
    read: Read[Wanted]
    interface: Callable[[Wanted], str]
    """Function that returns the interface of a service. No two services share an interface."""
    refuse: Callable[[Wanted, State, bool], None]
    """Function that refuses a configuration that would fail, before a file is written.

    The last argument is whether the service is already up.
    """
    serve: Callable[[ServiceContext[Wanted]], None]
    """Function that sets a service up, runs it until it is stopped, and reverts all its changes."""
