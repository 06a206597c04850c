"""A service that is set up. It answers requests, applies other files, and reverts its changes."""

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
        """Set up, run until the service is stopped, and revert all changes."""
        try:
            try:
                with self.published():
                    self.up()
                    self.run()
            finally:
                remaining = self.down()
            if remaining:
                raise UserError(remaining[0], f"{self.state.log.path} lists the remaining changes")
        finally:
            self.close()

    def published(self) -> AbstractContextManager[None]:
        """Return the context in which other programs can read the status."""
        return nullcontext()

    def up(self) -> None:
        """Revert the changes that a killed process has left, and set up."""
        remaining = self.kernel_state.changes.undo_all()
        if remaining:
            raise UserError(f"{self.state.log.path}: {remaining[0]}", "undo the named change first")
        self.prepare()
        self.set_up()

    def prepare(self) -> None:
        """Find out what is to be set up, if the configuration does not define everything."""

    def listen(self, stack: ExitStack, read: Read[Wanted]) -> None:
        """Answer requests and signals until `stack` is left. `read` reads files that requests
        name."""
        control = Control(self.state, self, read)
        asked = control.open(stack)
        self.loop.watch(asked, lambda: control.serve(asked))
        self.loop.take_signals(stack, {signal.SIGHUP: self.reload_and_log})

    def down(self) -> list[str]:
        """Revert all changes, and return the changes that could not be reverted, in words."""
        return self.kernel_state.down()

    def stop(self) -> None:
        """End after the present step of the loop."""
        self.loop.stop()

    def reload_and_log(self) -> None:
        """Read the file again. If the file is refused, write the reason to the log."""
        for line in self.reload():
            self.context.say(f"reload refused: {line}")

    def reload(self, again: Callable[[], Wanted] | None = None) -> list[str]:
        """Read the file again, or use another file from now on.

        Return the errors in words. After an error the service is unchanged.
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
        """Set up the kernel, and the events and counters of the service."""

    @abstractmethod
    def run(self) -> None:
        """Run until SIGTERM, SIGINT or a request to stop."""

    @abstractmethod
    def status(self) -> dict[str, Any]:
        """Return the status, for people and programs."""

    @abstractmethod
    def refuse(self, wanted: Wanted) -> None:
        """Raise `UserError` for a configuration that cannot be applied, before anything is
        changed."""

    @abstractmethod
    def take_over(self, wanted: Wanted) -> None:
        """Apply another configuration. If this fails, keep the present configuration."""

    @abstractmethod
    def close(self) -> None:
        """Close the sockets."""
