"""Base class for the kernel's state that a service sets up and reverts."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Self

from lasthop.daemon.differences import Difference
from lasthop.linux.changes import Changes
from lasthop.linux.netlink import Socket
from lasthop.linux.undo import UndoLog

__all__ = ["KernelState", "undo_everything"]


class KernelState(ABC):
    """Base class of the kernel's state that a service sets up and reverts.

    Parameters
    ----------
    log : UndoLog
        Undo log with the inverses of the changes. The log must be empty before the state is set up.
    after_message : callable, optional
        Function that is called after every message to the kernel, so that a test can interrupt
        between two messages.
    """

    def __init__(self, log: UndoLog, after_message: Callable[[], None] | None = None) -> None:
        self.kernel = Socket(after_message)
        self.changes = Changes(self.kernel, log)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the netlink socket and the BPF programs. The kernel's state is not changed."""
        self.kernel.close()
        self.unload_programs()

    @abstractmethod
    def unload_programs(self) -> None:
        """Close the descriptors of the BPF programs."""

    @abstractmethod
    def down(self) -> list[str]:
        """Revert all changes. Return a message for each change that could not be reverted."""

    @contextmanager
    def reverted_on_failure(self) -> Iterator[None]:
        """Revert all changes if the body raises an exception."""
        try:
            yield
        except BaseException:
            self.down()
            raise

    def repair(self, differences: Iterable[Difference]) -> None:
        """Repair differences. Then raise `UserError` for the first repair that the kernel
        refused."""
        self.changes.repair([repair for difference in differences for repair in difference.repair])


def undo_everything(log: UndoLog) -> list[str]:
    """Revert the changes that another process has logged. Return a message for each change that
    could not be reverted."""
    with Socket() as kernel:
        return Changes(kernel, log).undo_all()
