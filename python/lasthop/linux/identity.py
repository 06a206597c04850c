"""Which network namespace this thread is in: what one has must not be undone in another.

The number of a namespace (`lsns -t net`) is given again once it is gone; its cookie never is, until
the machine starts again (Linux 5.14, SO_NETNS_COOKIE).
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
"""What the kernel shows to the namespace that it started with, and to no other."""

Whose: TypeAlias = Literal["ours", "another's", "gone"]


class Identity(NamedTuple):
    """A network namespace."""

    number: int
    """Of its inode."""
    cookie: int
    """0 where the kernel has none."""
    boot: str
    """Since which start of the machine."""

    def __str__(self) -> str:
        return f"{self.number} {self.cookie} {self.boot}"

    def whose(self, own: "Identity") -> Whose:
        """Whether this is the one that we are in, another, or one that is no more."""
        if self.boot != own.boot:
            return "gone"
        if self.number != own.number:
            return "another's"
        return "ours" if 0 in (self.cookie, own.cookie) or self.cookie == own.cookie else "gone"


def own_identity() -> Identity:
    """The namespace of this thread."""
    cookie, boot = 0, ""
    with socket.socket(socket.AF_UNIX) as any_socket, suppress(OSError):
        cookie = int.from_bytes(
            any_socket.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8), sys.byteorder
        )
    with suppress(OSError):
        boot = BOOT.read_text().strip()
    return Identity(os.stat(OWN).st_ino, cookie, boot)


def identity_of(text: str) -> Identity | None:
    """A namespace from its text; None if it is none."""
    words = text.split()
    if len(words) != 3 or not all(word.isdecimal() for word in words[:2]):
        return None
    return Identity(int(words[0]), int(words[1]), words[2])


def is_first() -> bool:
    """Whether this thread is in the namespace that the machine, or its container, started with."""
    try:
        first = os.stat("/proc/1/ns/net")
    except OSError:  # its rights are more than ours
        return FIRST_ALONE.exists()
    own = os.stat(OWN)
    return (own.st_dev, own.st_ino) == (first.st_dev, first.st_ino)
