"""Pins of BPF objects in lasthop's BPF file system. A pinned object stays in the kernel after its
process ends.

The file system is mounted before the first pin is created, and unmounted after the last pin is
removed.
"""

import errno
import os
from pathlib import Path

from lasthop.errors import UserError
from lasthop.linux import bpf
from lasthop.linux.syscalls import call

PLACE = Path("/run/lasthop-congestion")


def keep(descriptor: int, name: str) -> None:
    """Pin the object of a descriptor under this name, so that it stays in the kernel.

    Raises
    ------
    UserError
        If the file system cannot be mounted.
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
    """Remove the pin of this name. Return whether the pin existed."""
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
    """Return the names of all pins; an empty list if this process may not read the file system."""
    try:
        names = [each.name for each in PLACE.iterdir()]
    except OSError:
        return []
    # the kernel reserves names with a dot for its own files
    return sorted(name for name in names if "." not in name)


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
