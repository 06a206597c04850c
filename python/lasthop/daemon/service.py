"""Base class of a service, which sets up the kernel's state, answers requests, applies changed
configurations, and reverts its changes."""

import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any, Generic

from lasthop.daemon.configuration import Read, Wanted
from lasthop.daemon.control import Control
from lasthop.daemon.kernel_state import KernelState
from lasthop.daemon.loop import Loop, in_words
from lasthop.daemon.service_kind import ServiceContext
from lasthop.errors import UserError


class Service(ABC, Generic[Wanted]):
    """Base class of services.

    Parameters
    ----------
    context : ServiceContext
    """

    def __init__(self, context: ServiceContext[Wanted]) -> None:
        self.context = context
        self.state = context.state
        self.again = context.read_again
        self.loop = Loop(context.say)
        self.started_s = time.time()

    def serve(self) -> None:
        """Set up the service, run it until it is stopped, and revert all changes."""
        try:
            try:
                with self.published():
                    self.up()
                    self.run()
            finally:
                remaining = self.down()
            if remaining:
                raise UserError(
                    remaining[0], f"see {self.state.log.path} for the remaining changes"
                )
        finally:
            self.close()

    def published(self) -> AbstractContextManager[None]:
        """Return a context in which other programs can read the status. By default, nothing is
        published."""
        return nullcontext()

    def up(self) -> None:
        """Revert the changes that a killed process has left, and set up the service."""
        remaining = self.kernel_state.changes.undo_all()
        if remaining:
            raise UserError(f"{self.state.log.path}: {remaining[0]}", "undo the named change first")
        self.prepare()
        self.set_up()

    def prepare(self) -> None:
        """Collect information about the state to set up, if the configuration does not define
        everything."""

    def listen(self, stack: ExitStack, read: Read[Wanted]) -> None:
        """Answer requests and signals until `stack` ends. `read` reads the files that requests
        name."""
        control = Control(self.state, self, read)
        asked = control.open(stack)
        self.loop.watch(asked, lambda: control.serve(asked))
        self.loop.take_signals(stack, {signal.SIGHUP: self.reload_and_log})

    def down(self) -> list[str]:
        """Revert all changes. Return a message for each change that could not be reverted."""
        return self.kernel_state.down()

    def stop(self) -> None:
        """Stop the service after the present iteration of its event loop."""
        self.loop.stop()

    def reload_and_log(self) -> None:
        """Read the configuration file again. If the file is refused, write the reason to the
        log."""
        for line in self.reload():
            self.context.say(f"reload refused: {line}")

    def reload(self, again: Callable[[], Wanted] | None = None) -> list[str]:
        """Read the configuration file again, or use another file from now on.

        Return error messages. After an error, the service continues with its old configuration.
        """
        read = again or self.again
        try:
            wanted = read()
            self.refuse(wanted)
            self.take_over(wanted)
        except UserError as error:
            return str(error).splitlines()
        except Exception as error:
            return [in_words(error)]
        self.again = read
        return []

    @property
    @abstractmethod
    def kernel_state(self) -> KernelState:
        """State of the kernel that the service has set up."""

    @abstractmethod
    def set_up(self) -> None:
        """Set up the kernel's state, and start the events and counters of the service."""

    @abstractmethod
    def run(self) -> None:
        """Run until SIGTERM, SIGINT or a request to stop arrives."""

    @abstractmethod
    def status(self) -> dict[str, Any]:
        """Return the status of the service, for people and programs."""

    @abstractmethod
    def refuse(self, wanted: Wanted) -> None:
        """Raise `UserError` for a configuration that cannot be applied, before anything is
        changed."""

    @abstractmethod
    def take_over(self, wanted: Wanted) -> None:
        """Apply another configuration. If this fails, restore the present configuration."""

    @abstractmethod
    def close(self) -> None:
        """Close the sockets."""
