"""Stations and addresses at a port of a bridge, read from packet headers."""

import struct

from lasthop.linux.heard import ARP, IPV4, IPV6, PROGRAM, neighbour_of

MAC = bytes.fromhex("02005e100001")
ROUTER = bytes((10, 0, 0, 254))


def arp(sender: bytes) -> bytes:
    """Return an ARP request for the address of the router. The sender's MAC address is zero,
    because this field is not trusted.
    """
    return struct.pack("!HHBBH6s4s6s4s", 1, IPV4, 6, 4, 1, bytes(6), sender, bytes(6), ROUTER)


def ipv4(source: bytes) -> bytes:
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, source, b"\xc0\0\2\1")


def ipv6(source: str) -> bytes:
    from ipaddress import IPv6Address

    return struct.pack("!IHBB", 6 << 28, 20, 6, 64) + IPv6Address(source).packed + bytes(16)


def test_arp_and_packets_map_addresses_to_machines() -> None:
    host = neighbour_of(arp(bytes((10, 0, 0, 7))), ARP, MAC)
    assert host is not None
    assert (str(host.address), host.mac) == ("10.0.0.7", "02:00:5e:10:00:01")
    assert neighbour_of(ipv4(bytes((10, 0, 0, 7))), IPV4, MAC) == host
    other = neighbour_of(ipv6("2001:db8::7"), IPV6, MAC)
    assert other is not None
    assert str(other.address) == "2001:db8::7"


def test_unspecified_addresses_are_ignored() -> None:
    nobody = [bytes(4), b"\x7f\0\0\1", b"\xe0\0\0\1", b"\xa9\xfe\1\1"]
    assert [neighbour_of(arp(each), ARP, MAC) for each in nobody] == [None] * 4
    assert neighbour_of(ipv6("fe80::1"), IPV6, MAC) is None
    assert neighbour_of(arp(b"\x0a\0\0\7"), ARP, b"\x03" + MAC[1:]) is None
    assert neighbour_of(arp(b"\x0a\0\0\7")[:17], ARP, MAC) is None
    assert neighbour_of(b"", IPV4, MAC) is None


def test_every_jump_of_the_filter_ends_at_an_instruction() -> None:
    for at, (code, yes, no, operand) in enumerate(PROGRAM):
        jumps = [operand] if code == 0x05 else [yes, no] if code & 7 == 5 else []
        assert all(at + 1 + jump < len(PROGRAM) for jump in jumps)


def accepts(kind: int, packet: bytes, *, outgoing: bool = False, drawn: bool = False) -> bool:
    """Return whether the BPF filter accepts a packet. The test interprets the few opcodes of the
    filter.
    """
    ancillary = {
        0xFFFFF004: 4 if outgoing else 0,
        0xFFFFF000: kind,
        0xFFFFF038: 64 if drawn else 63,
    }
    at, value = 0, 0
    while True:
        code, yes, no, operand = PROGRAM[at]
        at += 1
        match code:
            case 0x20:
                value = ancillary[operand]
            case 0x30:
                value = packet[operand]
            case 0x54:
                value &= operand
            case 0x15:
                at += yes if value == operand else no
            case 0x06:
                return operand > 0


def test_all_arp_and_ndp_packets_and_a_sample_of_the_others_are_captured() -> None:
    assert accepts(ARP, arp(ROUTER))
    assert not accepts(ARP, arp(ROUTER), outgoing=True)
    tcp, ndp = ipv6("2001:db8::7"), bytearray(ipv6("2001:db8::7") + bytes(8))
    ndp[6] = 58
    for kind, heard in ((135, True), (136, True), (128, False)):
        ndp[40] = kind
        assert accepts(IPV6, bytes(ndp)) == heard
        assert accepts(IPV6, bytes(ndp), drawn=True)
    for kind, packet in ((IPV4, ipv4(ROUTER)), (IPV6, tcp)):
        assert not accepts(kind, packet)
        assert accepts(kind, packet, drawn=True)
        assert not accepts(kind, packet, outgoing=True, drawn=True)
    assert not accepts(0x88CC, bytes(40), drawn=True)
