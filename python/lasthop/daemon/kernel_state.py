"""State of the kernel that a service sets up and reverts."""

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
    """Base class of the state of the kernel that a service sets up.

    Parameters
    ----------
    log : UndoLog
        Inverses of the changes; empty before the state is set up.
    after_message : callable, optional
        Function that is called after every message to the kernel. Tests interrupt there.
    """

    def __init__(self, log: UndoLog, after_message: Callable[[], None] | None = None) -> None:
        self.kernel = Socket(after_message)
        self.changes = Changes(self.kernel, log)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection to the kernel and the programs. The state of the kernel remains."""
        self.kernel.close()
        self.unload_programs()

    @abstractmethod
    def unload_programs(self) -> None:
        """Close the BPF programs."""

    @abstractmethod
    def down(self) -> list[str]:
        """Revert all changes, and return the changes that could not be reverted, in words."""

    @contextmanager
    def reverted_on_failure(self) -> Iterator[None]:
        """Revert all changes if the block raises an exception."""
        try:
            yield
        except BaseException:
            self.down()
            raise

    def repair(self, differences: Iterable[Difference]) -> None:
        """Repair differences. Then raise `UserError` for the first repair that was refused."""
        self.changes.repair([repair for difference in differences for repair in difference.repair])


def undo_everything(log: UndoLog) -> list[str]:
    """Revert the changes of another process, and return the changes that could not be reverted, in
    words."""
    with Socket() as kernel:
        return Changes(kernel, log).undo_all()
