"""Network namespaces that have no name: they live as long as a descriptor or a socket of theirs.

Nothing is left to clean up: when the process ends, however it ends, the kernel takes its
descriptors, and with the last one the namespace and every interface in it.
"""

import os
import threading
from collections.abc import Callable
from typing import TypeVar

from lasthop.errors import UserError
from lasthop.linux.syscalls import call

CLONE_NEWNET = 0x40000000
OWN = "/proc/thread-self/ns/net"

T = TypeVar("T")


class Namespace:
    """A network namespace of its own, entered by a thread at a time.

    Raises
    ------
    UserError
        If this process may not make one.
    """

    def __init__(self) -> None:
        self.descriptor = in_a_thread(_made)

    def run(self, work: Callable[[], T]) -> T:
        """Do `work` inside, in a thread of its own, and return what it returns.

        A socket or an interface that is made there stays there.
        """

        def inside() -> T:
            call("setns", self.descriptor, CLONE_NEWNET)
            return work()

        return in_a_thread(inside)

    def close(self) -> None:
        """Let go of it; the kernel removes it with the last socket in it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def _made() -> int:
    try:
        call("unshare", CLONE_NEWNET)
    except PermissionError as error:
        raise UserError(
            f"network namespaces: {error.strerror}",
            "run it as root, or under `unshare -Urnm` where the system lets users do that; "
            "`lasthop emulate --virtual` needs no root",
        ) from None
    return os.open(OWN, os.O_RDONLY | os.O_CLOEXEC)


def in_a_thread(work: Callable[[], T]) -> T:
    """Do `work` in a thread of its own: namespaces are a thread's, and end with it."""
    done: list[T] = []
    failed: list[BaseException] = []

    def guarded() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]
