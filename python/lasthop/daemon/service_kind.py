"""Description of a kind of service, such as gateways or shaped queues."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic

from lasthop.daemon.configuration import Read, Wanted
from lasthop.daemon.log import say
from lasthop.daemon.state import State

Show = Callable[[dict[str, Any]], None]
"""Function that the service calls with its status every second."""


@dataclass(frozen=True)
class ServiceContext(Generic[Wanted]):
    """Arguments of a running service."""

    wanted: Wanted
    state: State
    """State directory of the service, whose lock this process holds."""
    read_again: Callable[[], Wanted]
    """Function that reads the configuration file again."""
    say: Callable[[str], None] = say
    """Function that writes a line of the log."""
    is_up: Callable[[], None] = lambda: None
    """Function that the service calls when everything is set up."""
    show: Show | None = None


@dataclass(frozen=True)
class ServiceKind(Generic[Wanted]):
    """Kind of service. A service sets up an interface, monitors it, and reverts its changes."""

    word: str
    """Name of the kind of service in commands and messages."""
    read: Read[Wanted]
    interface: Callable[[Wanted], str]
    """Function that returns the interface of a service. Two services never share an interface."""
    refuse: Callable[[Wanted, State, bool], None]
    """Function that raises `UserError` for a configuration that the service could not set up. It is
    called before any file is written.

    The last argument is whether the service is already up.
    """
    serve: Callable[[ServiceContext[Wanted]], None]
    """Function that sets up a service, runs it until it is stopped, and reverts all its changes."""
