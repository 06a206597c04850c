"""Commands in user-mode Linux: a kernel as a process, with queues that this machine's may lack.

    ended = uml.run([sys.executable, "inside.py"], deadline_s=60)
    found = uml.answer(Path("inside.py"), "--rtt", "0.02", deadline_s=60)

The command runs as root, alone on a processor, in the directory and with the interpreter of its
caller. It sees the host's files and may write anywhere: what it writes lies in memory and is gone
with the kernel. Nothing of it reaches the host, and no privilege is needed for it.

Debian's package `user-mode-linux` keeps the host's time, with timers of high resolution: a system
call takes some 50 us, a sleep ends 0.1 ms late, and whatever holds up the host holds up the kernel.
A kernel with CONFIG_UML_TIME_TRAVEL_SUPPORT, which Debian's has not, has a time of its own: it
passes only while every process sleeps, so that nothing ever comes late and a run takes as long as
its work; computing takes no time at all. `uml_kernel.py` builds one, which is then used, and
`LASTHOP_UML` names any other.
"""

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import BenchError
from peers import STORE, apt_install

INIT = Path(__file__).with_name("uml_init.py")
STATE = Path(__file__).with_name("uml_state.c")
PACKAGE, PROGRAM = "user-mode-linux", "linux.uml"
MODULES = Path("/usr/lib/uml/modules")
"""Where Debian's package has its kernel's modules."""
VARIABLE = "LASTHOP_UML"
OWN = STORE / "uml" / "linux"
"""The kernel that `uml_kernel.py` builds."""

OVERLAY = "overlay"
NETWORK = (
    *("veth", "ifb", "tun", "dummy", "bridge", "ipv6"),
    *(f"sch_{name}" for name in ("htb", "tbf", "prio", "drr", "ingress", "netem")),
    *(f"sch_{name}" for name in ("cake", "fq_codel", "fq", "sfq", "codel", "pie", "red")),
    *(f"cls_{name}" for name in ("u32", "bpf", "flow", "matchall", "flower", "basic")),
    *(f"act_{name}" for name in ("mirred", "gact", "police", "skbedit")),
)
"""Modules of the kernel that are loaded, where they are not built in."""

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
GUARDED = """
exec 3<&0
{ read -r _ <&3; rm -rf "$0"; kill -KILL 0; } > /dev/null 2>&1 &
exec "$@" < /dev/null 3<&-
"""
"""A kernel is several processes. Beside it waits a shell that kills them all when its caller, who
has the other end of its standard input, is gone, however that ended."""
PATIENCE_S, POLL_S = 1.0, 0.005
"""Longest wait for killed processes to be gone, and time between two looks. [s]"""
SKIPPED_INITCALLS = "raid6_select_algo,calibrate_xor_blocks,init_btrfs_fs,init_zswap"
"""Initialisers of Debian's kernel that are skipped. They take a second to compare implementations
of RAID and of checksums, and to test Btrfs. No test or bench uses these."""
TOLD = 30
"""Lines of what the kernel and the command have said that an error repeats."""


class UmlError(Exception):
    """User-mode Linux did not run the command to its end, or the command failed."""


@dataclass(frozen=True)
class Kernel:
    """A user-mode Linux that is installed."""

    program: Path
    version: str
    own_time: bool
    """Whether its time is its own, and independent of how busy the host is."""
    modular: bool
    """Whether what it needs is in modules, those of Debian's package."""

    def modules(self, wanted: Iterable[str]) -> list[str]:
        """Files of those of the modules that are not built in, and of what they need, in order."""
        if not self.modular:
            return []
        directory = MODULES / self.version
        lines = (directory / "modules.dep").read_text().splitlines()
        needs = {file: more.split() for file, _, more in (line.partition(":") for line in lines)}
        by_name = {Path(file).stem: file for file in needs}
        files = [by_name[name] for name in wanted if name in by_name]
        ordered = [one for file in files for one in (*reversed(needs[file]), file)]
        return [str(directory / file) for file in dict.fromkeys(ordered)]


@dataclass(frozen=True)
class Ended:
    """A command that has ended inside."""

    status: int
    stdout: str
    stderr: str
    wall_s: float
    """How long the host was busy with it, booting included. [s]"""


@functools.cache
def kernel() -> Kernel | None:
    """The kernel that is there, if there is one."""
    built = str(OWN) if OWN.exists() else None
    program = os.environ.get(VARIABLE) or built or shutil.which(PROGRAM)
    if program is None or not sys.platform.startswith("linux"):
        return None
    said = {
        option: subprocess.run([program, option], capture_output=True, text=True, check=True).stdout
        for option in ("--version", "--showconfig")
    }
    settings = said["--showconfig"].splitlines()
    own_time, modular = (
        line in settings for line in ("CONFIG_UML_TIME_TRAVEL_SUPPORT=y", "CONFIG_VETH=m")
    )
    return Kernel(Path(program), said["--version"].strip(), own_time, modular)


def missing() -> str | None:
    """Why nothing runs in user-mode Linux here; None if it does. Installs it where it may."""
    if kernel() is None:
        try:
            apt_install(PACKAGE)
        except BenchError as error:
            return str(error)
        kernel.cache_clear()
    if shutil.which("ip") is None or shutil.which("tc") is None:
        return "needs ip and tc"
    return None


def run(
    argv: Sequence[str],
    *,
    deadline_s: float,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    memory_mb: int = 512,
) -> Ended:
    """Boot, run one command, and switch off.

    Parameters
    ----------
    argv : sequence of str
        The command, with paths of the host.
    deadline_s : float
        Time of the host after which the kernel is killed, booting included. [s]
    cwd : path, optional
        Directory of the command; that of the caller.
    environment : mapping, optional
        Variables beside PATH, HOME and LANG.
    memory_mb : int
        Memory of the kernel; the host gives what is used. [MB]

    Raises
    ------
    UmlError
        If there is no such kernel, it does not come up, or the command has not ended in time.
    """
    machine = kernel()
    if machine is None:
        raise UmlError(f"{PROGRAM} is not there, of Debian's package {PACKAGE}")
    with tempfile.TemporaryDirectory(prefix="lasthop-uml-") as name:
        exchange = Path(name)
        task = {
            "argv": list(argv),
            "cwd": str(cwd or Path.cwd()),
            "environment": {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8"}
            | dict(environment or {}),
            "modules": machine.modules((OVERLAY, *NETWORK)),
        }
        exchange.joinpath("task.json").write_text(json.dumps(task))
        began = time.monotonic()
        console = boot(machine, exchange, deadline_s, memory_mb)
        wall_s = time.monotonic() - began
        stdout, stderr, status = (
            path.read_text(errors="replace") if path.exists() else ""
            for path in (exchange / name for name in ("stdout", "stderr", "status"))
        )
        if status:
            return Ended(int(status), stdout, stderr, wall_s)
        what = "not done" if wall_s >= deadline_s else "ended"
        raise UmlError(f"user-mode Linux: {what} after {wall_s:.1f} s{last(console, stderr)}")


def answer(script: Path, *arguments: str, deadline_s: float, memory_mb: int = 512) -> Any:
    """What a Python script prints inside as the last line of its output, as JSON.

    The script may import what its caller may.

    Raises
    ------
    UmlError
        As `run`, and if the script fails or its last line is no JSON.
    """
    ended = run(
        [sys.executable, str(script), *arguments],
        deadline_s=deadline_s,
        environment={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        memory_mb=memory_mb,
    )
    if ended.status != 0:
        raise UmlError(f"{script.name} exited with {ended.status}{last(ended.stderr)}")
    try:
        return json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise UmlError(f"{script.name} printed no JSON{last(ended.stdout, ended.stderr)}") from None


def boot(machine: Kernel, exchange: Path, deadline_s: float, memory_mb: int) -> str:
    """Run the kernel until it has switched itself off or must be killed; what it said."""
    argv = [
        *("sh", "-c", GUARDED, str(exchange)),
        str(machine.program),
        f"mem={memory_mb}M",
        f"uml_dir={exchange}",
        *("rootfstype=hostfs", "rootflags=/", "ro", "quiet"),
        *("con=null", "con0=null,fd:1", f"initcall_blacklist={SKIPPED_INITCALLS}"),
        *(["time-travel=inf-cpu"] if machine.own_time else []),
        f"init={sys.executable}",
        *("--", "-IS", str(INIT), str(exchange)),
    ]
    console = exchange / "console"
    reader, writer = os.pipe()
    try:
        with console.open("wb") as said:
            process = subprocess.Popen(
                argv,
                stdin=reader,
                stdout=said,
                stderr=said,
                start_new_session=True,
                env={**os.environ, **with_whole_state(exchange)},
            )
        os.close(reader)
        with suppress(subprocess.TimeoutExpired):
            process.wait(deadline_s)
    finally:
        end(process)
        os.close(writer)
    return console.read_text(errors="replace")


def with_whole_state(exchange: Path) -> dict[str, str]:
    """The environment in which a kernel knows this processor's registers, if there is a compiler.

    Processors with more vector state than 2,696 bytes (AMX) end Debian's kernel at its start.
    """
    library = exchange / "state.so"
    argv = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(STATE)]
    with suppress(OSError, subprocess.CalledProcessError):
        subprocess.run(argv, check=True, capture_output=True)
        return {"LD_PRELOAD": str(library)}
    return {}


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of a kernel, which is in one process group, and wait until it is gone."""
    with suppress(ProcessLookupError):
        for _ in range(int(PATIENCE_S / POLL_S)):
            os.killpg(process.pid, signal.SIGKILL)
            process.poll()
            time.sleep(POLL_S)
    process.wait()


def last(*said: str) -> str:
    """The last lines of what was said, for an error."""
    lines = [line for text in said for line in text.splitlines()][-TOLD:]
    return "".join(f"\n  {line}" for line in lines)
