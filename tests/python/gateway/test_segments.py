"""Round-trip times of TCP segments, measured from packets at an interface."""

import socket
import struct
from ipaddress import ip_address

import pytest

from lasthop.linux.overhearing import MAX_INSTRUCTIONS, REFUSE, TAKE, program_for
from lasthop.linux.segments import (
    LARGEST_WINDOW,
    MAX_SEEN,
    TAKEN,
    RoundTrip,
    RoundTripProbe,
    before,
    parsed,
)

SERVER, STATION = "192.0.2.1", "10.0.0.7"
SERVER6, STATION6 = "2001:db8::1", "2001:db8:1::7"


def packet(
    source: str,
    destination: str,
    ports: tuple[int, int],
    seq: int,
    ack: int,
    data: int = 0,
    stamps: tuple[int, int] | None = None,
    flags: int = 0x10,
    fragment: int = 0,
) -> bytes:
    """Return the headers of a TCP packet."""
    options = b"" if stamps is None else b"\x01\x01\x08\x0a" + struct.pack("!II", *stamps)
    offset = (20 + len(options)) // 4 << 4
    tcp = struct.pack("!HHIIBBHHH", *ports, seq, ack, offset, flags, 512, 0, 0) + options
    length = len(tcp) + data
    ends = ip_address(source).packed + ip_address(destination).packed
    if len(ends) == 8:
        head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 1, fragment, 64, 6, 0)
    else:
        head = struct.pack("!IHBB", 6 << 28, length, socket.IPPROTO_TCP, 64)
    return head + ends + tcp


class Wire:
    """A flow from a server to a station, and an observation of this flow."""

    def __init__(self, station: str = STATION, server: str = SERVER, port: int = 80) -> None:
        self.station, self.server, self.port = station, server, port
        self.probe = RoundTripProbe()

    def down(
        self, at_s: float, seq: int, data: int = 1000, stamps: tuple[int, int] | None = None
    ) -> None:
        segment = parsed(packet(self.server, self.station, (self.port, 5000), seq, 1, data, stamps))
        assert segment is not None
        self.probe.leaves(segment, at_s)

    def up(self, at_s: float, ack: int, stamps: tuple[int, int] | None = None) -> RoundTrip | None:
        segment = parsed(packet(self.station, self.server, (5000, self.port), 1, ack, 0, stamps))
        assert segment is not None
        return self.probe.returns(segment, at_s)


@pytest.mark.parametrize("ends", [(SERVER, STATION), (SERVER6, STATION6)])
def test_headers_of_both_families_are_read(ends: tuple[str, str]) -> None:
    segment = parsed(packet(*ends, (80, 5000), 2**32 - 10, 77, 1000, (3, 4)))
    assert segment is not None
    assert (str(segment.source), str(segment.destination)) == ends
    assert (segment.source_port, segment.destination_port) == (80, 5000)
    assert (segment.start, segment.end, segment.ack) == (2**32 - 10, 990, 77)
    assert (segment.stamp, segment.echo) == (3, 4)


def test_packets_that_are_not_segments_are_ignored() -> None:
    segment = packet(SERVER, STATION, (80, 5000), 1, 1, 1000)
    udp = segment[:9] + b"\x11" + segment[10:]
    reset = packet(SERVER, STATION, (80, 5000), 1, 1, flags=0x04)
    fragment = packet(SERVER, STATION, (80, 5000), 1, 1, 1000, fragment=0x2000)
    for other in (b"", segment[:39], udp, reset, fragment, b"\x60" + segment[1:]):
        assert parsed(other) is None
    endless = segment[:32] + b"\xf0" + segment[33:] + b"\x08\x00" + bytes(38)
    assert parsed(endless) is not None  # This TCP option has no length.


def test_sequence_numbers_wrap_around() -> None:
    assert [before(1, 2), before(2, 1), before(2, 2)] == [True, False, False]
    assert [before(2**32 - 1, 5), before(5, 2**32 - 1)] == [True, False]


def test_the_first_ack_that_covers_a_segment_ends_its_round_trip() -> None:
    wire = Wire()
    wire.down(1.0, 100)
    assert wire.up(1.01, 100) is None  # This ACK acknowledges earlier data.
    assert wire.up(1.05, 1099) is None  # This ACK acknowledges a part of the segment.
    assert wire.up(1.25, 1100) == (1.0, 0.25)
    assert wire.probe.is_over


@pytest.mark.parametrize("first", [100, 2**32 - 1500])
def test_the_minimum_of_a_few_samples_contains_no_delayed_ack(first: int) -> None:
    wire = Wire()
    ends = [(first + 1000 * k) % 2**32 for k in range(TAKEN + 2)]
    for k in range(TAKEN + 1):
        wire.down(1.0 + k / 1000, ends[k])
    assert not wire.probe.is_open
    assert wire.up(1.043, ends[3]) is None
    sent_s, rtt_s = wire.up(1.05, ends[5]) or (0.0, 0.0)
    assert (sent_s, rtt_s) == pytest.approx((1.002, 0.041))


def test_a_retransmission_is_not_a_sample() -> None:
    wire = Wire()
    wire.down(1.0, 100)
    wire.down(1.3, 100)
    assert wire.probe.is_over
    assert wire.up(1.31, 1100) is None
    # No segment is recorded after the first `TAKEN` segments.
    # A retransmission still ends the observation.
    wire = Wire()
    for k in range(TAKEN):
        wire.down(1.0, 100 + 1000 * k)
    wire.down(1.3, 100)
    assert wire.probe.is_over


def test_timestamps_identify_the_segment_that_was_acknowledged() -> None:
    wire = Wire()
    wire.down(1.0, 100, stamps=(50, 1))
    wire.down(1.3, 100, stamps=(350, 1))
    assert wire.up(1.31, 1100, stamps=(9, 50)) is None  # The first ACK was late, but not lost.
    assert wire.up(1.35, 1100, stamps=(9, 350)) == pytest.approx((1.3, 0.05))


@pytest.mark.parametrize("ahead", [1, LARGEST_WINDOW + 1])
def test_an_ack_of_unsent_data_is_ignored(ahead: int) -> None:
    wire = Wire()
    wire.down(1.0, 100)
    if ahead > LARGEST_WINDOW:
        wire.probe.close()  # Segments sent from now on are unknown.
        assert wire.up(1.01, 1100 + ahead) is None
    else:
        assert wire.up(1.01, 1100 + ahead) is None
    assert wire.up(1.2, 1100) == (1.0, pytest.approx(0.2))


def test_other_flows_and_pure_acks_are_ignored() -> None:
    wire, other = Wire(), Wire(port=443)
    other.probe = wire.probe
    wire.down(0.9, 100, data=0)
    wire.down(1.0, 100)
    other.down(1.1, 7000)
    assert other.up(1.2, 8000) is None
    assert wire.up(1.3, 1100) == (1.0, pytest.approx(0.3))


def test_an_observation_has_an_end() -> None:
    probe = RoundTripProbe()
    probe.close()
    assert probe.is_over
    wire = Wire()
    wire.down(1.0, 100)
    wire.probe.close()
    assert not wire.probe.is_over
    assert not wire.probe.is_late(3.9)
    assert wire.probe.is_late(4.1)
    # An observation also ends after `MAX_SEEN` packets without data.
    wire = Wire()
    for _ in range(MAX_SEEN):
        wire.down(1.0, 100, data=0)
    assert wire.probe.is_over


def run(program: list[tuple[int, int, int, int]], data: bytes, kind: int) -> int:
    """Return how many bytes of a packet a program of classic BPF accepts."""
    a = x = at = 0
    while True:
        code, yes, no, k = program[at]
        at += 1
        match code:
            case 0x06:
                return k
            case 0x20 if k == 0xFFFFF004:
                a = kind
            case 0x20 if k == 0xFFFFF000:
                a = 0x0800 if data[0] >> 4 == 4 else 0x86DD
            case 0x20:
                a = int.from_bytes(data[k : k + 4])
            case 0x28:
                a = int.from_bytes(data[k : k + 2])
            case 0x30:
                a = data[k]
            case 0x40:
                a = int.from_bytes(data[x + k : x + k + 4])
            case 0x48:
                a = int.from_bytes(data[x + k : x + k + 2])
            case 0xB1:
                x = 4 * (data[k] & 0xF)
            case 0x01:
                x = k
            case 0x14:
                a = (a - k) & 0xFFFFFFFF
            case 0x05:
                at += k
            case 0x15:
                at += yes if a == k else no
            case 0x25:
                at += yes if a > k else no
            case 0x45:
                at += yes if a & k else no
            case _:
                raise AssertionError(code)


HERE, OUTGOING = 0, 4


@pytest.mark.parametrize("ends", [(SERVER, STATION), (SERVER6, STATION6)])
def test_the_kernel_is_asked_for_the_segments_of_an_observation(ends: tuple[str, str]) -> None:
    wire = Wire(ends[1], ends[0])
    others = {"x": RoundTripProbe()}
    addresses = {"s": (ip_address(ends[1]),), "x": (ip_address("10.0.0.8"),)}

    def takes(data: bytes, kind: int) -> bool:
        return run(program_for({**others, "s": wire.probe}, addresses), data, kind) > 0

    def down(seq: int, port: int = 80) -> bytes:
        return packet(*ends, (port, 5000), seq, 1, 1000)

    def up(ack: int, port: int = 80) -> bytes:
        return packet(*reversed(ends), (5000, port), 1, ack)

    # At first the filter accepts all TCP packets of the station in both directions.
    assert takes(down(100), OUTGOING)
    assert takes(up(100), HERE)
    assert not takes(down(100), HERE)
    assert not takes(up(100), OUTGOING)
    assert not takes(packet("192.0.2.9", "10.0.0.9", (80, 5000), 1, 1, 10), OUTGOING)
    for k in range(TAKEN):
        wire.down(1.0, 100 + 1000 * k)
    # Then the filter accepts ACKs of the first segment, and retransmissions.
    assert takes(up(1100), HERE)
    assert takes(up(5100), HERE)
    assert not takes(up(1099), HERE)
    assert not takes(up(1100, port=443), HERE)
    assert not takes(up(1100 + LARGEST_WINDOW + 1), HERE)
    assert takes(down(2100), OUTGOING)
    assert not takes(down(4100), OUTGOING)
    wire.up(1.1, 4100)
    assert wire.probe.is_over
    assert not takes(up(5100), HERE)


def test_a_program_is_at_most_as_long_as_the_kernel_accepts() -> None:
    addresses = [ip_address(f"2001:db8::{k:x}") for k in range(1, 9)]
    names = [str(k) for k in range(40)]
    program = program_for(
        {name: RoundTripProbe() for name in names}, dict.fromkeys(names, addresses)
    )
    assert len(program) <= MAX_INSTRUCTIONS
    assert program[-1] == REFUSE
    assert program.count(TAKE) > 100
