"""Leases files of DHCP servers.

dnsmasq has a line for each lease (expiry, MAC address, address, host name, client identifier)::

    1795270000 02:00:5e:10:00:01 192.168.4.23 phone 01:02:00:5e:10:00:01

ISC dhcpd appends a block for each change, so that the last one of an address holds::

    lease 192.168.4.24 {
      ends 4 2026/11/19 14:06:40;
      binding state active;
      hardware ethernet 02:00:5e:10:00:02;
      client-hostname "laptop";
    }
"""

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import NamedTuple

from lasthop.linux.tc import Address

BLOCK = re.compile(r"^[ \t]*lease\s+(\S+)\s*\{(.*?)^[ \t]*\}", re.MULTILINE | re.DOTALL)
MAC = re.compile(r"^([0-9a-f]{2}:){5}[0-9a-f]{2}$", re.IGNORECASE)
MOST_DIGITS = 19
"""Digits of a time in seconds, at most."""
NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")


class Lease(NamedTuple):
    """An address that a host has."""

    address: Address
    mac: str
    name: str | None
    """What the host calls itself, if that is a plain name."""


def leases(text: str, now_s: float, wrong: list[str] | None = None) -> list[Lease]:
    """Leases of either kind of file that hold now, on the clock of `time.time` [s].

    A lease whose end cannot be read is left out, and told in `wrong`.
    """
    wrong = [] if wrong is None else wrong
    found = {lease.address: lease for lease in dnsmasq(text, now_s, wrong)}
    for address, lease in dhcpd(text, now_s, wrong):
        if lease is None:
            found.pop(address, None)
        else:
            found[address] = lease
    return list(found.values())


def dnsmasq(text: str, now_s: float, wrong: list[str]) -> Iterator[Lease]:
    """Leases of dnsmasq; an expiry of 0 means never."""
    for line in text.splitlines():
        words = line.split()
        if len(words) < 4 or not words[0].isdecimal() or not MAC.match(words[1]):
            continue
        address = parsed(words[2])
        if address is None:
            continue
        if len(words[0]) > MOST_DIGITS:
            wrong.append(unreadable(address, words[0]))
        elif int(words[0]) == 0 or int(words[0]) > now_s:
            yield Lease(address, words[1].lower(), plain(words[3]))


def dhcpd(text: str, now_s: float, wrong: list[str]) -> Iterator[tuple[Address, Lease | None]]:
    """Leases of ISC dhcpd in order; None for one that no longer holds."""
    for block in BLOCK.finditer(text):
        address, body = parsed(block[1]), block[2]
        mac = re.search(r"hardware ethernet ([0-9a-f:]+);", body, re.IGNORECASE)
        if address is None:
            continue
        name = re.search(r'client-hostname "([^"]*)";', body)
        active = re.search(r"^\s*binding state active;", body, re.MULTILINE)
        ends = re.search(r"^\s*ends ([^;]*);", body, re.MULTILINE)
        try:
            has_ended = ends is not None and end_of(ends[1]) <= now_s
        except ValueError:
            wrong.append(unreadable(address, ends[1] if ends else ""))
            continue
        if mac is None or active is None or has_ended:
            yield address, None
        else:
            yield address, Lease(address, mac[1].lower(), plain(name[1]) if name else None)


def end_of(text: str) -> float:
    """When a lease of dhcpd ends, on the clock of `time.time` [s]; `ValueError` for no time."""
    words = text.split()
    if words == ["never"]:
        return math.inf
    if words[:1] == ["epoch"] and len(words) > 1 and len(words[1]) <= MOST_DIGITS:
        return float(int(words[1]))
    at = datetime.strptime(" ".join(words[1:]), "%Y/%m/%d %H:%M:%S").replace(tzinfo=UTC)
    return at.timestamp()


def unreadable(address: Address, end: str) -> str:
    """Says that the end of a lease is no time."""
    shown = end if len(end) <= MOST_DIGITS else f"{end[:MOST_DIGITS]}..."
    return f"lease {address}: its end {shown!r} is no time"


def parsed(text: str) -> Address | None:
    """An address, if it is one."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def plain(name: str) -> str | None:
    """A host's name for itself: hosts are not trusted to choose harmless ones."""
    return name if NAME.match(name) else None
