"""Build a user-mode Linux from a kernel source, with the configuration `kernel.config`."""

import fcntl
import hashlib
import json
import os
import platform
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lasthop.errors import UserError
from lasthop.uml.boot import run
from lasthop.uml.kernel import NEEDED, Kernel, check_machine, read_kernel
from lasthop.uml.source import Source
from lasthop.uml.store import INFORMATION, BuiltKernel, built_kernels, kernel_folder

Progress = Callable[[int, int], object]
"""Function that is called with two numbers: the number of finished steps of the build, and the
number of all steps."""

CONFIGURATION = Path(__file__).with_name("kernel.config")
REQUIRED = (*NEEDED, "UML_TIME_TRAVEL_SUPPORT")
"""Configuration options that every built kernel must have. All other options may be missing."""

PROGRAMS = {
    "gcc": "gcc",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "strip": "binutils",
    "xz": "xz-utils",
    "pahole": "dwarves",
}
"""Debian package of each program that a build runs, by the program's name. `pahole` generates the
BTF."""
HEADERS = {"stdio.h": "libc6-dev", "gelf.h": "libelf-dev", "zlib.h": "zlib1g-dev"}
"""Debian package of each header file that a build includes, by the file's name. Only the program
`resolve_btfids` uses the last two files."""
HEADER_FOLDERS = (
    "/usr/include",
    "/usr/local/include",
    f"/usr/include/{platform.machine()}-linux-gnu",
)

PROCESSOR_S, SERIAL_S = 800.0, 50.0
"""CPU time of a build, and the part of this time that several processors cannot share
(unpacking, linking, BTF). [s]

Measured on two processors: 768 s with Linux 6.12, without unpacking, and 824 s with Linux 6.1.
"""
DISK_BYTES, RESULT_BYTES = 2.9e9, 13e6
"""Disk space that a build needs in addition to its download, and disk space of the built kernel.
[bytes]"""
STEPS = 1430
"""Approximate number of lines that `make` prints. The progress bar counts a line as a step."""
FIXED = {
    "KBUILD_BUILD_USER": "lasthop",
    "KBUILD_BUILD_HOST": "lasthop",
    "KBUILD_BUILD_TIMESTAMP": "2024-01-01",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}
"""Environment variables with fixed values, so that every kernel reports the same builder and
date."""
PASSED = ("PATH", "HOME", "TMPDIR")
"""Environment variables of the user that a build inherits."""
LOG = "build.log"
"""Name of the file with the output of `make`. The file is kept if the compilation fails."""
TEMPORARY = ".build-"
"""Prefix of the names of folders in which builds are running."""
ERROR_LINE = re.compile(r"(?i)\b(error|failed|not found)\b")


@dataclass(frozen=True)
class Cost:
    """Estimated cost of a build."""

    download_bytes: float
    disk_bytes: float
    processor_s: float
    duration_s: float
    """Duration of the build if all processors are free. [s]"""
    processors: int
    result_bytes: float


def cost(source: Source, processors: int | None = None) -> Cost:
    """Estimate the cost of a build. By default, the build uses all processors that this process may
    use."""
    count = processors or len(os.sched_getaffinity(0))
    disk_bytes = DISK_BYTES + source.download_bytes
    duration_s = SERIAL_S + (PROCESSOR_S - SERIAL_S) / count
    return Cost(source.download_bytes, disk_bytes, PROCESSOR_S, duration_s, count, RESULT_BYTES)


def already_built(source: Source) -> BuiltKernel | None:
    """Return the kernel that was built from this source with the current configuration; None if
    there is no such kernel."""
    ending = f"-{fingerprint(source)}"
    return next((each for each in built_kernels() if each.name.endswith(ending)), None)


def fingerprint(source: Source) -> str:
    """Return a hash of the source and the configuration."""
    text = f"{source.identity}\n{CONFIGURATION.read_text()}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def check(source: Source) -> None:
    """Check that this machine can build a kernel from this source.

    Raises
    ------
    UserError
        If programs, headers or disk space are missing, or the folder of kernels has an unsuitable
        name.
    """
    check_machine()
    if (absent := without_programs()) is not None:
        raise absent
    folder = kernel_folder()
    if re.search(r"[\s:]", str(folder)):
        raise UserError(
            f"{folder}: the kernel cannot be built in a folder with spaces or colons in its path",
            "set XDG_CACHE_HOME to another folder",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{error.filename}: {error.strerror}: expected a folder for kernels in {folder}",
            "set XDG_CACHE_HOME to another folder",
        ) from None
    free_bytes, needed_bytes = shutil.disk_usage(folder).free, cost(source).disk_bytes
    if free_bytes < needed_bytes:
        raise UserError(
            f"{folder}: {free_bytes / 1e9:.1f} GB free: a build needs {needed_bytes / 1e9:.1f} GB",
            "set XDG_CACHE_HOME to a folder on a larger disk",
        )


def without_programs() -> UserError | None:
    """Return the error for a machine without the programs and headers of a build; None if all are
    present."""
    programs = {name: PROGRAMS[name] for name in PROGRAMS if shutil.which(name) is None}
    headers = {
        name: HEADERS[name]
        for name in HEADERS
        if not any(Path(folder, name).exists() for folder in HEADER_FOLDERS)
    }
    missing = programs | headers
    if not missing:
        return None
    return UserError(
        f"building a kernel needs {', '.join(missing)}: not found",
        f"run `apt install {' '.join(dict.fromkeys(missing.values()))}` as root",
    )


@dataclass(frozen=True)
class BuildResult:
    """Result of a build of a kernel."""

    kernel: BuiltKernel
    refused: Sequence[str] = ()
    """Options of `CONFIGURATION` that the source does not support, without the prefix
    ``CONFIG_``."""


def build(source: Source, progress: Progress | None = None) -> BuildResult:
    """Build a kernel. Other commands find the kernel only when it is complete.

    Parameters
    ----------
    source : Source
    progress : callable, optional
        Function that is called with the number of finished steps of the compilation and the
        approximate number of all steps.

    Raises
    ------
    UserError
        If another build is running, or this build fails.
    """
    check(source)
    with build_lock() as folder:
        if (kernel := already_built(source)) is not None:
            return BuildResult(kernel)
        with tempfile.TemporaryDirectory(
            prefix=TEMPORARY, dir=folder, ignore_cleanup_errors=True
        ) as temporary:
            before_s, source_hash = children_s(), fingerprint(source)
            tree = source.unpack(Path(temporary))
            refused = configure(tree)
            compile_kernel(tree, source, folder / LOG, progress)
            result = Path(temporary, "result")
            result.mkdir()
            program = result / "linux"
            run_program(["strip", "--strip-debug", "-o", str(program), str(tree / "linux")], tree)
            new_kernel = read_kernel(program, f"{source.name}: {program}")
            check_boot(new_kernel)
            version = new_kernel.version
            name = f"{version.partition('-')[0]}-{source_hash}"
            about = {
                "version": version,
                "source": source.name,
                "built_at_s": time.time(),
                "processor_s": children_s() - before_s,
            }
            (result / INFORMATION).write_text(json.dumps(about))
            result.rename(folder / name)
        (folder / LOG).unlink(missing_ok=True)
        kernel = next(each for each in built_kernels() if each.name == name)
        return BuildResult(kernel, refused)


def check_boot(kernel: Kernel) -> None:
    """Boot a new kernel once as a test. Raise `UserError` if the kernel does not run a command."""
    ended = run(kernel, ["true"])
    if ended.status != 0:
        raise UserError(f"{kernel.program}: Linux {kernel.version} boots, but cannot run a command")


@contextmanager
def build_lock() -> Iterator[Path]:
    """Lock the folder of kernels, and remove the files of killed builds. Raise `UserError` if the
    folder is already locked."""
    folder = kernel_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{folder}: another `lasthop kernel build` is running", "wait until it ends"
            ) from None
        for left_over in folder.glob(f"{TEMPORARY}*"):
            shutil.rmtree(left_over, ignore_errors=True)
        yield folder


def configure(tree: Path) -> list[str]:
    """Configure a kernel source, and return the options that the source does not support.

    Raises
    ------
    UserError
        If the source does not support an option of `REQUIRED`.
    """
    run_program([*make(), f"KCONFIG_ALLCONFIG={CONFIGURATION}", "allnoconfig"], tree)
    present = set((tree / ".config").read_text().splitlines())
    wanted = [line for line in CONFIGURATION.read_text().splitlines() if line.endswith("=y")]
    refused = [
        line.removesuffix("=y").removeprefix("CONFIG_") for line in wanted if line not in present
    ]
    if required := [option for option in refused if option in REQUIRED]:
        raise UserError(
            f"{tree.name}: this source has no {', '.join(required)}, which emulations need",
            "build another source: --source linux-source-6.12",
        )
    return refused


def compile_kernel(tree: Path, source: Source, log: Path, progress: Progress | None) -> None:
    """Compile a configured kernel source.

    Raises
    ------
    UserError
        If `make` fails. The message contains the first error, and the file `log` contains the whole
        output.
    """
    argv = [*make(), f"-j{len(os.sched_getaffinity(0))}", "linux"]
    try:
        with log.open("w") as printed, started(argv, tree) as process:
            assert process.stdout is not None
            for number, line in enumerate(process.stdout):
                printed.write(line)
                if progress is not None:
                    progress(min(number, STEPS - 1), STEPS)
            status = process.wait()
    except KeyboardInterrupt:
        log.unlink()
        raise
    if status != 0:
        lines = log.read_text().splitlines()
        error = next(filter(ERROR_LINE.search, lines), lines[-1] if lines else "")
        raise UserError(f"{source.name}: make failed: {error.strip()}", f"see {log}")


@contextmanager
def started(argv: Sequence[str], tree: Path) -> Iterator["subprocess.Popen[str]"]:
    """Start a program. If the body of the `with` statement raises an exception, kill the program
    and its children.
    """
    process = subprocess.Popen(
        argv,
        cwd=tree,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        with process:
            try:
                yield process
            except BaseException:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise
    finally:
        process.wait()


def run_program(argv: Sequence[str], tree: Path) -> None:
    """Run a program. If the program fails, raise `UserError` with the last line of its output."""
    with started(argv, tree) as process:
        printed, _ = process.communicate()
    if process.returncode != 0:
        lines = printed.strip().splitlines() or [f"exit code {process.returncode}"]
        raise UserError(f"{argv[0]}: {lines[-1]}")


def make() -> list[str]:
    """Return the first arguments of a `make` command for user-mode Linux."""
    return ["make", "ARCH=um"]


def environment() -> Mapping[str, str]:
    """Return the environment variables of a build: the fixed variables, and the user's variables in
    `PASSED`."""
    return {name: os.environ[name] for name in PASSED if name in os.environ} | FIXED


def children_s() -> float:
    """Return the CPU time of all ended child processes. [s]"""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
