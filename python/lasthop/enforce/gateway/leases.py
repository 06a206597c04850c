"""Read the leases files of the DHCP servers dnsmasq and ISC dhcpd.

dnsmasq has a line for each lease (expiry, MAC address, address, host name, client identifier)::

    1795270000 02:00:5e:10:00:01 192.168.4.23 phone 01:02:00:5e:10:00:01

ISC dhcpd appends a block for each change. The last complete block of an address is valid::

    lease 192.168.4.24 {
      ends 4 2026/11/19 14:06:40;
      binding state active;
      hardware ethernet 02:00:5e:10:00:02;
      client-hostname "laptop";
    }

Each line is parsed only once, whatever it contains, since hosts choose their own names.
"""

import math
import os
import re
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import BinaryIO, NamedTuple

from lasthop.errors import UserError
from lasthop.linux.tc import Address

MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", re.IGNORECASE)
MAX_DIGITS = 19
"""Largest number of digits of a time in seconds that is accepted."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
STATEMENTS = ("ends", "binding state", "hardware ethernet", "client-hostname")
"""Statements in a block of dhcpd that are used."""


class Lease(NamedTuple):
    """IP address that a DHCP server has leased to a host."""

    address: Address
    mac: str
    name: str | None
    """Name that the host reports; None if the name contains special characters."""


def leases(text: str, now_s: float, wrong: list[str] | None = None) -> list[Lease]:
    """Return the valid leases in a file of dnsmasq or dhcpd. `now_s` is the current `time.time`.
    [s]

    A lease whose end cannot be parsed is left out, and a message is appended to `wrong`.
    """
    wrong = [] if wrong is None else wrong
    results = {lease.address: lease for lease in dnsmasq(text, now_s, wrong)}
    for address, lease in dhcpd(text, now_s, wrong):
        if lease is None:
            results.pop(address, None)
        else:
            results[address] = lease
    return list(results.values())


def dnsmasq(text: str, now_s: float, wrong: list[str]) -> Iterator[Lease]:
    """Yield leases of dnsmasq. An expiry of 0 means that the lease never expires."""
    for line in text.split("\n"):
        words = line.split()
        if len(words) < 4 or not words[0].isdecimal() or not MAC.fullmatch(words[1]):
            continue
        address = parsed(words[2])
        if address is None:
            continue
        if len(words[0]) > MAX_DIGITS:
            wrong.append(unreadable(address, words[0]))
        elif int(words[0]) == 0 or int(words[0]) > now_s:
            yield Lease(address, words[1].lower(), plain(words[3]))


def dhcpd(text: str, now_s: float, wrong: list[str]) -> Iterator[tuple[Address, Lease | None]]:
    """Yield the address of each lease of ISC dhcpd, with the lease, or with None if it is no longer
    valid."""
    for whose, message in blocks(text):
        address = parsed(whose)
        if address is None:
            continue
        mac, name = message.get("hardware ethernet", ""), message.get("client-hostname", "")
        try:
            has_ended = "ends" in message and end_of(message["ends"]) <= now_s
        except ValueError:
            wrong.append(unreadable(address, message["ends"]))
            continue
        if has_ended or message.get("binding state") != "active" or not MAC.fullmatch(mac):
            yield address, None
        else:
            yield address, Lease(address, mac.lower(), plain(name[1:-1]))


def blocks(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield blocks of dhcpd: the address, and the last value of each statement.

    A block ends with a brace at the indentation of its first line. A block without this brace is
    incomplete and is left out.
    """
    address, indent, message = "", "", dict[str, str]()
    for line in text.split("\n"):
        words = line.strip()
        before = line[: len(line) - len(line.lstrip())]
        if words.startswith(("lease ", "lease\t")) and words.endswith("{"):
            address, indent, message = words[len("lease ") : -1].strip(), before, {}
        elif words == "}" and before == indent:
            if address:
                yield address, message
            address = ""
        for key in STATEMENTS:
            if address and words.startswith(f"{key} "):
                message[key] = words[len(key) :].partition(";")[0].strip()


def end_of(text: str) -> float:
    """Return the end of a lease of dhcpd in the time of `time.time`. [s] Raise `ValueError` if the
    text is not a time."""
    words = text.split()
    if words == ["never"]:
        return math.inf
    if words[:1] == ["epoch"] and len(words) > 1 and len(words[1]) <= MAX_DIGITS:
        return float(int(words[1]))
    at = datetime.strptime(" ".join(words[1:]), "%Y/%m/%d %H:%M:%S").replace(tzinfo=UTC)
    return at.timestamp()


def unreadable(address: Address, end: str) -> str:
    """Return the message that the end of a lease cannot be parsed as a time."""
    shown = end if len(end) <= MAX_DIGITS else f"{end[:MAX_DIGITS]}..."
    return f"lease {address}: its end {shown!r} is no time"


def parsed(text: str) -> Address | None:
    """Return the IP address in a text; None if the text is not an address."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def plain(name: str) -> str | None:
    """Return the name that a host reports if all its characters are harmless; None otherwise."""
    return name if NAME.fullmatch(name) else None


def open_leases(path: Path) -> BinaryIO:
    """Open a leases file. Raise `UserError` if it is not a regular file: reading a FIFO, for
    example, may block."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        file = os.fdopen(handle, "rb")
    except OSError as error:
        raise UserError(f"gateway.discover.leases: {path}: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        file.close()
        raise UserError(f"gateway.discover.leases: {path}: is not a regular file")
    return file
