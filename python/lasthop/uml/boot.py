"""Start a user-mode Linux, run one command in it, and end all its processes."""

import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lasthop import _core
from lasthop.errors import UserError
from lasthop.uml.clock import PARAMETER
from lasthop.uml.kernel import Kernel

INIT = Path(__file__).with_name("init.py")
PREFIX = "lasthop-uml-"
PASSED = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV")
"""Environment variables of the caller that the command inherits."""
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

GUARD_SCRIPT = """
exec 3<&0
{ read -r _ <&3; rm -rf "$0"; kill -KILL 0; } > /dev/null 2>&1 &
exec "$@" < /dev/null 3<&-
"""
"""Shell script that starts a user-mode Linux, which consists of several processes of the host.

A background shell waits until the caller closes the pipe or ends. The background shell then removes
the exchange folder and kills all processes of the user-mode Linux.
"""

END_TIMEOUT_S, POLL_S, ACCOUNTING_S = 1.0, 0.02, 0.25
"""Longest time to wait until killed processes have ended, time between two checks whether a kernel
still runs, and time between two measurements of the kernel's CPU time. [s]"""
PRINTED_LINES = 10
"""Largest number of lines from the end of the console output that an error message contains."""
SKIPPED_INITCALLS = "raid6_select_algo,calibrate_xor_blocks,init_btrfs_fs,init_zswap,rng_init"
"""Initialisation functions of the kernel that are skipped: processor measurements that never end in
simulated time, a test that takes one second, and random numbers from devices of the host."""
LOOPS_PER_JIFFY = 4_000_000
"""Speed of the processor that is passed to the kernel, so that the kernel does not measure the
speed. [loops/jiffy]"""
EPOCH_S = 1704067200
"""Time at which the simulated clock starts, since 1970: 2024-01-01. The preloaded library contains
the same constant. [s]"""
PANIC = "Kernel panic"
"""Beginning of the line on the console with which the kernel reports a panic. The lines before this
line contain the reason.
"""
REFUSED_PTRACE = ("ptrace", "PTRACE")
"""Words in the console output if the host does not permit ptrace."""

MAX_PROCESSOR_S = 3600.0
"""Default limit of a kernel's CPU time. [s]"""
MEMORY_MB = 512
"""Default memory size of a kernel. [MiB]"""


class UmlError(UserError):
    """Error of a user-mode Linux that did not run its command to the end."""


@dataclass(frozen=True)
class State:
    """State of a running kernel."""

    exchange: Path
    """Folder through which the kernel and its host exchange files."""
    processor_s: float
    """CPU time that the kernel has used. [s]"""


@dataclass(frozen=True)
class CommandResult:
    """Result of a command that has ended."""

    status: int
    """Exit code of the command. If a signal ended the command, the value is 128 plus the number of
    the signal."""
    stdout: str
    stderr: str
    processor_s: float
    """CPU time of the kernel and all its processes, including the boot. [s]"""
    problems: Sequence[str] = ()
    """Messages about files that the command has changed, but that could not be copied to the folder
    on the host."""


Watch = Callable[[State], object]
"""Function that is called with the state of the kernel about every 20 ms. If it raises an
exception, the kernel is ended."""


def run(
    kernel: Kernel,
    argv: Sequence[str],
    *,
    seed: int = 1,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    files: Mapping[str, bytes] | None = None,
    memory_mb: int = MEMORY_MB,
    max_processor_s: float = MAX_PROCESSOR_S,
    watch: Watch | None = None,
    collect: Callable[[Path], object] | None = None,
) -> CommandResult:
    """Boot a kernel, run one command as root, and power off.

    The command can read the files of the host. Changes of files are stored in memory and are lost,
    except changes in `folder`.

    Parameters
    ----------
    kernel : Kernel
    argv : sequence of str
        Command and its arguments. Paths are those of the host.
    seed : int
        Seed of all random numbers of the kernel.
    folder : path, optional
        Folder in which the command runs. The command's changes in this folder are copied to the
        host. By default, the command runs in an empty folder.
    environment : mapping, optional
        Further environment variables, in addition to `PASSED`.
    files : mapping, optional
        Contents of files in ``/exchange``, by name.
    memory_mb : int
        Memory size of the kernel. [MiB]
    max_processor_s : float
        Limit of the CPU time. A program that never sleeps stops the simulated clock, so a
        limit of simulated time would never end the program. [s]
    watch : callable, optional
        Function that is called about every 20 ms with the `State`.
    collect : callable, optional
        Function that is called with the exchange folder after the command has ended.

    Raises
    ------
    UmlError
        If the kernel does not start, or reaches the limit of CPU time.
    """
    remove_left_overs()
    with exchange_folder() as (exchange, lock):
        for name, content in (files or {}).items():
            (exchange / name).write_bytes(content)
        if folder is not None:
            (exchange / "folder").symlink_to(folder.resolve())
        task = {
            "argv": list(argv),
            "environment": {name: os.environ[name] for name in PASSED if name in os.environ}
            | {"HOME": "/root", "LANG": "C.UTF-8", "USER": "root"}
            | ({} if "PATH" in os.environ else {"PATH": DEFAULT_PATH})
            | dict(environment or {}),
            "modules": kernel.module_files(),
            "folder": "" if folder is None else str(folder.resolve()),
        }
        (exchange / "task.json").write_text(json.dumps(task))
        processor_s = boot(kernel, exchange, lock, seed, memory_mb, max_processor_s, watch)
        stdout, stderr, status, problems = (
            path.read_text(errors="replace") if path.exists() else ""
            for path in (exchange / name for name in ("stdout", "stderr", "status", "problems"))
        )
        if not status:
            raise failure(kernel, (exchange / "console").read_text(errors="replace"), stderr)
        if collect is not None:
            collect(exchange)
        return CommandResult(int(status), stdout, stderr, processor_s, problems.splitlines())


def boot(
    kernel: Kernel,
    exchange: Path,
    lock: int,
    seed: int,
    memory_mb: int,
    max_processor_s: float,
    watch: Watch | None,
) -> float:
    """Run the kernel until it powers off, and return its CPU time. [s]"""
    library = exchange / "preload.so"
    library.write_bytes(_core.UML_PRELOAD)
    start = f"exec {shlex.quote(sys.executable)} -IS {shlex.quote(str(INIT))}\n"
    (exchange / "start").write_bytes(os.fsencode(start))
    own_clock = kernel.has_simulated_clock
    argv = [
        *("sh", "-c", GUARD_SCRIPT, str(exchange)),
        str(kernel.program),
        f"mem={memory_mb}M",
        # The kernel adds its command line to its random number pool. All paths in the command line
        # are therefore relative, or begin at the kernel's own directory, so that they are the same
        # in each run.
        *("uml_dir=.", "umid=lasthop", "rootfstype=hostfs", "rootflags=/", "ro", "quiet"),
        *(["root=none"] if kernel.needs_root_name else []),
        *("con=null", "con0=null,fd:1", f"initcall_blacklist={SKIPPED_INITCALLS}"),
        PARAMETER,
        *(
            ["time-travel=inf-cpu", f"time-travel-start={EPOCH_S * 1_000_000_000}"]
            if own_clock
            else [f"lpj={LOOPS_PER_JIFFY}"]
        ),
        *("init=/bin/sh", "--", "/proc/self/cwd/start"),
    ]
    environment = {
        "PATH": DEFAULT_PATH,
        "HOME": str(exchange),
        "TMPDIR": str(memory_folder(exchange, memory_mb)),
        "LD_PRELOAD": str(library),
        "LASTHOP_UML_SEED": str(seed),
        "LASTHOP_UML_CLOCK": "host" if own_clock else "simulated",
    }
    reader, writer = os.pipe()
    try:
        with (exchange / "console").open("wb") as console:
            process = subprocess.Popen(
                argv,
                stdin=reader,
                stdout=console,
                stderr=console,
                cwd=exchange,
                env=environment,
                start_new_session=True,
                pass_fds=[lock],
            )
        os.close(reader)
        try:
            return wait(process, exchange, max_processor_s, watch)
        finally:
            end(process)
    finally:
        os.close(writer)


def wait(
    process: "subprocess.Popen[bytes]",
    exchange: Path,
    max_processor_s: float,
    watch: Watch | None,
) -> float:
    """Wait until the kernel has ended, and return its CPU time. [s]"""
    processor_s, summed_s = 0.0, 0.0
    while True:
        now_s = time.monotonic()
        if now_s - summed_s >= ACCOUNTING_S:
            summed_s = now_s
            processor_s = max(processor_s, session_processor_s(process.pid))
            if processor_s > max_processor_s:
                raise UmlError(
                    f"the run has used {processor_s:.0f} s of CPU time; the limit is "
                    f"{max_processor_s:g} s",
                    "raise the limit by --max-time; a program that never sleeps stops the "
                    "simulated clock",
                )
        ended = process.poll() is not None
        if watch is not None:
            watch(State(exchange, processor_s))
        if ended:
            return processor_s
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLL_S)


def session_processor_s(session: int) -> float:
    """Return the CPU time of all processes of a session, and of their ended children. [s]"""
    ticks = sum(sum(map(int, fields[11:15])) for fields in processes(session))
    return ticks / os.sysconf("SC_CLK_TCK")


def processes(session: int) -> Iterator[list[str]]:
    """Yield the fields of ``/proc/PID/stat``, beginning with the state, for each process of a
    session."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session:
                    yield fields


def refusal_of_ptrace(program: object) -> UmlError:
    """Return the error for a system that does not let a kernel trace its processes. `program` is
    the path or the name of the kernel."""
    return UmlError(
        f"{program}: this system refuses ptrace: user-mode Linux must be allowed "
        "to trace its processes",
        "allow it; in a container: docker run --cap-add SYS_PTRACE",
    )


def failure(kernel: Kernel, console: str, stderr: str) -> UmlError:
    """Return the error for a kernel that ended before its command had an exit status."""
    if any(word in console for word in REFUSED_PTRACE):
        return refusal_of_ptrace(kernel.program)
    printed_before, *_ = console.partition(PANIC)
    lines = [*printed_before.splitlines(), *stderr.splitlines()][-PRINTED_LINES:]
    printed = "".join(f"\n  {line}" for line in lines)
    return UmlError(
        f"{kernel.program}: Linux {kernel.version} ended before its command did{printed}"
    )


def memory_folder(exchange: Path, memory_mb: int) -> Path:
    """Return the folder for the file that stores the kernel's memory."""
    shared = Path("/dev/shm")
    with suppress(OSError):
        room = os.statvfs(shared)
        is_large = room.f_bavail * room.f_frsize >= memory_mb << 20
        if is_large and not room.f_flag & os.ST_NOEXEC and os.access(shared, os.W_OK):
            return shared
    return exchange


@contextmanager
def exchange_folder() -> Iterator[tuple[Path, int]]:
    """Create the exchange folder of one kernel.

    The kernel and its caller hold a lock on the folder as long as these processes exist.
    """
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        lock = os.open(Path(name, "new-lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            Path(name, "new-lock").rename(Path(name, "lock"))
            yield Path(name), lock
        finally:
            os.close(lock)


def remove_left_overs() -> None:
    """Remove exchange folders whose kernel and caller have both ended."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if path.is_symlink() or path.stat().st_uid != os.getuid():
                continue
            lock = os.open(path / "lock", os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)


def end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the remaining processes of a kernel, which form one session, and wait until they have
    ended."""
    until_s = time.monotonic() + END_TIMEOUT_S
    while time.monotonic() < until_s:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.poll()
        if all(state == "Z" for state, *_ in processes(process.pid)):
            break
        time.sleep(POLL_S / 4)
    process.wait()
