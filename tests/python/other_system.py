"""Program that makes this process resemble Windows or macOS, and then runs lasthop in it.

The program reads an object as JSON from standard input: the system, a list of commands, and whether
it imports all modules. It prints an object as JSON: the errors of imports, and the exit code and
the output of each command.

Names that Windows lacks are removed from `os`, `signal`, `socket` and other modules, and modules
that it lacks cannot be imported. The optional attributes of `lasthop._core` are removed, too. The
value of `os.name`, paths with backslashes, and locks on open files cannot be imitated.
"""

import importlib
import io
import json
import os
import pkgutil
import sys
import traceback
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ABSENT_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
"""Modules of Python that Windows lacks."""

UNIX_NAMES = {
    "os": """
        chown chroot confstr ctermid fchdir fchmod fchown fdatasync fork forkpty fpathconf fstatvfs
        getegid geteuid getgid getgrouplist getgroups getloadavg getpgid getpgrp getpriority
        getresgid getresuid getsid getuid initgroups killpg lchown lockf major makedev minor mkfifo
        mknod nice openpty pathconf posix_fallocate posix_spawn pread preadv pwrite pwritev readv
        sendfile setegid seteuid setgid setgroups setpgid setpriority setregid setresgid setresuid
        setreuid setsid setuid statvfs sync sysconf tcgetpgrp tcsetpgrp ttyname uname wait wait3
        wait4 waitid writev O_CLOEXEC O_DIRECTORY O_DSYNC O_NOCTTY O_NOFOLLOW O_NONBLOCK O_SYNC
        WNOHANG WIFEXITED WIFSIGNALED WEXITSTATUS WTERMSIG
    """,
    "signal": """
        SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGUSR1 SIGUSR2 SIGXCPU
        SIG_BLOCK SIG_SETMASK SIG_UNBLOCK alarm getitimer pause pthread_kill pthread_sigmask
        setitimer siginterrupt sigpending sigwait sigwaitinfo
    """,
    "socket": "AF_UNIX SO_REUSEPORT recv_fds send_fds",
    "select": "poll",
    "time": "clock_gettime clock_settime pthread_getcpuclockid tzset",
}
"""Names that Windows lacks, by module."""

LINUX_NAMES = {
    "os": """
        copy_file_range eventfd getrandom getxattr listxattr memfd_create pidfd_open pipe2
        posix_fadvise removexattr sched_getaffinity sched_getscheduler sched_setaffinity
        sched_setscheduler setns setxattr splice unshare O_DIRECT O_PATH O_TMPFILE
    """,
    "signal": "SIGRTMAX SIGRTMIN sigtimedwait",
    "socket": "AF_NETLINK AF_PACKET SOCK_CLOEXEC SOCK_NONBLOCK SO_BINDTODEVICE TCP_INFO",
    "select": "epoll",
    "time": "CLOCK_BOOTTIME CLOCK_TAI",
}
"""Names that Windows and macOS lack, by module. Not all versions of Python and macOS lack all of
them.
"""

OPTIONAL_CORE_ATTRIBUTES = {
    "UML_PRELOAD",
    "Relay",
    "check_gateway",
    "check_interface",
    "emulate",
    "new_relay_key",
}
"""Attributes of `lasthop._core` that do nothing, or are absent, in a build without the features
emulator, enforce and relay.
"""

EARLY_IMPORTS = (
    "csv ctypes difflib rich.console rich.progress rich.table shutil socket tempfile typer.main"
)
"""Modules that are imported before the change, because they read the name of the system."""

EARLY_IMPORTS_FOR_SCIENCE = """
    asyncio concurrent.futures dpkt gymnasium hashlib html inspect
    matplotlib.backends.backend_agg matplotlib.backends.backend_pdf matplotlib.backends.backend_svg
    multiprocessing numpy pandas pyarrow.parquet scipy.linalg scipy.optimize scipy.sparse.linalg
    scipy.special starlette.applications statistics subprocess uvicorn webbrowser zipfile
"""
"""Further modules that are imported before the change, for commands that compute or draw."""

SMALL = """
duration = "4 s"
warmup = "1 s"
replications = 3
cell = { phy = "802.11b" }
station.near.download = 1
station.far = { rate = "2 Mbps", upload = 2 }
"""
"""Scenario that simulates in milliseconds."""

WINDOWS_PROGRAM = r"C:\Users\me\venv\Scripts\lasthop.exe"
"""Name of the program on Windows."""


def names(*tables: dict[str, str]) -> dict[str, set[str]]:
    """Return the names in tables, by module."""
    return {
        module: {name for table in tables for name in table[module].split()}
        for module in UNIX_NAMES
    }


MISSING = {"darwin": names(LINUX_NAMES), "win32": names(LINUX_NAMES, UNIX_NAMES)}
"""Names that a system lacks, by the system and by the module."""


class Absent:
    """Finder that finds none of the modules that Windows lacks."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Raise an error for an absent module."""
        if name in ABSENT_MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def imitate(system: str, imports: str) -> None:
    """Make this process resemble another system. The modules in `imports` are imported before."""
    for name in imports.split():
        importlib.import_module(name)
    import shutil

    # Without O_NOFOLLOW, `shutil` cannot use file descriptors; this is also so on Windows.
    vars(shutil)["_use_fd_functions"] = False
    if system == "win32":
        sys.modules["nt"] = sys.modules["posix"]
        for name in ABSENT_MODULES:
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, Absent())  # type: ignore[arg-type]
    for module, missing in MISSING[system].items():
        for changed in {module, f"_{module}"} - {"_os"}:
            for name in missing:
                vars(sys.modules.get(changed, types)).pop(name, None)
    sys.platform = system


def errors_of_imports() -> dict[str, str]:
    """Import all modules of lasthop, and return the errors by module."""
    import lasthop
    from lasthop.linux_only import is_linux_only

    errors = {}
    skipped: Callable[[str], object] = lambda name: None  # noqa: E731
    for module in pkgutil.walk_packages(lasthop.__path__, "lasthop.", skipped):
        try:
            importlib.import_module(module.name)
        except Exception as error:
            is_expected = is_linux_only(module.name.removeprefix("lasthop."))
            text = f"{type(error).__name__}: {error}"
            errors[module.name] = text if is_expected else traceback.format_exc()
    return errors


def run_command(args: list[str], encoding: str | None) -> dict[str, Any]:
    """Run a command whose standard streams have this encoding; return exit code and output.

    With None, the streams are those of Windows for a file: cp1252 and its line ends, which lasthop
    may change.
    """
    from lasthop.cli import main

    os.environ.pop("PYTHONIOENCODING", None)
    if encoding is not None:
        os.environ["PYTHONIOENCODING"] = encoding
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding=encoding or "cp1252", newline="\r\n")
        for _ in range(2)
    )
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO()), out, err
    try:
        code = main(args)
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    written = []
    for stream in (out, err):
        stream.flush()
        written.append(stream.buffer.getvalue())  # type: ignore[attr-defined]
    texts = [content.decode(encoding or "utf-8", "backslashreplace") for content in written]
    return {"code": code, "out": texts[0], "err": texts[1]}


def refusals() -> dict[str, str]:
    """Return the messages and hints of the public objects of lasthop that need Linux."""
    import lasthop as lh

    calls: dict[str, Callable[[], object]] = {
        "emulate": lambda: lh.emulate("a.toml"),
        "relay.Server": lambda: lh.relay.Server(b""),
        "compare": lambda: lh.compare(SMALL, emulate=True),
        "import": lambda: importlib.import_module("lasthop.relay"),
    }
    messages = {}
    for name, call in calls.items():
        try:
            messages[name] = repr(call())
        except lh.UserError as error:
            messages[name] = f"{error}: {error.hint}"
    return messages


def main() -> None:
    """Change this process, run the commands, and print the results."""
    asked = json.load(sys.stdin)
    sys.argv = [WINDOWS_PROGRAM]
    imitate(
        asked["system"],
        EARLY_IMPORTS + EARLY_IMPORTS_FOR_SCIENCE if asked["everything"] else EARLY_IMPORTS,
    )
    warnings.filterwarnings("error", category=EncodingWarning, module=r"lasthop\.")
    from lasthop import _core
    from lasthop.progress import interruption

    starts_quietly = interruption.exits_quietly()
    interruption.raise_interrupt()
    for name in OPTIONAL_CORE_ATTRIBUTES:
        delattr(_core, name)
    namespace: dict[str, Any] = {}
    exec("from lasthop import *", namespace)
    report = {
        "starts_quietly": starts_quietly,
        "public_names": sorted(namespace.keys() - {"__builtins__"}),
        "refusals": refusals(),
        "linux_before": linux_modules(),
        "commands": [run_command(args, encoding) for args, encoding in asked["commands"]],
        "linux_after": linux_modules(),
        "imports": errors_of_imports() if asked["everything"] else {},
        "files": sorted(str(path) for path in Path().rglob("*") if path.is_file()),
    }
    print(json.dumps(report))


def linux_modules() -> list[str]:
    """Return the imported modules of lasthop that need Linux."""
    from lasthop.linux_only import is_linux_only

    ours = (name.removeprefix("lasthop.") for name in sys.modules if name.startswith("lasthop."))
    return sorted(filter(is_linux_only, ours))


if __name__ == "__main__":
    main()
