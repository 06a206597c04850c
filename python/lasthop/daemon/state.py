"""State directory of a service: a lock, the undo log, and a socket for requests.

Each network namespace has separate state directories, since it has different interfaces.
"""

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE
from typing import Any, NamedTuple

from lasthop.errors import AS_ROOT, UserError
from lasthop.linux.identity import Whose, identity_of, is_first, own_identity
from lasthop.linux.own_file import SAFELY, open_own
from lasthop.linux.undo import UndoLog

RUN = Path("/run/lasthop")
ANSWER_BYTES = 1 << 24
PATIENCE_S = 20.0
"""Time limit for replies to requests. Setting up thousands of stations takes some seconds. [s]"""
LOOK_S = 0.1
"""Longest time for which a process waits for the lock. Another process may hold the lock for a
moment, only to test whether the lock is free. [s]
"""
LOCK, HOLDS, NAMESPACE, SORT = "lock", "file", "namespace", "sort"
NOT_THERE = (FileNotFoundError, NotADirectoryError)


def state_of(interface: str, directory: Path | None) -> "State":
    """Return the state directory of an interface's service. An interface has at most one service.

    In a network namespace other than the first, the directory's name ends with the number of the
    namespace.
    """
    if directory is not None:
        return State(directory)
    own = own_identity()
    usual, apart = State(RUN / interface), State(RUN / f"{interface}@{own.number}")
    for state in (usual, apart):
        if state.is_in_use() and state.whose() == "ours":
            return state
    # Without permission, `is_first` may be wrong. Therefore the usual directory is not taken if a
    # service of another namespace uses it.
    return usual if is_first() and not usual.is_in_use() else apart


class InUse(NamedTuple):
    """State directories in the default folder that are in use: their service is up, or was killed
    and left changes in the kernel.
    """

    here: list["State"]
    elsewhere: list["State"]
    """State directories of services in other network namespaces."""
    hidden: list[UserError]
    """Errors about state directories that this process may not read."""


def in_use(word: str) -> InUse:
    """Return the state directories of all services of this kind."""
    result = InUse([], [], [])
    try:
        with errors_named(RUN, *NOT_THERE):
            directories = sorted(RUN.iterdir())
    except NOT_THERE:
        return result
    except UserError as error:
        result.hidden.append(error)
        return result
    for state in map(State, directories):
        try:
            if state.is_in_use() and state.word() == word:
                (result.here if state.whose() == "ours" else result.elsewhere).append(state)
        except UserError as error:
            result.hidden.append(error)
    return result


class State:
    """State directory of a service with its lock. The directory remains after the process ends; the
    kernel releases the lock when the process ends.

    Parameters
    ----------
    directory : Path
        Path of the state directory. A relative path starts at the present working directory.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = absolute(directory)
        self.log = UndoLog(self.directory / "undo.log")
        self.lock: int | None = None

    # Files of the directory.

    def make(self) -> None:
        """Create the directory with access only for its owner. An existing directory that belongs
        to a user keeps its permissions."""
        with errors_named(self.directory):
            if self.directory.parent == RUN:
                for each in (RUN, self.directory):
                    each.mkdir(parents=True, exist_ok=True)
                    result = each.stat()
                    if result.st_uid == os.geteuid() and S_IMODE(result.st_mode) != 0o700:
                        each.chmod(0o700)
                if self.directory.is_symlink():
                    raise UserError(f"{self.directory}: it is a symbolic link")
                give(self.directory, RUN)
            elif not self.directory.is_dir():
                self.directory.mkdir(parents=True)
                self.directory.chmod(0o700)

    @property
    def exists(self) -> bool:
        """Whether the directory exists."""
        try:
            with errors_named(self.directory, *NOT_THERE):
                os.listdir(self.directory)
        except NOT_THERE:
            return False
        return True

    def write(self, name: str, text: str) -> None:
        """Write a small file that only its owner can access."""
        path = self.directory / name
        with errors_named(path):
            handle = open_own(path, os.O_WRONLY | os.O_TRUNC)
            try:
                give(handle, self.directory)
                os.write(handle, text.encode())
            finally:
                os.close(handle)

    def read(self, name: str) -> str:
        """Return the content of a small file; empty if the file does not exist."""
        try:
            return (self.directory / name).read_text()
        except (OSError, ValueError):
            return ""

    # Lock of the directory.

    def take(self) -> bool:
        """Acquire the lock, which the kernel releases when this process ends. Return whether the
        lock was free."""
        with errors_named(self.directory / LOCK):
            handle = open_own(self.directory / LOCK, os.O_RDWR)
            give(handle, self.directory)
        return self.hold(handle)

    def take_to_undo(self) -> bool:
        """Acquire the lock without writing to the directory. Return whether the lock was free."""
        try:
            with errors_named(self.directory / LOCK, *NOT_THERE):
                handle = os.open(self.directory / LOCK, os.O_RDONLY | SAFELY)
        except NOT_THERE:
            return self.take()
        return self.hold(handle)

    def hold(self, handle: int) -> bool:
        """Lock the file of this descriptor. Return whether no service held the lock."""
        until_s = time.monotonic() + LOOK_S
        while not locked(handle, fcntl.LOCK_EX):
            if time.monotonic() > until_s:
                os.close(handle)
                return False
            time.sleep(LOOK_S / 10)
        self.lock = handle
        return True

    def release(self) -> None:
        """Release the lock."""
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None

    def is_held(self) -> bool:
        """Test without writing whether a process holds the lock."""
        try:
            with errors_named(self.directory / LOCK, *NOT_THERE):
                handle = os.open(self.directory / LOCK, os.O_RDONLY | SAFELY)
        except NOT_THERE:
            return False
        try:
            return not locked(handle, fcntl.LOCK_SH)
        finally:
            os.close(handle)

    def is_in_use(self) -> bool:
        """Return whether a service runs, or whether a killed process has left changes."""
        if self.is_held():
            return True
        return self.exists and bool(self.log.records()) and self.whose() != "gone"

    # Process, file and namespace of the service.

    def begin(self, file: Path | None, word: str) -> None:
        """Write the files that describe the service: its process, configuration file, kind, and
        network namespace.

        Raises
        ------
        UserError
            If changes of an earlier process remain in another namespace.
        """
        if self.lock is None:
            return
        self.forget_what_is_gone()
        self.refuse_anothers()
        with errors_named(self.directory / LOCK):
            os.ftruncate(self.lock, 0)
            os.pwrite(self.lock, f"{os.getpid()}\n".encode(), 0)
        self.write(NAMESPACE, f"{own_identity()}\n")
        self.write(SORT, f"{word}\n")
        self.write_file(file)

    def write_file(self, file: Path | None) -> None:
        """Write the path of the configuration file; None stands for standard input."""
        self.write(HOLDS, "" if file is None else str(file))

    def file(self) -> Path | None:
        """Return the path of the configuration file, if it is known."""
        path = self.read(HOLDS)
        return Path(path) if path else None

    def word(self) -> str:
        """Return the kind of the service; by default, a gateway."""
        return self.read(SORT).strip() or "gateway"

    def whose(self) -> Whose:
        """Return whether the service is in the network namespace of this process (``"ours"``), in
        another namespace (``"another's"``), or in a namespace that no longer exists (``"gone"``).
        If the namespace of the service is not known, return ``"ours"``."""
        identity = identity_of(self.read(NAMESPACE))
        return "ours" if identity is None else identity.whose(own_identity())

    def forget_what_is_gone(self) -> int:
        """Remove the log records of changes in a network namespace that no longer exists. Return
        the number of removed records."""
        count = len(self.log.records()) if self.whose() == "gone" else 0
        if count:
            self.log.clear()
        return count

    def refuse_anothers(self) -> None:
        """Raise `UserError` if the log contains changes in another network namespace, which this
        process cannot revert."""
        if self.whose() == "another's" and self.log.records():
            raise UserError(f"{self.directory}: the remaining state is {self.where()}", self.way())

    def where(self) -> str:
        """Return a text which states that the service is in another network namespace."""
        identity = identity_of(self.read(NAMESPACE))
        return f"of another network namespace, number {identity.number if identity else '?'}"

    def way(self) -> str:
        """Return a hint on how to enter the network namespace of the service."""
        if self.is_held() and (number := self.read(LOCK).strip()):
            return f"enter it by nsenter --net=/proc/{number}/ns/net"
        return (
            "enter it by ip netns exec or nsenter; run lsns -t net to list namespaces with "
            "processes"
        )

    def holder(self) -> str:
        """Return a text that names the process that holds the lock."""
        number = self.read(LOCK).strip()
        return f"process {number}" if number else "another process"

    def refuse_stopped(self) -> None:
        """Raise `UserError` if the process of the service is stopped (Ctrl-Z, SIGSTOP) and cannot
        reply."""
        try:
            number = int(self.read(LOCK))
            text = Path("/proc", str(number), "stat").read_text()
        except (OSError, ValueError):
            return
        if text.rpartition(")")[2].split()[0] in ("T", "t"):
            raise UserError(
                f"{self.directory}: process {number} is stopped and does not answer",
                f"continue it by kill -CONT {number}, or end it by kill -9 {number} and revert all "
                "changes by `down`",
            )

    # Requests to the process of the service.

    @property
    def address(self) -> str:
        """Address of the socket of the service's process."""
        return str(self.directory / "control")

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request to the process that holds the lock, and return its reply. Raise
        `UserError` if there is no reply."""
        answer = self.ask(request)
        if answer is None:
            raise UserError(f"{self.directory}: {self.holder()} does not answer")
        return answer

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """Send a request to the process that holds the lock, and return its reply. Return None if
        there is no reply."""
        self.refuse_stopped()
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as present:
                present.settimeout(PATIENCE_S)
                present.connect(self.address)
                present.sendall(json.dumps(request).encode() + b"\n")
                present.shutdown(socket.SHUT_WR)
                with present.makefile("rb") as file:
                    answer = json.loads(file.read(ANSWER_BYTES))
        except PermissionError as error:
            raise UserError(f"{self.address}: {error.strerror}", who(error)) from None
        except (OSError, ValueError, RecursionError):
            self.refuse_stopped()
            return None
        return answer if isinstance(answer, dict) else None


def give(what: int | Path, like: Path) -> None:
    """If this process is root, give the file `what` the same owner as the file `like`, since the
    service may run as this owner."""
    if os.geteuid() == 0:
        owner, before = like.stat(), os.stat(what)
        if (owner.st_uid, owner.st_gid) != (before.st_uid, before.st_gid):
            os.chown(what, owner.st_uid, owner.st_gid)


def locked(handle: int, kind: int) -> bool:
    """Lock a file without waiting. Return whether the lock was free."""
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def absolute(path: Path) -> Path:
    """Return a path as an absolute path."""
    with errors_named(path):
        return path.absolute()


@contextmanager
def errors_named(path: Path, *expected: type[OSError]) -> Iterator[None]:
    """Convert an `OSError` about a path to a `UserError` with a message of one line. Errors of the
    types `expected` are not converted."""
    try:
        yield
    except expected:
        raise
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}", who(error)) from None


def who(error: OSError) -> str | None:
    """Return a hint about the missing permission; None if a missing permission did not cause the
    error."""
    return AS_ROOT if isinstance(error, PermissionError) and os.geteuid() != 0 else None
