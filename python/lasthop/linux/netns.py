"""Network namespaces without a name. Such a namespace exists as long as a descriptor or a socket
refers to it.

No clean-up is necessary. When the process ends, even if it is killed, the kernel closes its
descriptors. When the last descriptor of a namespace is closed, the kernel removes the namespace and
every interface in it.
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
    """New network namespace, which only one thread may enter at a time.

    Raises
    ------
    UserError
        If this process may not create a namespace.
    """

    def __init__(self) -> None:
        self.descriptor = in_a_thread(_made)

    def run(self, work: Callable[[], T]) -> T:
        """Run `work` in a new thread inside the namespace, and return the result of `work`.

        A socket or an interface that `work` creates stays in the namespace.
        """

        def inside() -> T:
            call("setns", self.descriptor, CLONE_NEWNET)
            return work()

        return in_a_thread(inside)

    def close(self) -> None:
        """Close the descriptor of the namespace. The kernel removes the namespace when no socket in
        it remains open."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def _made() -> int:
    try:
        call("unshare", CLONE_NEWNET)
    except OSError as error:
        raise refusal(error) from None
    return os.open(OWN, os.O_RDONLY | os.O_CLOEXEC)


def refusal(error: OSError) -> UserError:
    """Return the error for a process that cannot create a network namespace."""
    return UserError(
        f"network namespaces: {error.strerror}",
        "run it as root, or under `unshare -Urnm` where the system lets users do that; "
        "simulated time (`--virtual`) needs no root",
    )


def refused() -> UserError | None:
    """Return the error of `Namespace` if this process may not create a namespace, else None. The
    test creates a namespace and removes it."""
    try:
        Namespace().close()
    except UserError as error:
        return error
    return None


def in_a_thread(work: Callable[[], T]) -> T:
    """Run `work` in a new thread, and return its result. If `work` enters a namespace, other
    threads are not affected."""
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
