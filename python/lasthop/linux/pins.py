"""BPF objects that stay in the kernel after their process ends: pins in lasthop's bpf file system.

The file system is mounted with the first pin and unmounted with the last one.
"""

import errno
import os
from pathlib import Path

from lasthop.errors import UserError
from lasthop.linux import bpf
from lasthop.linux.syscalls import call

PLACE = Path("/run/lasthop-congestion")


def keep(descriptor: int, name: str) -> None:
    """Keep the object of a descriptor in the kernel.

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
    """Remove the pin of this name. Return whether it existed."""
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
    """Return the names of all pins; none if this process may not read them."""
    try:
        names = [each.name for each in PLACE.iterdir()]
    except OSError:
        return []
    # names with a dot are reserved by the kernel
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
