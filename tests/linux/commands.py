"""Run `lasthop` in a fork of this process, which has already imported the necessary modules.

A fork behaves like the program `lasthop`, and does not have the open files of this process. A fork
saves the start of Python and all imports, which take a third of a CPU second. Tests of the guide,
of the systemd unit and of the live view start the program as a new process. The tests that measure
the memory of a relay or kill an emulation do the same.
"""

import contextlib
import ctypes
import io
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Self

from rich.console import Console

from lab import GATEWAY, entered
from lasthop.cli import main
from lasthop.enforce.gateway.live import tables

CLONE_NEWNS = 0x00020000
"""Flag of unshare(2) for a new mount namespace."""
STREAMS = 3
"""Number of standard streams. The standard streams have the file descriptors 0 to 2."""
LONGEST_S = 120.0
"""Longest duration of a command; after this time, the command is killed. [s]"""
USED = (
    *(f"lasthop.emulation.{name}" for name in ("capture", "limits", "link", "replicate")),
    *("lasthop.cli.following", "lasthop.plot.about", "lasthop.relay.settings"),
    "lasthop.enforce.congestion.loading",
)
"""Modules that commands import when they run, in addition to the modules of the gateway."""


@cache
def ready() -> None:
    """Import the modules that commands need, before any fork. For this purpose, run a command that
    fails, and draw a table into memory.

    A fork that has become another user may not be allowed to read the files of modules.
    """
    with contextlib.redirect_stderr(io.StringIO()):
        assert main(["gateway", "status", "/dev/null"]) == 2
    for name in USED:
        import_module(name)
    status = {"aps": [], "stations": [], "faults": [], "warnings": [], "leaves": None}
    Console(file=io.StringIO()).print(tables(status))


class ForkedCommand:
    """A command that runs in a fork, by default in the network namespace of the calling thread.

    Parameters
    ----------
    words : sequence of str or path
        Arguments of `lasthop`.
    namespace : str, optional
        Another network namespace.
    mounts : str, optional
        A script that the fork runs first, in a new mount namespace.
    before : callable, optional
        A function that the fork calls after `mounts` and before the command.
    directory : path, optional
        The working directory of the command.
    is_read : bool
        Whether `stdout` is a pipe, to be read while the command runs.
    """

    def __init__(
        self,
        words: Sequence[str | Path],
        *,
        namespace: str | None = None,
        mounts: str | None = None,
        before: Callable[[], object] | None = None,
        directory: Path | None = None,
        is_read: bool = False,
    ) -> None:
        ready()
        self.args = [str(word) for word in words]
        self.returncode: int | None = None
        self.stdout: IO[str] | None = None
        self.files = [
            tempfile.TemporaryFile()  # noqa: SIM115 as long as the process
            for _ in ("output", "errors")
        ]
        out, err = (file.fileno() for file in self.files)
        reader = -1
        if is_read:
            reader, out = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                with contextlib.nullcontext() if namespace is None else entered(namespace):
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                    take_streams(out, err)
                    if directory is not None:
                        os.chdir(directory)
                    if mounts is not None:
                        mount(mounts)
                    if before is not None:
                        before()
                    code = main(self.args)
                    sys.stdout.flush()
                    sys.stderr.flush()
                    os._exit(code)
            except BaseException:
                traceback.print_exc(file=sys.__stderr__)
            finally:
                os._exit(1)
        self.ended = os.pidfd_open(self.pid)
        if is_read:
            os.close(out)
            self.stdout = os.fdopen(reader, "r", encoding="utf-8")

    def poll(self) -> int | None:
        """Return the exit code, or None while the command runs."""
        if self.returncode is None and select.select([self.ended], [], [], 0)[0]:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def wait(self, timeout: float = LONGEST_S) -> int:
        """Wait for the end, and return the exit code."""
        if self.returncode is None:
            select.select([self.ended], [], [], timeout)
        if (code := self.poll()) is None:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, if the command still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the command, if it still runs."""
        self.send_signal(signal.SIGKILL)

    def written(self) -> tuple[str, str]:
        """Return standard output, which is empty if it is a pipe, and standard error."""
        for file in self.files:
            file.seek(0)
        out, err = (file.read().decode() for file in self.files)
        return out, err

    def communicate(self, timeout: float = LONGEST_S) -> tuple[str, str]:
        """Wait for the end, and return standard output and standard error."""
        end_s = time.monotonic() + timeout
        piped = "" if self.stdout is None else self.stdout.read()
        self.wait(max(0.0, end_s - time.monotonic()))
        out, err = self.written()
        return piped + out, err

    def close(self) -> None:
        """Kill the command if it still runs, and close its files."""
        self.kill()
        self.wait()
        os.close(self.ended)
        for file in (*self.files, self.stdout):
            if file is not None:
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def take_streams(out: int, err: int) -> None:
    """Replace the standard streams, and close all other files."""
    for number, stream in enumerate((os.open(os.devnull, os.O_RDONLY), out, err)):
        os.dup2(stream, number)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 as long as the process
        for number, mode in enumerate("rww")
    )
    os.closerange(STREAMS, os.sysconf("SC_OPEN_MAX"))


def mount(script: str) -> None:
    """Enter a new mount namespace, and run a script in it."""
    assert ctypes.CDLL(None).unshare(CLONE_NEWNS) == 0
    subprocess.run(["sh", "-ec", f"mount --make-rprivate /; {script}"], check=True)


def lasthop(
    *words: str | Path,
    namespace: str | None = GATEWAY,
    mounts: str | None = None,
    before: Callable[[], object] | None = None,
    directory: Path | None = None,
) -> tuple[int, str]:
    """Run a command; return its exit code, and its standard output followed by standard error."""
    with ForkedCommand(
        words, namespace=namespace, mounts=mounts, before=before, directory=directory
    ) as process:
        code = process.wait()
        return code, "".join(process.written())


def run(
    *words: str | Path, before: Callable[[], object] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a command in the network namespace of the calling thread, like `subprocess.run`."""
    with ForkedCommand(words, before=before) as process:
        code = process.wait()
        return subprocess.CompletedProcess(process.args, code, *process.written())
