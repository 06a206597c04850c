"""The directory of a gateway that is up: a lock, the undo log, a socket to talk to it."""

import fcntl
import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lasthop.errors import UserError
from lasthop.gateway.config import Gateway
from lasthop.linux.undo import UndoLog

RUN = Path("/run/lasthop")
ANSWER_BYTES = 1 << 24
PATIENCE_S = 20.0
"""Setting up thousands of stations anew takes some seconds. [s]"""


def state_of(gateway: Gateway, directory: Path | None) -> "State":
    """The gateway's directory: by its interface towards the access points, which no two share."""
    return State(directory or RUN / gateway.lan)


def in_use() -> list["State"]:
    """Every directory, by default's place, of a gateway that is up or was killed."""
    try:
        directories = sorted(path for path in RUN.iterdir() if (path / "lock").exists())
    except OSError:
        return []
    return [state for state in map(State, directories) if state.is_in_use()]


class State:
    """A directory that outlives the process, and the lock that does not."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.log = UndoLog(directory / "undo.log")
        self.lock: int | None = None

    def make(self) -> None:
        """Make the directory, for root alone."""
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{self.directory}: {error.strerror}", who(error)) from None

    def take(self) -> bool:
        """Take the lock, which the kernel gives back when we end; whether it was free."""
        try:
            handle = os.open(self.directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise UserError(f"{self.directory}/lock: {error.strerror}", who(error)) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        self.lock = handle
        return True

    def write_holder(self, file: Path | None) -> None:
        """Write who holds the lock, for messages, and whose file it is."""
        if self.lock is None:
            return
        try:
            os.ftruncate(self.lock, 0)
            os.pwrite(self.lock, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            raise UserError(f"{self.directory}/lock: {error.strerror}") from None
        self.write_file(file)

    def write_file(self, file: Path | None) -> None:
        """Write which file this is the state of, None for standard input."""
        try:
            (self.directory / "file").write_text("" if file is None else str(file))
        except OSError as error:
            raise UserError(f"{self.directory}/file: {error.strerror}") from None

    def file(self) -> Path | None:
        """The file that this is the state of, if that is known."""
        try:
            path = (self.directory / "file").read_text()
        except (OSError, ValueError):
            return None
        return Path(path) if path else None

    def is_in_use(self) -> bool:
        """Whether a process runs, or one that was killed has left something."""
        if not self.directory.is_dir():
            return False
        is_free = self.take()
        self.release()
        return not is_free or bool(self.log.records())

    def refuse_stopped(self) -> None:
        """Refuse at once to wait for a process that is stopped (Ctrl-Z, SIGSTOP)."""
        try:
            number = int((self.directory / "lock").read_text())
            said = Path("/proc", str(number), "stat").read_text()
        except (OSError, ValueError):
            return
        if said.rpartition(")")[2].split()[0] in ("T", "t"):
            raise UserError(
                f"{self.directory}: process {number} is stopped and does not answer",
                f"kill -CONT {number} lets it go on; kill -9 {number} ends it, "
                "and `down` then takes everything back",
            )

    def release(self) -> None:
        """Give the lock back."""
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None

    def holder(self) -> str:
        """Who holds the lock, in words."""
        try:
            number = (self.directory / "lock").read_text().strip()
        except OSError:
            number = ""
        return f"process {number}" if number else "another process"

    @property
    def exists(self) -> bool:
        """Whether there is such a directory at all."""
        return self.directory.is_dir()

    @property
    def address(self) -> str:
        """Where the process listens."""
        return str(self.directory / "control")

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the process that holds the lock; `UserError` if it does not answer."""
        answer = self.ask(request)
        if answer is None:
            raise UserError(f"{self.directory}: {self.holder()} does not answer")
        return answer

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the process that holds the lock; None if there is none or it does not answer."""
        self.refuse_stopped()
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as there:
                there.settimeout(PATIENCE_S)
                there.connect(self.address)
                there.sendall(json.dumps(request).encode() + b"\n")
                there.shutdown(socket.SHUT_WR)
                with there.makefile("rb") as file:
                    answer = json.loads(file.read(ANSWER_BYTES))
        except (OSError, ValueError):
            return None
        return answer if isinstance(answer, dict) else None


def who(error: OSError) -> str | None:
    """A hint where another user would be let do it."""
    return "are you root?" if isinstance(error, PermissionError) and os.geteuid() != 0 else None
