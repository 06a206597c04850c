"""IP packets in the frames of a link: addresses, ports, and fields of the TCP header.

References: RFC 791, RFC 8200, RFC 9293, RFC 7323 (time stamps, window scale), RFC 768.
"""

import struct
from typing import NamedTuple

__all__ = ["ETHERNET", "IP_LINKS", "Segment", "ip_packet", "of_ethernet", "segment"]

ETHERNET, NULL, RAW, COOKED, COOKED_2 = 1, 0, 101, 113, 276
IP_LINKS = {RAW, 12, 14, 228, 229}
"""Link types of captures whose packets begin with the IP header."""
WIRED_LINKS = {ETHERNET, NULL, COOKED, COOKED_2, *IP_LINKS}
"""Supported link types of wired captures."""

IPV4, IPV6, VLAN, QINQ, PPPOE = 0x0800, 0x86DD, 0x8100, 0x88A8, 0x8864
TCP, UDP, FRAGMENT = 6, 17, 44
PASSED = {0, 43, 60}
"""IPv6 extension headers that are skipped: hop-by-hop, routing, destination options."""

FIN, SYN, RST, ACK, CWR = 1, 2, 4, 16, 128
END_OF_OPTIONS, NO_OPERATION, MAX_SEGMENT, SCALE, TIME_STAMPS = 0, 1, 2, 3, 8


class Segment(NamedTuple):
    """A TCP segment or UDP datagram.

    Attributes
    ----------
    source, sink : bytes
        Source and destination IP addresses.
    sport, dport : int
        Source and destination ports.
    tcp : bool
        Whether the segment is TCP; if False, it is UDP.
    flags, seq, ack, window : int
        Fields of the TCP header; 0 for UDP.
    payload_bytes : int
        Length of the payload according to the headers. [bytes]
    mss_bytes, scale : int
        MSS and window scale of a SYN; 0 and -1 if absent.
    stamp, echo : int
        TCP time stamp and its echo; -1 if absent.
    """

    source: bytes
    sink: bytes
    sport: int
    dport: int
    tcp: bool
    flags: int
    seq: int
    ack: int
    window: int
    payload_bytes: int
    mss_bytes: int = 0
    scale: int = -1
    stamp: int = -1
    echo: int = -1


def of_ethernet(content: bytes) -> bytes:
    """Return the IP packet in an Ethernet frame, after VLAN tags and PPPoE; empty if the frame has
    none."""
    return _by_type(content, 12)


def _by_type(content: bytes, at: int) -> bytes:
    for _ in range(4):
        kind = int.from_bytes(content[at : at + 2], "big")
        if kind in (VLAN, QINQ):
            at += 4
        elif kind == PPPOE:
            return content[at + 10 :]
        else:
            return content[at + 2 :] if kind in (IPV4, IPV6) else b""
    return b""


def ip_packet(link: int, content: bytes) -> bytes:
    """Return the IP packet in a frame of a wired capture; empty if the frame has none."""
    if link == ETHERNET:
        return of_ethernet(content)
    if link in IP_LINKS:
        return content
    if link == COOKED:
        return _by_type(content, 14)
    if link == COOKED_2:
        return content[20:] if int.from_bytes(content[:2], "big") in (IPV4, IPV6) else b""
    return content[4:] if link == NULL else b""


def of_llc(payload: bytes) -> bytes:
    """Return the IP packet after the LLC and SNAP headers of an 802.11 frame; empty if there is
    none.
    """
    return _by_type(payload, 6) if payload.startswith(b"\xaa\xaa\x03") else b""


def segment(packet: bytes, missing_bytes: int = 0) -> Segment | None:
    """Return the TCP segment or UDP datagram in an IP packet; None if there is none, or if its
    header is incomplete.

    Parameters
    ----------
    packet : bytes
        Captured bytes of the packet.
    missing_bytes : int
        Number of bytes at the end of the packet that were not captured. [bytes]
    """
    if len(packet) < 20:
        return None
    version = packet[0] >> 4
    if version == 4:
        start, total = 4 * (packet[0] & 0xF), int.from_bytes(packet[2:4], "big")
        later = int.from_bytes(packet[6:8], "big") & 0x1FFF
        if start < 20 or later:
            return None
        protocol, source, sink = packet[9], packet[12:16], packet[16:20]
        # With segmentation offload, the length field is 0.
        total = total or len(packet) + missing_bytes
    elif version == 6 and len(packet) >= 40:
        protocol, start = packet[6], 40
        total = 40 + (int.from_bytes(packet[4:6], "big") or len(packet) + missing_bytes - 40)
        source, sink = packet[8:24], packet[24:40]
        while protocol in PASSED and len(packet) >= start + 8:
            protocol, start = packet[start], start + 8 * (1 + packet[start + 1])
        if protocol == FRAGMENT:
            return None
    else:
        return None
    rest = packet[start:]
    if protocol == UDP and len(rest) >= 8:
        sport, dport, length = struct.unpack_from(">HHH", rest)
        return Segment(source, sink, sport, dport, False, 0, 0, 0, 0, max(length - 8, 0))
    if protocol == TCP and len(rest) >= 20:
        return _of_tcp(source, sink, rest, total - start)
    return None


def _of_tcp(source: bytes, sink: bytes, rest: bytes, length: int) -> Segment | None:
    sport, dport, seq, ack, offset, flags, window = struct.unpack_from(">HHIIBBH", rest)
    header = 4 * (offset >> 4)
    if header < 20 or header > length:
        return None
    known = Segment(
        source, sink, sport, dport, True, flags, seq, ack, window, max(length - header, 0)
    )
    return _with_options(known, rest[20:header]) if header > 20 else known


def _with_options(known: Segment, options: bytes) -> Segment:
    at = 0
    while at < len(options) and options[at] != END_OF_OPTIONS:
        if options[at] == NO_OPERATION:
            at += 1
            continue
        size = options[at + 1] if at + 1 < len(options) else 0
        if size < 2:
            break
        value = options[at + 2 : at + size]
        if options[at] == MAX_SEGMENT and len(value) == 2:
            known = known._replace(mss_bytes=int.from_bytes(value, "big"))
        elif options[at] == SCALE and len(value) == 1:
            known = known._replace(scale=min(value[0], 14))
        elif options[at] == TIME_STAMPS and len(value) == 8:
            stamp, echo = struct.unpack(">II", value)
            known = known._replace(stamp=stamp, echo=echo)
        at += size
    return known
