"""Change to another user with some capabilities, as `setpriv` and systemd do."""

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

USER = 65534
"""User ID, and also group ID, of an account without rights (`nobody`)."""
CAPABILITIES = {"net_admin": 12, "net_raw": 13, "bpf": 39}
"""Numbers of capabilities (linux/capability.h)."""
VERSION = 0x20080522
"""Version of the structures of capset(2)."""
PR_SET_DUMPABLE, PR_SET_KEEPCAPS = 4, 8
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 24, 38, 47
PR_CAP_AMBIENT_RAISE = 2

libc = ctypes.CDLL(None, use_errno=True)


def become(capabilities: Sequence[str]) -> None:
    """Become the unprivileged user with exactly these capabilities."""
    numbers = [CAPABILITIES[name] for name in capabilities]
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    for number in range(last + 1):
        if number not in numbers:
            control(PR_CAPBSET_DROP, number)
    control(PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    # otherwise programs of this user could not read their own /proc/self
    control(PR_SET_DUMPABLE, 1)
    mask = sum(1 << number for number in numbers)
    header = (ctypes.c_uint32 * 2)(VERSION, 0)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    sets = (ctypes.c_uint32 * 6)(low, low, low, high, high, high)
    if libc.capset(header, sets) != 0:
        raise OSError(ctypes.get_errno(), "capset")
    for number in numbers:
        control(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number)
    control(PR_SET_NO_NEW_PRIVS, 1)


def control(option: int, *values: int) -> None:
    """Call prctl(2); raise `OSError` if it fails."""
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    if libc.prctl(option, *padded) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")
