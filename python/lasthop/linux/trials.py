"""Tests of this process's rights in child processes. They leave nothing behind."""

import os
from collections.abc import Callable

from lasthop.linux.rights import CLONE_NEWNET, CLONE_NEWUSER
from lasthop.linux.syscalls import call

__all__ = ["has_ptrace", "has_user_namespaces"]

PTRACE_TRACEME = 0


def has_user_namespaces() -> bool:
    """Return whether this process may create a user namespace with a network namespace."""
    return succeeds(lambda: call("unshare", CLONE_NEWUSER | CLONE_NEWNET))


def has_ptrace() -> bool:
    """Return whether a child of this process may be traced (ptrace)."""
    return succeeds(lambda: call("ptrace", PTRACE_TRACEME, 0, 0, 0))


def succeeds(work: Callable[[], object]) -> bool:
    """Return whether a function raises no error in a child process."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0
