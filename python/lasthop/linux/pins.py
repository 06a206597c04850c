"""What stays in the kernel when its process ends: files in a bpf file system of our own.

Its place is mounted with the first file and unmounted with the last.
"""

import errno
import os
from pathlib import Path

from lasthop.errors import UserError
from lasthop.linux import bpf
from lasthop.linux.syscalls import call

PLACE = Path("/run/lasthop-congestion")


def keep(descriptor: int, name: str) -> None:
    """Keep what a descriptor stands for.

    Raises
    ------
    UserError
        If the place cannot be made.
    """
    try:
        PLACE.mkdir(mode=0o700, exist_ok=True)
        if not PLACE.is_mount():
            call("mount", b"bpf", os.fsencode(PLACE), b"bpf", 0, b"mode=0700")
        bpf.pin(descriptor, str(PLACE / name))
    except OSError as error:
        _leave_if_empty()
        raise UserError(f"{PLACE}: {error.strerror}", "loaded programs are kept there") from None


def let_go(name: str) -> bool:
    """Let go of what was kept under this name; whether there was anything."""
    try:
        (PLACE / name).unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise UserError(f"{PLACE / name}: {error.strerror}") from None
    finally:
        _leave_if_empty()
    return True


def pinned() -> list[str]:
    """Names of what is kept; none where this process may not know."""
    try:
        names = [each.name for each in PLACE.iterdir()]
    except OSError:
        return []
    return sorted(name for name in names if "." not in name)  # those with a dot are the kernel's


def _leave_if_empty() -> None:
    if pinned() or not PLACE.is_dir():
        return
    try:
        if PLACE.is_mount():
            call("umount2", os.fsencode(PLACE), 0)
        PLACE.rmdir()
    except OSError as error:
        if error.errno not in (errno.EBUSY, errno.EPERM, errno.EACCES, errno.ENOTEMPTY):
            raise
