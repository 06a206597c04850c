"""The first process of a user-mode Linux: prepares it, runs one command, switches it off.

    uml_init.py EXCHANGE

`EXCHANGE` is a directory of the host with `task.json`; the command's `stdout`, `stderr` and
`status` are written there, and nothing is written elsewhere: over the host's files, which are
mounted read-only, lies a file system in memory. It needs the standard library alone, not even kmod.
"""

import ctypes
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

POWER_OFF = 0x4321FEDC
FINIT_MODULE = 313
"""Number of the system call on x86-64, the one processor that Debian has the package for."""
ROOT = Path("/mnt/root")
"""Where the new root is put together; /mnt is there on every system."""

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Whatever happens, the machine is switched off."""
    try:
        mount("proc", "proc", "/proc")
        exchange = Path(sys.argv[1])
        mount("none", "hostfs", "/mnt", options=str(exchange))
        task = json.loads(Path("/mnt/task.json").read_text())
        for file in task["modules"]:
            load(file)
        status = in_new_root(exchange, task)
        exchange.joinpath("status").write_text(str(status))
    except BaseException:
        traceback.print_exc()
    finally:
        os.sync()
        libc.reboot(POWER_OFF)


def in_new_root(exchange: Path, task: dict[str, Any]) -> int:
    """Run the command where everything may be written, and nothing of it lasts."""
    mount("tmpfs", "tmpfs", "/mnt")
    for name in ("above", "work", "root"):
        Path("/mnt", name).mkdir()
    layers = "lowerdir=/,upperdir=/mnt/above,workdir=/mnt/work"
    mount("overlay", "overlay", str(ROOT), options=layers)
    os.chroot(ROOT)
    os.chdir("/")
    mount("proc", "proc", "/proc")
    mount("sysfs", "sysfs", "/sys")
    mount("devtmpfs", "devtmpfs", "/dev")
    for name in ("/dev/shm", "/dev/pts"):
        Path(name).mkdir(exist_ok=True)
    mount("tmpfs", "tmpfs", "/dev/shm")
    mount("devpts", "devpts", "/dev/pts")
    mount("tmpfs", "tmpfs", "/run")
    mount("none", "hostfs", str(exchange), options=str(exchange))
    with (
        exchange.joinpath("stdout").open("wb") as stdout,
        exchange.joinpath("stderr").open("wb") as stderr,
    ):
        done = subprocess.run(
            task["argv"],
            cwd=task["cwd"],
            env=task["environment"],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            check=False,
        )
    return done.returncode


def mount(source: str, kind: str, target: str, options: str = "") -> None:
    """Mount a file system. Raises `OSError`."""
    done = libc.mount(source.encode(), target.encode(), kind.encode(), 0, options.encode())
    if done != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount {kind}: {os.strerror(number)}", target)


def load(file: str) -> None:
    """Load a module of the kernel. Raises `OSError`."""
    with open(file, "rb") as module:
        if libc.syscall(FINIT_MODULE, module.fileno(), b"", 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"module: {os.strerror(number)}", file)


if __name__ == "__main__":
    main()
