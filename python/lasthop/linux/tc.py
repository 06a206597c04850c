"""Netlink requests for traffic control, each with its equivalent `tc` command.

The requests create queueing disciplines, HTB classes, u32 filters in hash tables, and a classic BPF
classifier. Structures are those of linux/pkt_sched.h, linux/pkt_cls.h and linux/tc_act/tc_mirred.h.
"""

import socket
import struct
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import NamedTuple, TypeAlias

from lasthop.linux.netlink import (
    CREATE,
    EXCL,
    REPLACE,
    Request,
    attribute,
    attributes,
    text_attribute,
    u32_attribute,
)

Address: TypeAlias = IPv4Address | IPv6Address
Subnet: TypeAlias = IPv4Network | IPv6Network
Key: TypeAlias = str | Address | Subnet
"""Key of a u32 hash table: a MAC address, an IP address or a subnet."""

NEWQDISC, DELQDISC, NEWCLASS, DELCLASS, NEWFILTER, DELFILTER = 36, 37, 40, 41, 44, 45
TCMSG = struct.Struct("=BxxxiIII")
"""Layout of struct tcmsg: family, interface, handle, parent, info."""
KIND, OPTIONS, CHAIN, INGRESS_BLOCK, EGRESS_BLOCK = 1, 2, 11, 13, 14
OURS = 0x6C68
"""Major number of lasthop's HTB hierarchies: the letters "lh"."""
SPLITTER = 0x6C67
"""Major number of the splitter, a queueing discipline in front of an HTB hierarchy. The splitter
splits merged packets."""
INGRESS = 0xFFFFFFF1
ROOT = 0xFFFFFFFF
BLOCK_INDEX = -1
"""Number that replaces the interface number in messages about a shared filter block."""

RATESPEC = struct.Struct("=BBHhHI")
ETHERNET = 1
TICK_NS = 64
"""The kernel's unit of token bucket depths (PSCHED_SHIFT). [ns]"""
LARGEST_BUCKET = 0x7FFFFFFF

PACKET_BYTES = 1514
"""Length of a full Ethernet frame, which is the quantum of a class with weight 1. [bytes]"""
BURST_S = 0.001
"""Depth of a shaper's token bucket, as time at the shaper's rate; the depth is at least one packet.
After a late timer, the shaper may send a burst of this length. [s]"""
DIRECT_PACKETS = 1000
"""Largest number of waiting packets that belong to no class of an HTB hierarchy. [packets]"""
SPLIT_BPS = 100_000_000_000
"""Rate of the splitter. It exceeds the rate of any interface, so that the splitter never delays a
packet. [bit/s]"""
SPLIT_LIMIT_BYTES = 1 << 20
TBF_PARMS, TBF_RATE64, TBF_BURST = 1, 4, 6
HTB_INIT, HTB_PARMS, HTB_DIRECT_QLEN, HTB_RATE64, HTB_CEIL64 = 2, 1, 5, 6, 7
LARGEST_RATE32 = 0xFFFFFFFF
"""Largest rate that fits into 32 bits and needs no 64-bit attribute. [byte/s]"""
U32_CLASSID, U32_HASH, U32_LINK, U32_DIVISOR, U32_SEL, U32_ACT = 1, 2, 3, 4, 5, 7
U32_TERMINAL = 1
U32_ROOT_TABLE = 0x80000000
BPF_ACT, BPF_CLASSID, BPF_OPS_LEN, BPF_OPS, BPF_FD, BPF_NAME, BPF_FLAGS = 1, 3, 4, 5, 6, 7, 8
ACT_KIND, ACT_OPTIONS, MIRRED_PARMS = 1, 2, 2
NESTED = 0x8000
STOLEN, EGRESS_REDIRECT = 4, 1

ANY = 0
"""Protocol number 0, with which a filter matches frames of every protocol."""
ETH_P_ALL = 0x0003
EVERY_PACKET = 1 << 16 | socket.htons(ETH_P_ALL)
"""Preference 1 and the number for packets of every protocol, combined by `filter_info`."""
PROTOCOLS = {ANY: ("all", ETH_P_ALL), 4: ("ip", 0x0800), 6: ("ipv6", 0x86DD)}
ICMP, TCP, UDP, ICMP6 = 1, 6, 17, 58
ECHOES = {4: (8, 0), 6: (128, 129)}
"""ICMP types of echo requests and echo replies, by IP version (RFC 792, RFC 4443)."""
BUCKETS = 256


class Device(NamedTuple):
    """Interface that has queueing disciplines, classes and filters."""

    name: str
    number: int

    def header(self, handle: int = 0, parent: int = 0, info: int = 0) -> bytes:
        """Return the fixed header (struct tcmsg) of a message about the interface."""
        return TCMSG.pack(0, self.number, handle, parent, info)

    def words(self) -> str:
        """Return the arguments of the `tc` command that identify the interface."""
        return f"dev {self.name}"


class Block(NamedTuple):
    """Filter block that several interfaces share."""

    number: int

    def words(self) -> str:
        """Return the arguments of the `tc` command that identify the block."""
        return f"block {self.number}"


class Match(NamedTuple):
    """Condition of a u32 filter: a 32-bit word of the packet must have a value under a mask."""

    offset: int
    mask: int
    value: int


EVERYTHING = Match(0, 0, 0)
TO_GROUP = Match(-16, 0x00000100, 0x00000100)
"""Match of frames to a group MAC address: multicast and broadcast."""


def classid(major: int, minor: int) -> int:
    """Return the 32-bit number of a class from its major and minor number."""
    return major << 16 | minor


def shown(number: int) -> str:
    """Return the number of a class in the notation of `tc`."""
    minor = number & 0xFFFF
    return f"{number >> 16:x}:{minor:x}" if minor else f"{number >> 16:x}:"


def at_parent(parent: int) -> str:
    """Return the arguments of the `tc` command for the parent of a queueing discipline: the root,
    or a class."""
    return "root" if parent == ROOT else f"parent {shown(parent)}"


def add_qdisc(
    device: Device, parent: int, kind: str, options: bytes, words: str, handle: int = 0
) -> Request:
    """Return the request that adds a queueing discipline. `words` are its options in the `tc`
    command."""
    body = device.header(handle, parent) + text_attribute(KIND, kind) + attribute(OPTIONS, options)
    numbered = f"handle {shown(handle)} " if handle else ""
    text = f"tc qdisc add {device.words()} {at_parent(parent)} {numbered}{kind} {words}"
    return Request(NEWQDISC, CREATE | EXCL, body, text)


def hooks(device: Device, incoming: int, outgoing: int) -> Request:
    """Return the request that attaches shared filter blocks to both directions of an interface."""
    body = device.header(INGRESS & 0xFFFF0000, INGRESS) + text_attribute(KIND, "clsact")
    body += u32_attribute(INGRESS_BLOCK, incoming) + u32_attribute(EGRESS_BLOCK, outgoing)
    text = f"tc qdisc add {device.words()} ingress_block {incoming} egress_block {outgoing} clsact"
    return Request(NEWQDISC, CREATE | EXCL, body, text)


def del_hooks(device: Device, kind: str = "clsact") -> Request:
    """Return the request that removes the hooks of an interface. The kernel removes the filters of
    a block that has no other user."""
    body = device.header(INGRESS & 0xFFFF0000, INGRESS) + text_attribute(KIND, kind)
    return Request(DELQDISC, 0, body, f"tc qdisc del {device.words()} {kind}")


def htb_qdisc(
    device: Device, major: int, direct_packets: int, default: int = 0, *, parent: int = ROOT
) -> Request:
    """Return the request that adds an HTB hierarchy at the root or in a class.

    Packets that no filter matches pass through the class with minor number `default`. If `default`
    is 0, they pass unshaped.
    """
    options = attribute(HTB_INIT, struct.pack("=IIIII", 3, 10, default, 0, 0))
    options += u32_attribute(HTB_DIRECT_QLEN, direct_packets)
    words = f"default {default:x} direct_qlen {direct_packets}"
    return add_qdisc(device, parent, "htb", options, words, classid(major, 0))


def splitter(device: Device, longest_bytes: int) -> Request:
    """Return the request that adds a token bucket at the root, which splits merged packets without
    delay.

    The kernel's TBF splits a packet of merged segments that is longer than its bucket. TBF drops
    any other packet that is longer than the bucket, so `longest_bytes` must be at least the longest
    frame.
    """
    rate = SPLIT_BPS // 8
    parameters = ratespec(rate) + bytes(RATESPEC.size)
    parameters += struct.pack("=III", SPLIT_LIMIT_BYTES, ticks(longest_bytes, rate), 0)
    options = attribute(TBF_PARMS, parameters) + attribute(TBF_RATE64, struct.pack("=Q", rate))
    options += u32_attribute(TBF_BURST, longest_bytes)
    words = f"rate {SPLIT_BPS}bit burst {longest_bytes}b limit {SPLIT_LIMIT_BYTES}b"
    return add_qdisc(device, ROOT, "tbf", options, words, classid(SPLITTER, 0))


def ratespec(rate: int) -> bytes:
    """Return the kernel's structure for a rate (struct tc_ratespec). [byte/s]"""
    return RATESPEC.pack(0, ETHERNET, 0, -1, 0, min(rate, LARGEST_RATE32))


def del_qdisc(device: Device, parent: int = ROOT) -> Request:
    """Return the request that removes the queueing discipline of a class, or of the root."""
    text = f"tc qdisc del {device.words()} {at_parent(parent)}"
    return Request(DELQDISC, 0, device.header(0, parent), text)


def htb_class(
    device: Device,
    number: int,
    parent: int,
    *,
    rate_bps: int,
    burst_bytes: int,
    quantum_bytes: int,
    ceil_bps: int | None = None,
    cburst_bytes: int | None = None,
    change: bool = False,
) -> Request:
    """Return the request that adds an HTB class or changes an existing class. `rate_bps` is the
    rate of the class, and `ceil_bps` is its ceiling. [bit/s]

    The kernel stores rates in whole bytes per second. By default, the ceiling is equal to the rate,
    and both have the same bucket depth.
    """
    ceil_bps = rate_bps if ceil_bps is None else ceil_bps
    rate, ceil = max(rate_bps // 8, 1), max(ceil_bps // 8, 1)
    cburst_bytes = burst_bytes if cburst_bytes is None else cburst_bytes
    buckets = ticks(burst_bytes, rate), ticks(cburst_bytes, ceil)
    parameters = ratespec(rate) + ratespec(ceil)
    parameters += struct.pack("=IIIII", *buckets, quantum_bytes, 0, 0)
    options = attribute(HTB_PARMS, parameters)
    for kind, value in ((HTB_RATE64, rate), (HTB_CEIL64, ceil)):
        if value >= LARGEST_RATE32:
            options += attribute(kind, struct.pack("=Q", value))
    body = device.header(number, parent) + text_attribute(KIND, "htb") + attribute(OPTIONS, options)
    text = (
        f"tc class {'change' if change else 'add'} {device.words()} parent {shown(parent)} "
        f"classid {shown(number)} htb rate {rate * 8}bit ceil {ceil * 8}bit "
        f"burst {burst_bytes}b cburst {cburst_bytes}b quantum {quantum_bytes}"
    )
    return Request(NEWCLASS, 0 if change else CREATE | EXCL, body, text)


def ticks(size: int, rate: int) -> int:
    """Return the time to send `size` [bytes] at `rate` [byte/s], in the kernel's ticks.

    The time is a whole number of microseconds, computed with the same arithmetic as in `tc`.
    """
    whole_us = int(1e6 * (size / rate))
    return min(whole_us * 1000 // TICK_NS, LARGEST_BUCKET)


def del_class(device: Device, number: int) -> Request:
    """Return the request that removes an HTB class, which must have no filters."""
    text = f"tc class del {device.words()} classid {shown(number)}"
    return Request(DELCLASS, 0, device.header(number), text)


# Filters in u32 hash tables. The Ethernet header of a frame begins 14 bytes before the IP header.


def mac_bytes(mac: str) -> bytes:
    """Return the bytes of a MAC address."""
    return bytes.fromhex(mac.replace(":", ""))


def mac_matches(mac: str, source: bool) -> list[Match]:
    """Return the matches for the words of the Ethernet header that contain a MAC address."""
    raw = mac_bytes(mac)
    if source:
        first, last = struct.unpack("!IH", raw)
        return [Match(-8, 0xFFFFFFFF, first), Match(-4, 0xFFFF0000, last << 16)]
    first, last = struct.unpack("!HI", raw)
    return [Match(-16, 0x0000FFFF, first), Match(-12, 0xFFFFFFFF, last)]


def last_word(family: int, source: bool) -> int:
    """Return the offset of the last 32 bits of an address in the IP header. [bytes]"""
    if family == 4:
        return 12 if source else 16
    return 20 if source else 36


def address_matches(address: Address | Subnet, source: bool) -> list[Match]:
    """Return the matches for the words of the IP header that contain an address, or the prefix of a
    subnet."""
    subnet = ip_network(address)
    raw, mask = subnet.network_address.packed, subnet.netmask.packed
    start = last_word(address.version, source) - len(raw) + 4
    form = f"!{len(raw) // 4}I"
    words = zip(struct.unpack(form, raw), struct.unpack(form, mask), strict=True)
    every = [Match(start + 4 * k, bits, word) for k, (word, bits) in enumerate(words)]
    return [each for each in every if each.mask] or [Match(start, 0, 0)]


def protocol_match(family: int, protocol: int) -> Match:
    """Return the match for the word of the IP header that contains the transport protocol."""
    return Match(8, 0x00FF0000, protocol << 16) if family == 4 else Match(4, 0xFF00, protocol << 8)


def echo_matches(family: int, kind: int) -> list[Match]:
    """Return the matches of echo requests or replies whose IP headers have no options."""
    protocol = ICMP if family == 4 else ICMP6
    to_type = Match(20 if family == 4 else 40, 0xFF000000, kind << 24)
    return [protocol_match(family, protocol), to_type]


def bucket(key: Key) -> int:
    """Return the hash bucket of an address, which is its last byte. All subnets are in bucket 0."""
    if isinstance(key, str):
        return mac_bytes(key)[-1]
    return key.packed[-1] if isinstance(key, IPv4Address | IPv6Address) else 0


def family_of(key: Key) -> int:
    """Return the IP version of an address; `ANY` for a MAC address."""
    return ANY if isinstance(key, str) else key.version


def entry_handle(table: int, node: int, key: Key) -> int:
    """Return the u32 handle of an entry in a hash table."""
    return table << 20 | bucket(key) << 12 | node


def u32_table(
    at: Device | Block, family: int, table: int, major: int = 0, *, order: int = 1
) -> Request:
    """Return the request that adds a u32 hash table of 256 buckets, with the preference `order`."""
    options = u32_attribute(U32_DIVISOR, BUCKETS)
    text = f"handle {table:x}: u32 divisor {BUCKETS}"
    return u32(at, family, major, table << 20, options, text, order=order)


def u32_link(
    at: Device | Block,
    family: int,
    table: int,
    mask: int,
    offset: int,
    *,
    match: Match = EVERYTHING,
    major: int = 0,
    order: int = 1,
) -> Request:
    """Return the request that adds a filter which looks up packets in a u32 hash table.

    The bits of `mask` in the packet's word at `offset` are the number of the bucket. [bytes]
    """
    selector = selector_of([match], flags=0, hash_mask=mask, hash_offset=offset)
    options = u32_attribute(U32_LINK, table << 20) + selector
    text = f"u32 {match_said(match)} hashkey mask 0x{mask:08x} at {offset} link {table:x}:"
    return u32(at, family, major, 0, options, text, order=order)


def u32_filter(
    at: Device | Block,
    family: int,
    matches: Sequence[Match],
    target: int | Device,
    *,
    order: int,
    major: int = 0,
    handle: int = 0,
    words: str = "",
) -> Request:
    """Return the request that adds a u32 filter which classifies packets, or redirects packets to a
    device.

    With a `handle`, the filter is an entry of a hash table. `words` are the matches in the `tc`
    command, if they differ from the numeric form.
    """
    options = selector_of(matches, flags=U32_TERMINAL)
    words, name = words or " ".join(map(match_said, matches)), "u32"
    if handle:
        options += u32_attribute(U32_HASH, handle & 0xFFFFF000)
        where = entry_said(handle)
        name = f"handle {where}:{handle & 0xFFF:x} u32 ht {where}:"
    if isinstance(target, Device):
        options += attribute(U32_ACT, attribute(1, mirred(target)))
        words += f" action mirred egress redirect dev {target.name}"
    else:
        options += u32_attribute(U32_CLASSID, target)
        words += f" flowid {shown(target)}"
    return u32(at, family, major, handle, options, f"{name} {words}", order=order)


def entry_said(handle: int) -> str:
    """Return the hash table and the bucket of an entry in the notation of `tc`."""
    return f"{handle >> 20:x}:{handle >> 12 & 0xFF:x}"


def u32_entry(
    at: Device | Block,
    table: int,
    node: int,
    key: Key,
    target: int | Device,
    *,
    source: bool,
    major: int = 0,
    order: int = 1,
) -> Request:
    """Return the request that adds a hash table entry for an address. The entry classifies or
    redirects packets from or to this address."""
    if isinstance(key, str):
        matches, words = mac_matches(key, source), ""
    else:
        matches = address_matches(key, source)
        way, name = ("src" if source else "dst"), "ip" if key.version == 4 else "ip6"
        words = f"match {name} {way} {ip_network(key)}"
    return u32_filter(
        at,
        family_of(key),
        matches,
        target,
        order=order,
        major=major,
        handle=entry_handle(table, node, key),
        words=words,
    )


def u32_passes(at: Block, family: int, matches: Sequence[Match], *, order: int) -> Request:
    """Return the request that adds a filter which accepts packets before later filters are
    evaluated."""
    return u32_filter(at, family, matches, at.number & 0xFFFF0000, order=order)


def del_entry(
    at: Device | Block, table: int, node: int, key: Key, major: int = 0, *, order: int = 1
) -> Request:
    """Return the request that removes an entry of a hash table."""
    handle = entry_handle(table, node, key)
    text = f"handle {entry_said(handle)}:{node:x} u32"
    return u32(at, family_of(key), major, handle, None, text, order=order)


def mirred(device: Device) -> bytes:
    """Return the mirred action that redirects packets to the egress of an interface."""
    parameters = struct.pack("=IIiiiiI", 0, 0, STOLEN, 0, 0, EGRESS_REDIRECT, device.number)
    options = attribute(ACT_OPTIONS | NESTED, attribute(MIRRED_PARMS, parameters))
    return text_attribute(ACT_KIND, "mirred") + options


def selector_of(
    matches: Sequence[Match], *, flags: int, hash_mask: int = 0, hash_offset: int = 0
) -> bytes:
    """Return a u32 selector from its matches. Masks and values are in network byte order, offsets
    in host byte order."""
    data = struct.pack("=BBBxHHhh", flags, 0, len(matches), 0, 0, 0, hash_offset)
    data += struct.pack("!I", hash_mask)
    for match in matches:
        data += struct.pack("!II", match.mask, match.value & match.mask)
        data += struct.pack("=ii", match.offset, 0)
    return attribute(U32_SEL, data)


def match_said(match: Match) -> str:
    """Return a match in the notation of `tc`."""
    return f"match u32 0x{match.value:08x} 0x{match.mask:08x} at {match.offset}"


def filter_info(order: int, protocol: int) -> int:
    """Return the preference and the protocol of a filter combined into one number (tcm_info)."""
    return order << 16 | socket.htons(protocol)


def u32(
    at: Device | Block,
    family: int,
    major: int,
    handle: int,
    options: bytes | None,
    words: str,
    *,
    order: int,
) -> Request:
    """Return the request that adds a u32 filter. Without options, the request removes the
    filter."""
    name, protocol = PROTOCOLS[family]
    parent = at.number if isinstance(at, Block) else classid(major, 0)
    where = at.words() if isinstance(at, Block) else f"{at.words()} parent {major:x}:"
    index = BLOCK_INDEX if isinstance(at, Block) else at.number
    header = TCMSG.pack(0, index, handle, parent, filter_info(order, protocol))
    words = f"{where} protocol {name} pref {order} {words}"
    if options is None:
        return Request(DELFILTER, 0, header + text_attribute(KIND, "u32"), f"tc filter del {words}")
    return add_filter(header, "u32", options, words)


def add_filter(header: bytes, kind: str, options: bytes, words: str) -> Request:
    """Return the request that adds a filter. `words` are the arguments of the `tc` command."""
    body = header + text_attribute(KIND, kind) + attribute(OPTIONS, options)
    return Request(NEWFILTER, CREATE | EXCL, body, f"tc filter add {words}")


def bpf_filter(
    device: Device, parent: int, program: Sequence[tuple[int, int, int, int]]
) -> Request:
    """Return the request that adds a classic BPF program which returns the class of a packet."""
    operations = b"".join(struct.pack("=HBBI", *each) for each in program)
    options = attribute(BPF_OPS_LEN, struct.pack("=H", len(program)))
    options += attribute(BPF_OPS, operations)
    code = ",".join(" ".join(map(str, each)) for each in program)
    words = (
        f"{device.words()} parent {shown(parent)} protocol all pref 1 "
        f"bpf bytecode '{len(program)},{code}'"
    )
    return add_filter(device.header(0, parent, EVERY_PACKET), "bpf", options, words)


def changing(request: Request) -> Request:
    """Return the request that changes an existing class or queueing discipline to these
    settings."""
    if request.kind == NEWCLASS:
        return request._replace(flags=0, command=request.command.replace(" add ", " change ", 1))
    text = request.command.replace(" add ", " replace ", 1)
    return request._replace(flags=CREATE | REPLACE, command=text)


def removal(kind: int, body: bytes, *, whole_list: bool = False) -> Request:
    """Return the request that removes an object which the kernel has described in a message. With
    `whole_list`, the request removes all filters with the preference of the described filter."""
    header, has = body[: TCMSG.size], dict(attributes(body, TCMSG.size))
    _, index, handle, parent, info = TCMSG.unpack(header)
    where = f"block {parent}" if index == BLOCK_INDEX else f"dev {index} parent {shown(parent)}"
    if kind == NEWCLASS:
        return Request(DELCLASS, 0, header, f"tc class del {where} classid {shown(handle)}")
    if kind == NEWQDISC:
        header = TCMSG.pack(0, index, 0, parent, 0)
        return Request(DELQDISC, 0, header, f"tc qdisc del {where}")
    text = f"tc filter del {where} pref {info >> 16}"
    if whole_list:
        header = TCMSG.pack(0, index, 0, parent, info)
    else:
        text += f" handle 0x{handle:x}"
    for each in (KIND, CHAIN):
        if each in has:
            header += attribute(each, has[each])
    return Request(DELFILTER, 0, header, text)
