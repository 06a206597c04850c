"""Network address translation by nf_tables. Each table exists as long as the socket that created
it.

Every table has the flag `owner`. No other process can change such a table (Linux 5.12). The kernel
removes the table when its socket closes, even if the process was killed.
"""

import errno
import os
import socket
import struct
from collections.abc import Sequence
from ipaddress import IPv4Address
from typing import Self

from lasthop.errors import AS_ROOT, UserError
from lasthop.linux.netlink import (
    ACK,
    ACKNOWLEDGEMENT,
    CREATE,
    ERROR,
    HEADER,
    REQUEST,
    attribute,
    messages_in,
    text_attribute,
)

NETFILTER, BATCH_BEGIN, BATCH_END = 12, 16, 17
SUBSYSTEM = 10
"""Number of the subsystem nf_tables, in the upper byte of a message type
(linux/netfilter/nfnetlink.h)."""
GENERIC = struct.Struct("=BBH")
"""Layout of struct nfgenmsg: address family, version, resource."""
NEWTABLE, NEWCHAIN, NEWRULE = 0, 3, 6
APPEND = 0x800
OWNER = 2
FORWARD_HOOK, POSTROUTING_HOOK = 2, 4
FILTER_PRIORITY, SOURCE_PRIORITY = 0, 100
"""Usual priorities of two chains: a chain that filters packets, and a chain for source NAT
(linux/netfilter_ipv4.h)."""
DROP = 0
IIFNAME, OIFNAME = 6, 7
EQUAL, UNEQUAL = 0, 1
REGISTER, VERDICT_REGISTER = 1, 0
NETWORK_HEADER, SOURCE_OFFSET = 1, 12

# Attribute numbers and constants of linux/netfilter/nf_tables.h, in the order of their use in this
# module.
TABLE_NAME, TABLE_FLAGS = 1, 2
CHAIN_TABLE, CHAIN_NAME, CHAIN_HOOK, CHAIN_TYPE = 1, 3, 4, 7
HOOK_NUMBER, HOOK_PRIORITY = 1, 2
RULE_TABLE, RULE_CHAIN, RULE_EXPRESSIONS = 1, 2, 4
ELEMENT, EXPRESSION_NAME, EXPRESSION_DATA = 1, 1, 2
META_REGISTER, META_KEY = 1, 2
CMP_REGISTER, CMP_OPERATION, CMP_DATA, VALUE = 1, 2, 3, 1
PAYLOAD_REGISTER, PAYLOAD_BASE, PAYLOAD_OFFSET, PAYLOAD_LENGTH = 1, 2, 3, 4
IMMEDIATE_REGISTER, IMMEDIATE_DATA, VERDICT, VERDICT_CODE = 1, 2, 2, 1
NAME_BYTES = 16
"""Length of an interface name in a comparison (IFNAMSIZ). [bytes]"""


class Translation:
    """nf_tables table for source NAT in the calling thread's network namespace. The table exists
    until `close`.

    Parameters
    ----------
    name : str
        Name of the table.
    interface : str
        Outgoing interface. Its address replaces the source address of all packets that leave
        through this interface.
    source : IPv4Address, optional
        Source address that is translated. By default, all addresses are translated.
    inside : str, optional
        Incoming interface. Its packets are dropped unless they leave through `interface`.

    Raises
    ------
    UserError
        If the kernel does not support the table, or if this process lacks the permission.
    """

    def __init__(
        self,
        name: str,
        interface: str,
        source: IPv4Address | None = None,
        inside: str | None = None,
    ) -> None:
        rules = chain(name, "translate", b"nat", POSTROUTING_HOOK, SOURCE_PRIORITY)
        rules += rule(name, "translate", [*leaves(interface), *comes_from(source), masquerade()])
        if inside is not None:
            rules += chain(name, "guard", b"filter", FORWARD_HOOK, FILTER_PRIORITY)
            others = [*enters(inside), *leaves(interface, UNEQUAL), drop()]
            rules += rule(name, "guard", others)
        try:
            kinds = socket.SOCK_RAW | socket.SOCK_CLOEXEC
            self.socket = socket.socket(socket.AF_NETLINK, kinds, NETFILTER)
        except OSError as error:
            raise lacking(error.strerror or "") from None
        try:
            self.socket.bind((0, 0))
            self.carry_out([table(name), *rules])
        except OSError as error:
            self.socket.close()
            raise lacking(error.strerror or "") from None
        except UserError:
            self.socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the table."""
        self.socket.close()

    def carry_out(self, messages: Sequence[tuple[int, int, bytes]]) -> None:
        """Send messages as one transaction: the kernel applies all of them or none."""
        packed = [message(BATCH_BEGIN, 0, 0, b"")]
        packed += [
            message((SUBSYSTEM << 8) | kind, flags | ACK, number, body)
            for number, (kind, flags, body) in enumerate(messages, start=1)
        ]
        packed.append(message(BATCH_END, 0, len(messages) + 1, b""))
        self.socket.send(b"".join(packed))
        waiting = len(messages)
        while waiting:
            for kind, _, body in messages_in(self.socket.recv(1 << 16)):
                if kind == ERROR:
                    waiting -= 1
                    refused = -ACKNOWLEDGEMENT.unpack_from(body)[0]
                    if refused:
                        raise lacking(os.strerror(refused), may=refused != errno.EPERM)


def lacking(why: str, *, may: bool = True) -> UserError:
    """Return the error for unavailable address translation."""
    if not may:
        return UserError(f"address translation: {why}", AS_ROOT)
    return UserError(
        f"the kernel has no address translation: {why}",
        "expected nf_tables with masquerade (nft_chain_nat, nft_masq), Linux 5.12 or newer",
    )


def message(kind: int, flags: int, sequence: int, body: bytes) -> bytes:
    """Return a netlink message to nf_tables about IPv4. Messages that begin or end a transaction
    contain the number of the subsystem nf_tables instead of the IPv4 address family."""
    is_around = kind in (BATCH_BEGIN, BATCH_END)
    family, resource = (0, socket.htons(SUBSYSTEM)) if is_around else (socket.AF_INET, 0)
    data = GENERIC.pack(family, 0, resource) + body
    return HEADER.pack(HEADER.size + len(data), kind, flags | REQUEST, sequence, 0) + data


def number(kind: int, value: int) -> bytes:
    """Return a netlink attribute that contains a number."""
    return attribute(kind, struct.pack(">i", value))


def table(name: str) -> tuple[int, int, bytes]:
    """Return the message that creates a table. The kernel removes the table when the socket that
    created it is closed."""
    return NEWTABLE, CREATE, text_attribute(TABLE_NAME, name) + number(TABLE_FLAGS, OWNER)


def chain(
    of: str, name: str, kind: bytes, hook: int, priority: int
) -> list[tuple[int, int, bytes]]:
    """Return the message that creates a chain at a netfilter hook."""
    present = number(HOOK_NUMBER, hook) + number(HOOK_PRIORITY, priority)
    body = (
        text_attribute(CHAIN_TABLE, of)
        + text_attribute(CHAIN_NAME, name)
        + attribute(CHAIN_HOOK, present)
    )
    return [(NEWCHAIN, CREATE, body + attribute(CHAIN_TYPE, kind + b"\0"))]


def rule(of: str, in_chain: str, expressions: Sequence[bytes]) -> list[tuple[int, int, bytes]]:
    """Return the message that appends a rule to a chain."""
    elements = b"".join(attribute(ELEMENT, item) for item in expressions)
    body = text_attribute(RULE_TABLE, of) + text_attribute(RULE_CHAIN, in_chain)
    return [(NEWRULE, CREATE | APPEND, body + attribute(RULE_EXPRESSIONS, elements))]


def expression(name: str, data: bytes) -> bytes:
    """Return an nf_tables expression, which is a condition or an action of a rule."""
    return text_attribute(EXPRESSION_NAME, name) + attribute(EXPRESSION_DATA, data)


def compared(operation: int, value: bytes) -> bytes:
    """Return the expression that compares a value with the register of nf_tables, which an earlier
    expression has set. If the result is false, the rule ends without an action.
    """
    data = number(CMP_REGISTER, REGISTER) + number(CMP_OPERATION, operation)
    return expression("cmp", data + attribute(CMP_DATA, attribute(VALUE, value)))


def named(key: int, interface: str, operation: int) -> list[bytes]:
    """Return the expressions that compare the name of the packet's incoming or outgoing interface
    (`key`). If the result is false, the rule ends without an action."""
    load = number(META_KEY, key) + number(META_REGISTER, REGISTER)
    name = interface.encode().ljust(NAME_BYTES, b"\0")
    return [expression("meta", load), compared(operation, name)]


def enters(interface: str) -> list[bytes]:
    """Return the expressions that continue the rule if the packet arrived at an interface."""
    return named(IIFNAME, interface, EQUAL)


def leaves(interface: str, operation: int = EQUAL) -> list[bytes]:
    """Return the expressions that continue the rule if the packet leaves through an interface.

    With `UNEQUAL`, the rule continues if the packet leaves through another interface.
    """
    return named(OIFNAME, interface, operation)


def comes_from(source: IPv4Address | None) -> list[bytes]:
    """Return the expressions that continue the rule if the packet has this source address. If
    `source` is None, return no expressions, so that the rule continues for every packet."""
    if source is None:
        return []
    load = number(PAYLOAD_REGISTER, REGISTER) + number(PAYLOAD_BASE, NETWORK_HEADER)
    load += number(PAYLOAD_OFFSET, SOURCE_OFFSET) + number(PAYLOAD_LENGTH, 4)
    return [expression("payload", load), compared(EQUAL, source.packed)]


def masquerade() -> bytes:
    """Return the expression that replaces the source address by the outgoing interface's
    address."""
    return expression("masq", b"")


def drop() -> bytes:
    """Return the expression that drops the packet."""
    verdict = attribute(VERDICT, number(VERDICT_CODE, DROP))
    data = number(IMMEDIATE_REGISTER, VERDICT_REGISTER) + attribute(IMMEDIATE_DATA, verdict)
    return expression("immediate", data)
