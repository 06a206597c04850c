"""Traffic control as messages, each with the `tc` command that does the same.

Queueing disciplines, HTB classes, u32 filters in hash tables, a classic BPF classifier. Structures
are those of linux/pkt_sched.h, linux/pkt_cls.h and linux/tc_act/tc_mirred.h.
"""

import struct
from collections.abc import Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import NamedTuple, TypeAlias

from lasthop.linux.netlink import CREATE, EXCL, REPLACE, Request, attribute, attributes

Address: TypeAlias = IPv4Address | IPv6Address
Subnet: TypeAlias = IPv4Network | IPv6Network

NEWQDISC, DELQDISC, NEWCLASS, DELCLASS, NEWFILTER, DELFILTER = 36, 37, 40, 41, 44, 45
TCMSG = struct.Struct("=BxxxiIII")
"""Family, interface, handle, parent, info."""
KIND, OPTIONS, CHAIN, INGRESS_BLOCK, EGRESS_BLOCK = 1, 2, 11, 13, 14
OURS = 0x6C68
"""Number of hierarchies of ours: "lh"."""
SPLITTER = 0x6C67
"""Number of the discipline that splits merged packets, in front of a hierarchy."""
INGRESS = 0xFFFFFFF1
ROOT = 0xFFFFFFFF
BLOCK_INDEX = -1
"""Number in the place of the interface in messages about a shared block."""

RATESPEC = struct.Struct("=BBHhHI")
ETHERNET = 1
TICK_NS = 64
"""The kernel's unit of bucket depths (PSCHED_SHIFT). [ns]"""
LARGEST_BUCKET = 0x7FFFFFFF

PACKET_BYTES = 1514
"""A full Ethernet frame; the quantum of a class with weight 1."""
BURST_S = 0.001
"""Depth of a shaper's bucket, at its rate; at least one packet: so much may leave at once when a
timer is late. [s]
"""
DIRECT_PACKETS = 1000
"""Packets that may wait in a hierarchy beside all classes."""
SPLIT_BPS = 100_000_000_000
"""Rate of the splitter, beyond that of any interface: it never holds a packet back. [bit/s]"""
SPLIT_LIMIT_BYTES = 1 << 20
TBF_PARMS, TBF_RATE64, TBF_BURST = 1, 4, 6
HTB_INIT, HTB_PARMS, HTB_DIRECT_QLEN, HTB_RATE64, HTB_CEIL64 = 2, 1, 5, 6, 7
LARGEST_RATE32 = 0xFFFFFFFF
"""Largest rate that needs no attribute of its own. [byte/s]"""
U32_CLASSID, U32_HASH, U32_LINK, U32_DIVISOR, U32_SEL, U32_ACT = 1, 2, 3, 4, 5, 7
U32_TERMINAL = 1
U32_ROOT_TABLE = 0x80000000
BPF_ACT, BPF_CLASSID, BPF_OPS_LEN, BPF_OPS, BPF_FD, BPF_NAME, BPF_FLAGS = 1, 3, 4, 5, 6, 7, 8
ACT_KIND, ACT_OPTIONS, MIRRED_PARMS = 1, 2, 2
NESTED = 0x8000
STOLEN, EGRESS_REDIRECT = 4, 1

ANY = 0
"""Value of a family that matches frames of every protocol."""
PROTOCOLS = {ANY: ("all", 0x0003), 4: ("ip", 0x0800), 6: ("ipv6", 0x86DD)}
ICMP, TCP, UDP, ICMP6 = 1, 6, 17, 58
ECHOES = {4: (8, 0), 6: (128, 129)}
"""ICMP types of echo requests and echo replies (RFC 792, RFC 4443)."""
BUCKETS = 256


class Device(NamedTuple):
    """Where queueing disciplines, classes and filters hang: an interface."""

    name: str
    number: int

    def header(self, handle: int = 0, parent: int = 0, info: int = 0) -> bytes:
        """The fixed part of a message."""
        return TCMSG.pack(0, self.number, handle, parent, info)

    def said(self) -> str:
        """What `tc` calls it."""
        return f"dev {self.name}"


class Block(NamedTuple):
    """Where filters hang that several interfaces share."""

    number: int

    def said(self) -> str:
        """What `tc` calls it."""
        return f"block {self.number}"


class Match(NamedTuple):
    """A 32-bit word of the IP header that must have a value."""

    offset: int
    mask: int
    value: int


def classid(major: int, minor: int) -> int:
    """The number of a class from its two halves."""
    return major << 16 | minor


def shown(number: int) -> str:
    """A class as `tc` writes it."""
    minor = number & 0xFFFF
    return f"{number >> 16:x}:{minor:x}" if minor else f"{number >> 16:x}:"


def hooks(device: Device, incoming: int, outgoing: int) -> Request:
    """Have what comes in at an interface, and what goes out, meet filters of shared blocks."""
    body = device.header(INGRESS & 0xFFFF0000, INGRESS) + attribute(KIND, b"clsact\0")
    for kind, block in ((INGRESS_BLOCK, incoming), (EGRESS_BLOCK, outgoing)):
        body += attribute(kind, struct.pack("=I", block))
    text = f"tc qdisc add {device.said()} ingress_block {incoming} egress_block {outgoing} clsact"
    return Request(NEWQDISC, CREATE | EXCL, body, text)


def del_hooks(device: Device, kind: str = "clsact") -> Request:
    """Remove the hooks of an interface; the filters of a block go with its last user."""
    body = device.header(INGRESS & 0xFFFF0000, INGRESS) + attribute(KIND, kind.encode() + b"\0")
    return Request(DELQDISC, 0, body, f"tc qdisc del {device.said()} {kind}")


def htb_qdisc(
    device: Device, major: int, direct_packets: int, default: int = 0, *, parent: int = ROOT
) -> Request:
    """Return the request for a hierarchy of token buckets, at the root or in a class.

    Packets that no filter matches pass through the class `default`, or unshaped if it is 0.
    """
    glob = attribute(HTB_INIT, struct.pack("=IIIII", 3, 10, default, 0, 0))
    options = glob + attribute(HTB_DIRECT_QLEN, struct.pack("=I", direct_packets))
    body = device.header(classid(major, 0), parent)
    body += attribute(KIND, b"htb\0") + attribute(OPTIONS, options)
    where = "root" if parent == ROOT else f"parent {shown(parent)}"
    text = f"tc qdisc add {device.said()} {where} handle {major:x}: htb default {default:x}"
    return Request(NEWQDISC, CREATE | EXCL, body, f"{text} direct_qlen {direct_packets}")


def splitter(device: Device, longest_bytes: int) -> Request:
    """Return the request for a token bucket at the root that splits packets, without delay.

    The kernel's TBF splits a packet of merged segments that is longer than its bucket. It drops
    other packets that are longer, so `longest_bytes` must be at least the longest frame.
    """
    rate = SPLIT_BPS // 8
    spec = RATESPEC.pack(0, ETHERNET, 0, -1, 0, min(rate, LARGEST_RATE32))
    parameters = spec + bytes(RATESPEC.size)
    parameters += struct.pack("=III", SPLIT_LIMIT_BYTES, ticks(longest_bytes, rate), 0)
    options = attribute(TBF_PARMS, parameters)
    options += attribute(TBF_RATE64, struct.pack("=Q", rate))
    options += attribute(TBF_BURST, struct.pack("=I", longest_bytes))
    body = device.header(classid(SPLITTER, 0), ROOT)
    body += attribute(KIND, b"tbf\0") + attribute(OPTIONS, options)
    text = (
        f"tc qdisc add {device.said()} root handle {SPLITTER:x}: tbf rate {SPLIT_BPS}bit "
        f"burst {longest_bytes}b limit {SPLIT_LIMIT_BYTES}b"
    )
    return Request(NEWQDISC, CREATE | EXCL, body, text)


def del_qdisc(device: Device, parent: int = ROOT) -> Request:
    """Remove the queueing discipline of a class, or the one at the root."""
    where = "root" if parent == ROOT else f"parent {shown(parent)}"
    text = f"tc qdisc del {device.said()} {where}"
    return Request(DELQDISC, 0, device.header(0, parent), text)


def htb_class(
    device: Device,
    number: int,
    parent: int,
    *,
    rate_bps: int,
    ceil_bps: int,
    burst_bytes: int,
    cburst_bytes: int | None = None,
    quantum_bytes: int,
    change: bool = False,
) -> Request:
    """A class of a hierarchy of token buckets, or another rate for it.

    Rates are in whole bytes a second, as the kernel keeps them. [bit/s] The ceiling's bucket is as
    deep as the other one, if nothing else is said.
    """
    rate, ceil = max(rate_bps // 8, 1), max(ceil_bps // 8, 1)
    cburst_bytes = burst_bytes if cburst_bytes is None else cburst_bytes
    buckets = ticks(burst_bytes, rate), ticks(cburst_bytes, ceil)
    parameters = b"".join(
        (
            RATESPEC.pack(0, ETHERNET, 0, -1, 0, min(rate, LARGEST_RATE32)),
            RATESPEC.pack(0, ETHERNET, 0, -1, 0, min(ceil, LARGEST_RATE32)),
            struct.pack("=IIIII", *buckets, quantum_bytes, 0, 0),
        )
    )
    options = attribute(HTB_PARMS, parameters)
    for kind, value in ((HTB_RATE64, rate), (HTB_CEIL64, ceil)):
        if value >= LARGEST_RATE32:
            options += attribute(kind, struct.pack("=Q", value))
    body = device.header(number, parent)
    body += attribute(KIND, b"htb\0") + attribute(OPTIONS, options)
    text = (
        f"tc class {'change' if change else 'add'} {device.said()} parent {shown(parent)} "
        f"classid {shown(number)} htb rate {rate * 8}bit ceil {ceil * 8}bit "
        f"burst {burst_bytes}b cburst {cburst_bytes}b quantum {quantum_bytes}"
    )
    return Request(NEWCLASS, 0 if change else CREATE | EXCL, body, text)


def ticks(size: int, rate: int) -> int:
    """Time to send `size` [bytes] at `rate` [byte/s], in the kernel's ticks.

    It is in whole microseconds, by the arithmetic of `tc`, so that its commands leave the same.
    """
    whole_us = int(1e6 * (size / rate))
    return min(whole_us * 1000 // TICK_NS, LARGEST_BUCKET)


def del_class(device: Device, number: int) -> Request:
    """Remove a class that no filter points to."""
    text = f"tc class del {device.said()} classid {shown(number)}"
    return Request(DELCLASS, 0, device.header(number), text)


def u32_table(
    at: Device | Block, family: int, table: int, major: int = 0, *, order: int = 1
) -> Request:
    """Return the request for a hash table of 256 buckets, with the preference `order`."""
    options = attribute(U32_DIVISOR, struct.pack("=I", BUCKETS))
    text = f"handle {table:x}: u32 divisor {BUCKETS}"
    return u32(at, family, major, table << 20, options, text, order=order)


def link_table(
    at: Device | Block,
    family: int,
    table: int,
    *,
    source: bool,
    protocol: int | None,
    major: int = 0,
    order: int = 1,
    hash_mask: int = 0xFF,
) -> Request:
    """Look packets of this protocol up in a hash table, by the last byte of an address."""
    hashed = last_word(family, source)
    match = protocol_match(family, protocol)
    selector = selector_of([match], flags=0, hash_mask=hash_mask, hash_offset=hashed)
    options = attribute(U32_LINK, struct.pack("=I", table << 20)) + selector
    text = f"u32 {match_said(match)} hashkey mask 0x{hash_mask:08x} at {hashed} link {table:x}:"
    return u32(at, family, major, 0, options, text, order=order)


def protocol_match(family: int, protocol: int | None) -> Match:
    """The word of the header that holds the transport protocol; any, where that is None."""
    if protocol is None:
        return Match(0, 0, 0)
    return Match(8, 0x00FF0000, protocol << 16) if family == 4 else Match(4, 0xFF00, protocol << 8)


def last_word(family: int, source: bool) -> int:
    """Where in the header the last 32 bits of an address stand. [bytes]"""
    if family == 4:
        return 12 if source else 16
    return 20 if source else 36


def address_matches(address: Address | Subnet, source: bool) -> list[Match]:
    """Return the words of the header that hold an address or the prefix of a subnet."""
    subnet = ip_network(address)
    raw, mask = subnet.network_address.packed, subnet.netmask.packed
    start = last_word(address.version, source) - len(raw) + 4
    form = f"!{len(raw) // 4}I"
    words = zip(struct.unpack(form, raw), struct.unpack(form, mask), strict=True)
    every = [Match(start + 4 * k, bits, word) for k, (word, bits) in enumerate(words)]
    return [each for each in every if each.mask] or [Match(start, 0, 0)]


def bucket(address: Address | Subnet) -> int:
    """Return the bucket of an address, its last byte; all subnets are in the first bucket."""
    return address.packed[-1] if isinstance(address, IPv4Address | IPv6Address) else 0


def u32_entry(
    at: Device | Block,
    table: int,
    node: int,
    address: Address | Subnet,
    *,
    source: bool,
    redirect: Device | None = None,
    flow: int = 0,
    major: int = 0,
    order: int = 1,
) -> Request:
    """Return the request for a table entry that redirects or classifies packets of an address."""
    handle = entry_handle(table, node, address)
    options = selector_of(address_matches(address, source), flags=U32_TERMINAL)
    options += attribute(U32_HASH, struct.pack("=I", handle & 0xFFFFF000))
    where = f"{table:x}:{bucket(address):x}"
    way, name = ("src" if source else "dst"), "ip" if address.version == 4 else "ip6"
    text = f"handle {where}:{node:x} u32 ht {where}: match {name} {way} {ip_network(address)}"
    if redirect is None:
        options += attribute(U32_CLASSID, struct.pack("=I", flow))
        text += f" flowid {shown(flow)}"
    else:
        options += attribute(U32_ACT, attribute(1, mirred(redirect)))
        text += f" action mirred egress redirect dev {redirect.name}"
    return u32(at, address.version, major, handle, options, text, order=order)


def u32_passes(at: Block, family: int, protocol: int, *, order: int) -> Request:
    """Let packets of this transport protocol pass without later filters."""
    match = protocol_match(family, protocol)
    target = at.number & 0xFFFF0000
    options = selector_of([match], flags=U32_TERMINAL)
    options += attribute(U32_CLASSID, struct.pack("=I", target))
    text = f"u32 {match_said(match)} flowid {shown(target)}"
    return u32(at, family, 0, 0, options, text, order=order)


def u32_echo(
    device: Device, family: int, kind: int, flow: int, *, order: int, major: int
) -> Request:
    """Classify echo requests or replies whose headers have no options."""
    protocol = ICMP if family == 4 else ICMP6
    to_type = Match(20 if family == 4 else 40, 0xFF000000, kind << 24)
    matches = [protocol_match(family, protocol), to_type]
    options = selector_of(matches, flags=U32_TERMINAL)
    options += attribute(U32_CLASSID, struct.pack("=I", flow))
    text = " ".join(["u32", *map(match_said, matches), "flowid", shown(flow)])
    return u32(device, family, major, 0, options, text, order=order)


def u32_host_passes(at: Block, address: Address, *, source: bool, order: int) -> Request:
    """Let packets from an address, or to it, pass without later filters."""
    matches = address_matches(address, source)
    target = at.number & 0xFFFF0000
    options = selector_of(matches, flags=U32_TERMINAL)
    options += attribute(U32_CLASSID, struct.pack("=I", target))
    text = " ".join(["u32", *map(match_said, matches), "flowid", shown(target)])
    return u32(at, address.version, 0, 0, options, text, order=order)


def u32_redirect(at: Block, device: Device, *, order: int) -> Request:
    """Redirect all packets that no earlier filter has matched to an interface."""
    everything = Match(0, 0, 0)
    options = selector_of([everything], flags=U32_TERMINAL)
    options += attribute(U32_ACT, attribute(1, mirred(device)))
    text = f"u32 {match_said(everything)} action mirred egress redirect dev {device.name}"
    return u32(at, ANY, 0, 0, options, text, order=order)


def u32_group(device: Device, flow: int, *, order: int, major: int) -> Request:
    """Classify frames to a group address: multicast and broadcast."""
    match = Match(-16, 0x00000100, 0x00000100)
    options = selector_of([match], flags=U32_TERMINAL)
    options += attribute(U32_CLASSID, struct.pack("=I", flow))
    return u32(
        device, ANY, major, 0, options, f"u32 {match_said(match)} flowid {shown(flow)}", order=order
    )


# Hosts by MAC address. The header of a frame begins 14 bytes before that of its packet.


def mac_bytes(mac: str) -> bytes:
    """Return the bytes of a MAC address."""
    return bytes.fromhex(mac.replace(":", ""))


def mac_matches(mac: str, source: bool) -> list[Match]:
    """Return the words before the packet that hold a MAC address."""
    raw = mac_bytes(mac)
    if source:
        first, last = struct.unpack("!IH", raw)
        return [Match(-8, 0xFFFFFFFF, first), Match(-4, 0xFFFF0000, last << 16)]
    first, last = struct.unpack("!HI", raw)
    return [Match(-16, 0x0000FFFF, first), Match(-12, 0xFFFFFFFF, last)]


def link_macs(device: Device, table: int, *, source: bool, order: int, major: int) -> Request:
    """Look frames up in a hash table by the last byte of a MAC address."""
    mask, hashed = (0x00FF0000, -4) if source else (0x000000FF, -12)
    everything = Match(0, 0, 0)
    selector = selector_of([everything], flags=0, hash_mask=mask, hash_offset=hashed)
    options = attribute(U32_LINK, struct.pack("=I", table << 20)) + selector
    text = f"u32 {match_said(everything)} hashkey mask 0x{mask:08x} at {hashed} link {table:x}:"
    return u32(device, ANY, major, 0, options, text, order=order)


def mac_entry(
    device: Device,
    table: int,
    node: int,
    mac: str,
    *,
    source: bool,
    flow: int,
    order: int,
    major: int,
) -> Request:
    """Return the request for a hash table entry that classifies frames of a MAC address."""
    last = mac_bytes(mac)[-1]
    matches = mac_matches(mac, source)
    handle = table << 20 | last << 12 | node
    options = selector_of(matches, flags=U32_TERMINAL)
    options += attribute(U32_HASH, struct.pack("=I", handle & 0xFFFFF000))
    options += attribute(U32_CLASSID, struct.pack("=I", flow))
    where = f"{table:x}:{last:x}"
    words = " ".join(map(match_said, matches))
    text = f"handle {where}:{node:x} u32 ht {where}: {words} flowid {shown(flow)}"
    return u32(device, ANY, major, handle, options, text, order=order)


def del_mac(device: Device, table: int, node: int, mac: str, *, order: int, major: int) -> Request:
    """Remove a MAC address from a hash table."""
    last = mac_bytes(mac)[-1]
    handle = table << 20 | last << 12 | node
    text = f"handle {table:x}:{last:x}:{node:x} u32"
    return u32(device, ANY, major, handle, None, text, order=order)


def entry_handle(table: int, node: int, address: Address | Subnet) -> int:
    """Return the number of a host or a subnet in a hash table."""
    return table << 20 | bucket(address) << 12 | node


def del_filter(
    at: Device | Block,
    table: int,
    node: int,
    address: Address | Subnet,
    major: int = 0,
    *,
    order: int = 1,
) -> Request:
    """Remove a host or a subnet from a hash table."""
    handle = entry_handle(table, node, address)
    text = f"handle {table:x}:{bucket(address):x}:{node:x} u32"
    return u32(at, address.version, major, handle, None, text, order=order)


def mirred(device: Device) -> bytes:
    """The action that redirects to the egress of an interface."""
    parameters = struct.pack("=IIiiiiI", 0, 0, STOLEN, 0, 0, EGRESS_REDIRECT, device.number)
    options = attribute(ACT_OPTIONS | NESTED, attribute(MIRRED_PARMS, parameters))
    return attribute(ACT_KIND, b"mirred\0") + options


def selector_of(
    matches: Sequence[Match], *, flags: int, hash_mask: int = 0, hash_offset: int = 0
) -> bytes:
    """A u32 selector; masks and values stand in network order, offsets in the machine's."""
    data = struct.pack("=BBBxHHhh", flags, 0, len(matches), 0, 0, 0, hash_offset)
    data += struct.pack("!I", hash_mask)
    for match in matches:
        data += struct.pack("!II", match.mask, match.value & match.mask)
        data += struct.pack("=ii", match.offset, 0)
    return attribute(U32_SEL, data)


def match_said(match: Match) -> str:
    """A match as `tc` takes it."""
    return f"match u32 0x{match.value:08x} 0x{match.mask:08x} at {match.offset}"


def u32(
    at: Device | Block,
    family: int,
    major: int,
    handle: int,
    options: bytes | None,
    said: str,
    *,
    order: int,
) -> Request:
    """A message about a u32 filter; without options, its removal."""
    name, protocol = PROTOCOLS[family]
    info = order << 16 | struct.unpack("=H", struct.pack("!H", protocol))[0]
    if isinstance(at, Block):
        body = TCMSG.pack(0, BLOCK_INDEX, handle, at.number, info)
        where = at.said()
    else:
        body = at.header(handle, classid(major, 0), info)
        where = f"{at.said()} parent {major:x}:"
    body += attribute(KIND, b"u32\0")
    if options is None:
        said = f"tc filter del {where} protocol {name} pref {order} {said}"
        return Request(DELFILTER, 0, body, said)
    body += attribute(OPTIONS, options)
    said = f"tc filter add {where} protocol {name} pref {order} {said}"
    return Request(NEWFILTER, CREATE | EXCL, body, said)


def bpf_filter(
    device: Device, parent: int, program: Sequence[tuple[int, int, int, int]]
) -> Request:
    """A classic BPF program that returns the class of a packet."""
    everything = struct.unpack("=H", struct.pack("!H", 0x0003))[0]  # ETH_P_ALL
    operations = b"".join(struct.pack("=HBBI", *each) for each in program)
    options = attribute(BPF_OPS_LEN, struct.pack("=H", len(program)))
    options += attribute(BPF_OPS, operations)
    body = device.header(0, parent, 1 << 16 | everything)
    body += attribute(KIND, b"bpf\0") + attribute(OPTIONS, options)
    code = ",".join(" ".join(map(str, each)) for each in program)
    text = (
        f"tc filter add {device.said()} parent {shown(parent)} protocol all pref 1 "
        f"bpf bytecode '{len(program)},{code}'"
    )
    return Request(NEWFILTER, CREATE | EXCL, body, text)


def changing(request: Request) -> Request:
    """Set what is there already, a class or a queueing discipline, as the request that made it."""
    if request.kind == NEWCLASS:
        return request._replace(flags=0, said=request.said.replace(" add ", " change ", 1))
    text = request.said.replace(" add ", " replace ", 1)
    return request._replace(flags=CREATE | REPLACE, said=text)


def removal(kind: int, body: bytes, *, whole_list: bool = False) -> Request:
    """Remove what the kernel has described so: a queue, a class, a filter or all of its list."""
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


def address(text: str) -> Address:
    """An address from its text."""
    return ip_address(text)
