"""`lasthop` in a fork of this process, which has imported already what a command needs.

What it does is what the program does, in namespaces of its own and without this process's files;
its start, a third of a second of a processor, is left out. The program itself is started in
`test_guide.py`, `test_robust.py` and `test_uml.py`, and wherever another user runs it.
"""

import contextlib
import ctypes
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from functools import cache
from pathlib import Path

from lab import GATEWAY, entered
from lasthop.cli import main

CLONE_NEWNS = 0x00020000
"""A mount namespace of its own (unshare(2))."""
STREAMS = 3
"""Standard input, output and error have the numbers below."""
LONGEST_S = 60.0
"""A command that takes longer is killed. [s]"""


@cache
def ready() -> None:
    """Import what commands of the gateway need, by one that is refused and changes nothing."""
    with contextlib.redirect_stderr(io.StringIO()):
        assert main(["gateway", "status", "/dev/null"]) == 2


def lasthop(
    *words: str | Path,
    namespace: str = GATEWAY,
    mounts: str | None = None,
    directory: Path | None = None,
) -> tuple[int, str]:
    """Run a command in a network namespace; exit code, and output with errors behind it.

    `mounts` is a script that is done first, in a mount namespace of its own.
    """
    ready()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            try:
                with entered(namespace):
                    live(out.fileno(), err.fileno(), mounts, directory)
                    code = main([str(word) for word in words])
                    sys.stdout.flush()
                    sys.stderr.flush()
                    os._exit(code)
            except BaseException:
                traceback.print_exc(file=sys.__stderr__)
            finally:
                os._exit(1)
        code = wait(pid)
        out.seek(0)
        err.seek(0)
        return code, (out.read() + err.read()).decode()


def live(out: int, err: int, mounts: str | None, directory: Path | None) -> None:
    """Take on streams, mounts and a directory, and give up what else is open."""
    for number, stream in enumerate((os.open(os.devnull, os.O_RDONLY), out, err)):
        os.dup2(stream, number)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 as long as the process
        for number, mode in enumerate("rww")
    )
    os.closerange(STREAMS, os.sysconf("SC_OPEN_MAX"))
    if directory is not None:
        os.chdir(directory)
    if mounts is not None:
        assert ctypes.CDLL(None).unshare(CLONE_NEWNS) == 0
        script = f"mount --make-rprivate /; {mounts}"
        subprocess.run(["sh", "-ec", script], check=True)


def wait(pid: int) -> int:
    """Wait for the end of a process; its exit code."""
    end_s = time.monotonic() + LONGEST_S
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end_s:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
