"""First process of a user-mode Linux, which prepares the system, runs one command, and powers off.

    python3 -IS init.py

The directory in which the kernel was started is the exchange folder. The host writes ``task.json``
to this folder, and this process writes ``stdout``, ``stderr``, ``status`` and ``problems``. The
root file system is an overlay: the files of the host are its read-only lower layer, and changes are
stored in memory. The command runs in `FOLDER`, an overlay of a folder of the host. After the
command has ended, the changes in `FOLDER` are copied to the folder of the host. This file imports
only the standard library.
"""

import ctypes
import errno
import json
import os
import resource
import shutil
import stat
import subprocess
import traceback
from pathlib import Path
from typing import Any

POWER_OFF = 0x4321FEDC
FINIT_MODULE = 313
"""Number of the system call finit_module on x86-64."""
MS_BIND = 0x1000
EXCHANGE = "/proc/self/cwd"
"""Path of the exchange folder, as the kernel's process on the host refers to it. The path is the
same in each run."""
FOLDER = "/folder"
"""Path of the folder in which the command runs."""
ROOT = Path("/mnt/root")
"""Mount point of the new root file system. The directory /mnt exists on every system."""
PROBLEMS = Path("/mnt/exchange/problems")
"""File with messages about changed files that could not be copied to the host."""
PARTIAL = ".lasthop-"
"""Prefix of the temporary name of a file while it is copied to the host."""
START_S = 10
"""Time on the kernel's clock at which the command starts. [s]

With a fixed time, the command does not depend on the duration of the boot.
"""
OPEN_FILES = (1024, 524288)
"""Soft limit and hard limit of open files per process. systemd uses the same values."""
CLOCK_MONOTONIC, TIMER_ABSTIME = 1, 1

libc = ctypes.CDLL(None, use_errno=True)


def sleep_until(time_s: int) -> None:
    """Sleep until this time on the kernel's monotonic clock. [s]"""
    timespec = (ctypes.c_long * 2)(time_s, 0)
    libc.clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, timespec, None)


def main() -> None:
    """Prepare the system, run the command, and power off even after an error."""
    try:
        mount("proc", "proc", "/proc")
        mount("none", "hostfs", "/mnt", options=EXCHANGE)
        task = json.loads(Path("/mnt/task.json").read_text())
        for file in task["modules"]:
            load(file)
        make_root(task["folder"])
        status = run(task)
        if task["folder"]:
            mount("none", "hostfs", "/mnt/below", options=f"{EXCHANGE}/folder/.")
            copy_changes(Path("/mnt/folder-changes"), Path("/mnt/below"))
        Path("/mnt/exchange/status").write_text(str(status))
    except BaseException:
        traceback.print_exc()
    finally:
        os.sync()
        libc.reboot(POWER_OFF)


def make_root(folder: str) -> None:
    """Mount a writable root file system. `folder` is the path of the command's folder on the
    host."""
    mount("tmpfs", "tmpfs", "/mnt")
    for name in ("changes", "work", "root", "exchange", "below", "folder-changes", "folder-work"):
        Path("/mnt", name).mkdir()
    mount("none", "hostfs", "/mnt/exchange", options=EXCHANGE)
    mount_overlay("/", "/mnt/changes", "/mnt/work", ROOT)
    for name in ("dev", "proc", "sys", "run", "exchange", FOLDER[1:]):
        Path(ROOT, name).mkdir(exist_ok=True)
    mount("proc", "proc", f"{ROOT}/proc")
    mount("sysfs", "sysfs", f"{ROOT}/sys")
    # This directory is absent in a kernel without control groups.
    if Path(ROOT, "sys/fs/cgroup").is_dir():
        mount("none", "cgroup2", f"{ROOT}/sys/fs/cgroup")
    mount("devtmpfs", "devtmpfs", f"{ROOT}/dev")
    for name in ("shm", "pts"):
        Path(ROOT, "dev", name).mkdir(exist_ok=True)
    mount("tmpfs", "tmpfs", f"{ROOT}/dev/shm")
    mount("devpts", "devpts", f"{ROOT}/dev/pts")
    mount("tmpfs", "tmpfs", f"{ROOT}/run")
    mount("none", "hostfs", f"{ROOT}/exchange", options=EXCHANGE)
    if folder:
        mount("none", "hostfs", "/mnt/below", options=f"{EXCHANGE}/folder/.")
        above = Path(ROOT, FOLDER[1:])
        mount_overlay("/mnt/below", "/mnt/folder-changes", "/mnt/folder-work", above)
        below = Path(f"{ROOT}{folder}")
        # If the folder is in /run or /dev/shm, it may be missing.
        below.mkdir(parents=True, exist_ok=True)
        mount(str(above), "none", str(below), flags=MS_BIND)


def run(task: dict[str, Any]) -> int:
    """Run the command at `START_S`. Return its exit code; if a signal ended the command, return 128
    plus the number of the signal."""

    def enter() -> None:
        os.chroot(ROOT)
        os.chdir(FOLDER)
        resource.setrlimit(resource.RLIMIT_NOFILE, OPEN_FILES)
        sleep_until(START_S)

    with (
        open("/mnt/exchange/stdout", "wb") as stdout,
        open("/mnt/exchange/stderr", "wb") as stderr,
    ):
        done = subprocess.run(
            task["argv"],
            env=task["environment"],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            check=False,
            preexec_fn=enter,
        )
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def copy_changes(changes: Path, folder: Path) -> None:
    """Copy the changes that the command made in its folder to the folder on the host. Write
    failures to ``problems``.
    """
    problems = []
    for path in sorted(changes.rglob("*")):
        target = folder / path.relative_to(changes)
        try:
            copy(path, target)
        except OSError as error:
            problems.append(f"{path.relative_to(changes)}: {error.strerror}")
    PROBLEMS.write_bytes(os.fsencode("\n".join(problems)))


def copy(path: Path, target: Path) -> None:
    """Copy one changed file, folder or link, or remove a file that the command removed. Raise
    `OSError` on failure."""
    entry = path.lstat()
    # Overlayfs marks a removed file by a character device with number 0.
    if stat.S_ISCHR(entry.st_mode) and entry.st_rdev == 0:
        remove(target)
    elif path.is_symlink():
        remove(target)
        target.symlink_to(path.readlink())
    elif path.is_dir():
        if is_opaque(path):
            remove(target)
        target.mkdir(exist_ok=True)
        target.chmod(stat.S_IMODE(entry.st_mode))
    elif path.is_file():
        replace_file(path, target, stat.S_IMODE(entry.st_mode))
    else:
        raise OSError(errno.EINVAL, "not a file, a folder or a symbolic link")


def replace_file(path: Path, target: Path, mode: int) -> None:
    """Copy a file so that the target file is never incomplete. Raise `OSError` on failure."""
    # Importing this module uses random numbers of the kernel. The module is imported late, so that
    # the command gets the first random numbers.
    import tempfile

    number, name = tempfile.mkstemp(prefix=PARTIAL, dir=target.parent)
    os.close(number)
    partial = Path(name)
    try:
        shutil.copyfile(path, partial)
        partial.chmod(mode)
        if target.is_dir():
            remove(target)
        partial.replace(target)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def remove(path: Path) -> None:
    """Remove a file, or a folder with all its files, if it exists. Raise `OSError` on failure."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def is_opaque(folder: Path) -> bool:
    """Return whether a changed folder replaces an earlier folder of the same name (an opaque folder
    of overlayfs)."""
    try:
        return os.getxattr(folder, "trusted.overlay.opaque") == b"y"
    except OSError:
        return False


def mount_overlay(lower: str, upper: str, work: str, target: Path) -> None:
    """Mount an overlay file system. Raise `OSError` on failure."""
    layers = f"lowerdir={lower},upperdir={upper},workdir={work}"
    mount("overlay", "overlay", str(target), options=layers)


def mount(source: str, kind: str, target: str, options: str = "", flags: int = 0) -> None:
    """Mount a file system. Raise `OSError` on failure."""
    done = libc.mount(*map(os.fsencode, (source, target, kind)), flags, os.fsencode(options))
    if done != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount {kind}: {os.strerror(number)}", target)


def load(file: str) -> None:
    """Load a kernel module. Raise `OSError` on failure."""
    with open(file, "rb") as module:
        if libc.syscall(FINIT_MODULE, module.fileno(), b"", 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"module: {os.strerror(number)}", file)


if __name__ == "__main__":
    main()
