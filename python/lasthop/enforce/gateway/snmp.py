"""An access point's table of associated stations, by SNMP version 2c (RFC 3416).

The index of each row ends with the six bytes of a station's MAC address. The value in the column is
an IP address, as in cDot11ClientIpAddress of CISCO-DOT11-ASSOCIATION-MIB (paper 002, footnote 3).
Another column can contain the stations' data rates, such as cDot11ClientCurrentTxRateSet of the
same MIB.
"""

import random
import socket
import time
from collections.abc import Iterator
from ipaddress import ip_address
from typing import NamedTuple

from lasthop.enforce.gateway.config import Snmp
from lasthop.errors import UserError
from lasthop.linux.tc import Address

INTEGER, OCTETS, NULL, OID, SEQUENCE, IP_ADDRESS = 0x02, 0x04, 0x05, 0x06, 0x30, 0x40
GAUGE, COUNTER64 = 0x42, 0x46
NUMBERS = (INTEGER, GAUGE, COUNTER64)
MAX_NUMBER_BYTES = 9
"""Number of bytes of the largest Counter64: 64 bits and a sign (RFC 2578, section 7.1.10)."""
GET_BULK, RESPONSE, END_OF_VIEW = 0xA5, 0xA2, 0x82
VERSION_2C = 1
ROWS = 25
"""Largest number of table rows that a request asks for, so that the reply fits into one datagram.
[-]"""
TRIES, PATIENCE_S = 3, 1.0
"""Number of attempts of a request [-], and the time to wait for each reply [s]."""
WALK_S = 10.0
"""Time limit for reading a whole table. [s]"""
MAX_ROWS = 10_000
RATE_BITS = 0x7F
"""Mask for the rate in an octet of a rate set. The remaining bit marks a basic rate."""


class Association(NamedTuple):
    """A station at an access point."""

    mac: str
    address: Address | None


def associations(agent: Snmp) -> list[Association]:
    """Return the stations of an access point. Raise `UserError` if the table is not complete within
    `WALK_S`."""
    return [
        Association(mac, address_of(value))
        for mac, kind, value in walk(agent, agent.table)
        if kind not in NUMBERS
    ]


def rates_of(agent: Snmp) -> Iterator[tuple[str, int | None]]:
    """Yield the MAC address and the data rate of each station. The rate is None if it is not a
    number.

    The unit of the column is `agent.rates_unit_bps`. Raise `UserError` if the table is not complete
    within `WALK_S`.
    """
    assert agent.rates is not None
    for mac, kind, value in walk(agent, agent.rates):
        yield mac, rate_of(kind, value)


def rate_of(kind: int, value: bytes) -> int | None:
    """Return the data rate in a row of the table. The value is a number, or a set with one rate per
    octet, of which the largest is returned.

    A number as text is refused, since its characters would be read as a set of rates.
    """
    if kind in NUMBERS:
        is_number = 0 < len(value) <= MAX_NUMBER_BYTES
        return int.from_bytes(value, "big", signed=kind == INTEGER) if is_number else None
    is_text = len(value) > 1 and value.replace(b".", b"", 1).isdigit()
    if kind != OCTETS or not value or is_text:
        return None
    return max(octet & RATE_BITS for octet in value)


def walk(agent: Snmp, oid: str) -> list[tuple[str, int, bytes]]:
    """Return the MAC address, BER type and value of each row of a column.

    Raise `UserError` if the table is not complete within `WALK_S`.
    """
    column = tuple(map(int, oid.split(".")))
    until_s = time.monotonic() + WALK_S
    results: list[tuple[str, int, bytes]] = []
    last = column
    family = socket.AF_INET6 if ":" in agent.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as udp:
        try:
            udp.connect((agent.host, agent.port))
        except OSError as error:
            raise UserError(f"SNMP agent {agent.host}: {error.strerror}") from None
        while len(results) < MAX_ROWS:
            rows = ask(udp, agent, last, until_s)
            for row, kind, value in rows:
                if row[: len(column)] != column or row <= last:
                    return results
                last = row
                if len(row) >= len(column) + 6 and max(row[-6:]) < 256:
                    results.append((bytes(row[-6:]).hex(":"), kind, value))
            if not rows:
                return results
    return results


def address_of(value: bytes) -> Address | None:
    """Return the IP address in a row of the table, or None. The value is four bytes, sixteen bytes,
    or text."""
    if len(value) in (4, 16) and any(value):
        return ip_address(value)
    try:
        address = ip_address(value.decode("ascii"))
    except ValueError:
        return None
    return None if address.is_unspecified else address


Row = tuple[tuple[int, ...], int, bytes]
"""Row of an SNMP table: object identifier, BER type, and content of the value."""


def ask(udp: socket.socket, agent: Snmp, after: tuple[int, ...], until_s: float) -> list[Row]:
    """Request the table rows whose object identifiers follow `after`, and return the rows of one
    reply.

    `until_s` is the deadline on the monotonic clock. [s] Unrelated packets do not extend the
    deadline.
    """
    number = random.randrange(1, 1 << 31)
    binding = field(SEQUENCE, field(OID, oid_bytes(after)) + field(NULL, b""))
    pdu = integer(number) + integer(0) + integer(ROWS) + field(SEQUENCE, binding)
    community = field(OCTETS, agent.community.encode())
    message = field(SEQUENCE, integer(VERSION_2C) + community + field(GET_BULK, pdu))
    other = 0
    for _ in range(TRIES):
        try:
            udp.send(message)
            end_s = min(time.monotonic() + PATIENCE_S, until_s)
            while (left_s := end_s - time.monotonic()) > 0:
                udp.settimeout(left_s)
                answer = rows_of(udp.recv(65535), number)
                if answer is not None:
                    return answer
                other += 1
        except TimeoutError:
            continue
        except OSError as error:
            raise UserError(f"SNMP agent {agent.host}: {error.strerror}") from None
    if time.monotonic() >= until_s:
        raise UserError(f"SNMP agent {agent.host}: its table has no end within {WALK_S:g} s")
    if other:
        raise UserError(f"SNMP agent {agent.host}: no answer among {other} other datagrams")
    raise UserError(f"SNMP agent {agent.host}: no answer", "check the community")


def rows_of(data: bytes, number: int) -> list[Row] | None:
    """Return the table rows of a reply; None if the packet is the reply to another request."""
    try:
        (_, message), *_ = fields(data)
        _, _, (kind, pdu) = list(fields(message))[:3]
        (_, answered), (_, error), _, (_, bindings) = list(fields(pdu))[:4]
        if kind != RESPONSE or int.from_bytes(answered, "big") != number:
            return None
        if int.from_bytes(error, "big"):
            return []
        rows = []
        for _, binding in fields(bindings):
            (_, oid), (kind, value) = list(fields(binding))[:2]
            if kind in (OCTETS, IP_ADDRESS, *NUMBERS):
                rows.append((oid_of(oid), kind, value))
    except (ValueError, IndexError):
        return None
    return rows


def fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the tag and content of each BER field. Raise `IndexError` if a field is truncated."""
    at = 0
    while at < len(data):
        tag, length = data[at], data[at + 1]
        at += 2
        if length & 0x80:
            size = length & 0x7F
            length = int.from_bytes(data[at : at + size], "big")
            at += size
        if at + length > len(data):
            raise IndexError("cut")
        yield tag, data[at : at + length]
        at += length


def field(tag: int, content: bytes) -> bytes:
    """Return a field encoded by the basic encoding rules (BER)."""
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(length))) + length + content


def integer(value: int) -> bytes:
    """Return a BER field that encodes a non-negative integer."""
    return field(INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def oid_bytes(oid: tuple[int, ...]) -> bytes:
    """Return the BER content of an object identifier: its numbers in groups of 7 bits."""
    content = bytearray()
    for number in (40 * oid[0] + oid[1], *oid[2:]):
        groups = [number & 0x7F]
        while number := number >> 7:
            groups.append(0x80 | number & 0x7F)
        content += bytes(reversed(groups))
    return bytes(content)


def oid_of(content: bytes) -> tuple[int, ...]:
    """Return the object identifier that a BER content encodes."""
    numbers, number = [], 0
    for byte in content:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return (first, numbers[0] - 40 * first, *numbers[1:])
