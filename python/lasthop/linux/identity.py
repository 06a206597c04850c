"""Identity of this thread's network namespace, so that changes are reverted only in the namespace
in which they were made.

The kernel may reuse the number of a removed namespace (`lsns -t net`). The kernel never reuses the
cookie of a namespace before the next boot (Linux 5.14, SO_NETNS_COOKIE).
"""

import os
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from lasthop.linux.netns import OWN

SO_NETNS_COOKIE = 71
BOOT = Path("/proc/sys/kernel/random/boot_id")
FIRST_ALONE = Path("/proc/sys/net/core/netdev_max_backlog")
"""File that exists only in the network namespace that the kernel creates at boot."""

Whose: TypeAlias = Literal["ours", "another's", "gone"]


class Identity(NamedTuple):
    """Identity of a network namespace."""

    number: int
    """Inode number of the namespace."""
    cookie: int
    """Cookie of the namespace; 0 if the kernel does not support cookies."""
    boot: str
    """Identifier of the boot after which the namespace was created."""

    def __str__(self) -> str:
        return f"{self.number} {self.cookie} {self.boot}"

    def whose(self, own: "Identity") -> Whose:
        """Return ``"ours"`` if this is the identity of the namespace `own`, ``"gone"`` if the
        namespace no longer exists, else ``"another's"``."""
        if self.boot != own.boot:
            return "gone"
        if self.number != own.number:
            return "another's"
        return "ours" if 0 in (self.cookie, own.cookie) or self.cookie == own.cookie else "gone"


def own_identity() -> Identity:
    """Return the identity of this thread's namespace."""
    cookie, boot = 0, ""
    with socket.socket(socket.AF_UNIX) as any_socket, suppress(OSError):
        cookie = int.from_bytes(
            any_socket.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8), sys.byteorder
        )
    with suppress(OSError):
        boot = BOOT.read_text().strip()
    return Identity(os.stat(OWN).st_ino, cookie, boot)


def identity_of(text: str) -> Identity | None:
    """Parse the identity in a text; return None if the text contains no identity."""
    words = text.split()
    if len(words) != 3 or not all(word.isdecimal() for word in words[:2]):
        return None
    return Identity(int(words[0]), int(words[1]), words[2])


def is_first() -> bool:
    """Return whether this thread is in the network namespace that the kernel or container created
    at boot."""
    try:
        first = os.stat("/proc/1/ns/net")
    except OSError:  # this process may not read the file
        return FIRST_ALONE.exists()
    own = os.stat(OWN)
    return (own.st_dev, own.st_ino) == (first.st_dev, first.st_ino)
