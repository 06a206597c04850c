"""Netlink messages to the kernel, checked without a kernel."""

import socket
import struct

from hypothesis import given
from hypothesis import strategies as st

from lasthop.enforce.gateway.flow_hash import MULTIPLIER, program
from lasthop.linux.netlink import attribute, attributes
from lasthop.linux.packets import source_and_length
from lasthop.linux.ping import checksum
from lasthop.linux.tc import ticks


@given(st.lists(st.tuples(st.integers(0, 0x3FFF), st.binary(max_size=40)), max_size=8))
def test_attributes_survive_their_encoding(given_: list[tuple[int, bytes]]) -> None:
    data = b"".join(attribute(kind, payload) for kind, payload in given_)
    assert len(data) % 4 == 0
    assert list(attributes(data)) == given_


def test_a_bucket_holds_its_bytes_at_the_rate_in_ticks_of_64_ns() -> None:
    # At 6 Mbit/s 1600 B take 2133 us. The time is in whole microseconds, which is the unit of tc.
    assert ticks(1600, 750_000) == 2_133_000 // 64
    assert ticks(1600, 12) == 133_333_333_000 // 64
    assert ticks(100_000, 12) == 0x7FFFFFFF


def flow_hash(source: bytes, destination: bytes, ports: tuple[int, int] | None, leaves: int) -> int:
    """Return the index of the leaf into which a packet is enqueued. This function is the reference
    for the BPF program.
    """
    key = 0
    for raw in (source, destination):
        for k in range(0, len(raw), 4):
            key ^= int.from_bytes(raw[k : k + 4], "big")
    if ports is not None:
        key ^= ports[0] ^ ports[1]
    return (key * MULTIPLIER & 0xFFFFFFFF) // (1 << 16) % leaves


@given(
    st.binary(min_size=4, max_size=4),
    st.binary(min_size=4, max_size=4),
    st.tuples(st.integers(0, 65535), st.integers(0, 65535)),
    st.integers(2, 4096),
)
def test_both_directions_of_a_flow_share_a_leaf(
    here: bytes, peer: bytes, ports: tuple[int, int], leaves: int
) -> None:
    leaf = flow_hash(here, peer, ports, leaves)
    assert 0 <= leaf < leaves
    assert leaf == flow_hash(peer, here, ports[::-1], leaves)


def test_flows_spread_over_the_leaves() -> None:
    here, peer = socket.inet_aton("10.0.0.1"), socket.inet_aton("192.0.2.1")
    counts = [0] * 64
    for port in range(6400):
        counts[flow_hash(here, peer, (40_000 + port, 443), 64)] += 1
    # A leaf has 100 packets on average. With random leaves, all 64 leaves have 100 +- 40.
    assert 60 < min(counts) <= max(counts) < 140


def test_every_jump_of_the_program_stays_inside() -> None:
    code = program(1 << 16, 256)
    for at, (operation, yes, no, operand) in enumerate(code):
        if operation & 7 == 5:
            ends = [operand] if operation == 0x05 else [yes, no]
            assert all(0 <= end < 256 and at + 1 + end < len(code) for end in ends)


def test_the_checksum_of_a_packet_with_its_checksum_is_zero() -> None:
    data = struct.pack("!BBHHH", 8, 0, 0, 77, 1) + bytes(range(48))
    assert checksum(data[:2] + struct.pack("!H", checksum(data)) + data[4:]) == 0


def test_source_and_length_of_packets_are_read() -> None:
    v4 = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 1028, 0, 0, 64, 17, 0, b"\n\0\0\1", b"\n\0\0\2")
    source, length = source_and_length(v4)
    assert (str(source), length) == ("10.0.0.1", 1028)
    v6 = struct.pack("!IHBB", 6 << 28, 1000, 17, 64) + bytes(15) + b"\1" + bytes(16)
    source, length = source_and_length(v6)
    assert (str(source), length) == ("::1", 1040)
    assert source_and_length(b"") == (None, 0)
