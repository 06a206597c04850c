"""Radiotap, 802.11, IP and TCP headers, byte by byte."""

import struct

import pytest

from lasthop.importing import frames
from lasthop.importing.segments import of_ethernet, of_llc, segment

AP, STA, SERVER = (bytes([2, 0, 0, 0, 0, n]) for n in (1, 2, 3))


def radiotap(present: int, fields: bytes, more: bytes = b"") -> bytes:
    length = 8 + len(more) + len(fields)
    return struct.pack("<BBHI", 0, 0, length, present) + more + fields


def test_rate_channel_and_signal_of_radiotap_are_read() -> None:
    present = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5
    header = frames.radiotap(radiotap(present, struct.pack("<BBHHb", 0x10, 22, 2412, 0, -55)))
    assert header is not None
    assert (header.sent.rate_bps, header.mhz, header.signal_dbm, header.fcs) == (
        11e6,
        2412,
        -55,
        True,
    )


def test_fields_of_radiotap_are_aligned_after_all_presence_words() -> None:
    """The field TSFT is aligned to eight bytes from the start of the header. With two presence
    words, the header before TSFT has twelve bytes.
    """
    present = 1 << 0 | 1 << 2 | 1 << 31
    fields = bytes(4) + struct.pack("<QB", 1, 108)
    header = frames.radiotap(radiotap(present, fields, struct.pack("<I", 0)))
    assert header is not None
    assert header.sent.rate_bps == 54e6


def vht(bandwidth: int, mcs_streams: int, flags: int = 0, known: int = 0x44) -> bytes:
    return struct.pack("<HBB4sBBH", known, flags, bandwidth, bytes([mcs_streams, 0, 0, 0]), 0, 0, 0)


def he(
    *, mcs: int, width: int, streams: int, gi: int = 0, dcm: int = 0, first: int = 0x20
) -> bytes:
    third = mcs << 8 | dcm << 12
    return struct.pack("<6H", first, 2, third, 0, width | gi << 4, streams)


@pytest.mark.parametrize(
    ("bit", "field", "phy", "rate"),
    [
        (19, bytes([0x07, 0, 7]), "802.11n", 65e6),
        (19, bytes([0x07, 1, 15]), "802.11n", 270e6),
        (19, bytes([0x07, 5, 15]), "802.11n", 300e6),
        (19, bytes([0x07, 2, 7]), "802.11n", 65e6),
        (21, vht(4, 0x92), "802.11ac", 780e6),
        (21, vht(4, 0x92, flags=4), "802.11ac", 866.67e6),
        (21, vht(11, 0x91), "802.11ac", 780e6),
        (21, vht(0, 0x81), "802.11ac", 78e6),
        (21, vht(4, 0x81, known=0), "802.11ac", 78e6),
        (23, he(mcs=11, width=2, streams=2), "802.11ax", 1200.98e6),
        (23, he(mcs=9, width=3, streams=2, gi=1), "802.11ax", 1814.8e6),
        (23, he(mcs=4, width=0, streams=1, dcm=1), "802.11ax", 25.8e6),
    ],
)
def test_rates_of_later_standards_follow_from_their_modulation(
    bit: int, field: bytes, phy: str, rate: float
) -> None:
    header = frames.radiotap(radiotap(1 << bit, field))
    assert header is not None
    assert header.sent.modulation is not None
    assert header.sent.modulation.phy == phy
    assert header.sent.rate_bps == pytest.approx(rate, rel=1e-3)


def test_an_unknown_mcs_has_no_rate() -> None:
    header = frames.radiotap(radiotap(1 << 23, he(mcs=0, width=2, streams=1, first=0)))
    assert header is not None
    assert header.sent.rate_bps == 0


@pytest.mark.parametrize(
    ("field", "peculiar", "rate"),
    [
        (he(mcs=1, width=2, streams=1, dcm=1), ("DCM",), 36e6),
        (he(mcs=7, width=2, streams=1, first=0x22), ("OFDMA",), 360.3e6),
        (he(mcs=7, width=6, streams=1), ("OFDMA",), 37.5e6),
    ],
)
def test_unsupported_features_are_named_with_their_rate(
    field: bytes, peculiar: tuple[str, ...], rate: float
) -> None:
    header = frames.radiotap(radiotap(1 << 23, field))
    assert header is not None
    assert header.sent.peculiar == peculiar
    assert header.sent.rate_bps == pytest.approx(rate, rel=2e-3)


def test_packets_of_an_amsdu_are_separate() -> None:
    llc = b"\xaa\xaa\x03\0\0\0\x08\0"
    first, second = llc + b"one", llc + b"second"
    heads = [STA + SERVER + struct.pack(">H", len(each)) for each in (first, second)]
    body = b"\x80\0" + heads[0] + first + bytes(-(14 + len(first)) % 4) + heads[1] + second
    seen = frames.frame(data(frames.TO_DS, AP, STA, SERVER, body, 0x88), False)
    assert seen is not None
    assert list(frames.packets_of(seen)) == [first, second]
    plain = frames.frame(data(frames.TO_DS, AP, STA, SERVER, b"\0\0" + first, 0x88), False)
    assert plain is not None
    assert list(frames.packets_of(plain)) == [first]


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\0\x08", struct.pack("<BBHI", 0, 0, 200, 4), struct.pack("<BBHI", 1, 0, 8, 0)],
)
def test_a_damaged_radiotap_header_is_ignored(content: bytes) -> None:
    assert frames.radiotap(content) is None


def test_a_field_that_is_cut_off_is_ignored() -> None:
    header = frames.radiotap(radiotap(1 << 1 | 1 << 3, b"\0"))
    assert header is not None
    assert header.mhz == 0


def data(
    flags: int, first: bytes, second: bytes, third: bytes, rest: bytes, kind: int = 8
) -> bytes:
    return bytes([kind, flags, 0, 0]) + first + second + third + bytes([0x10, 0]) + rest


def test_an_uplink_data_frame_is_read_with_its_payload() -> None:
    llc = b"\xaa\xaa\x03\0\0\0\x08\0" + b"packet"
    seen = frames.frame(data(frames.TO_DS, AP, STA, SERVER, llc + b"fcs!"), True)
    assert seen is not None
    assert (seen.receiver, seen.transmitter, seen.to_ds) == (AP, STA, True)
    assert seen.payload == llc
    assert of_llc(seen.payload) == b"packet"


def test_a_qos_frame_has_two_bytes_more_and_an_encrypted_one_no_payload() -> None:
    seen = frames.frame(
        data(frames.TO_DS | frames.PROTECTED, AP, STA, SERVER, bytes(50), 0x88), False
    )
    assert seen is not None
    assert (seen.qos, seen.protected, seen.payload, seen.body_bytes) == (True, True, b"", 48)


def test_an_ack_has_only_a_receiver() -> None:
    seen = frames.frame(bytes([0xD4, 0, 0, 0]) + STA + b"fcs!", True)
    assert seen is not None
    assert (seen.kind, seen.subtype, seen.receiver, seen.transmitter) == (1, frames.ACK, STA, b"")


@pytest.mark.parametrize(
    "content", [b"", bytes(9), b"\xff" * 40, data(0, AP, STA, SERVER, b"")[:20]]
)
def test_damaged_frames_are_ignored(content: bytes) -> None:
    assert frames.frame(content, True) is None


def tcp(options: bytes = b"", payload: bytes = b"", flags: int = 16) -> bytes:
    header = 20 + len(options)
    segment_bytes = struct.pack(">HHIIBBHHH", 1000, 80, 5, 6, header // 4 << 4, flags, 500, 0, 0)
    body = segment_bytes + options + payload
    ip = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, 64, 6, 0, b"\x0a\0\0\1", b"\x0a\0\0\2"
    )
    return ip + body


def test_a_syn_has_mss_window_scale_and_time_stamps() -> None:
    options = (
        b"\x02\x04"
        + struct.pack(">H", 1460)
        + b"\x01\x03\x03\x07\x01\x01\x08\x0a"
        + struct.pack(">II", 77, 88)
    )
    seen = segment(tcp(options, flags=2))
    assert seen is not None
    assert (seen.mss_bytes, seen.scale, seen.stamp, seen.echo) == (1460, 7, 77, 88)


def test_padding_of_short_ethernet_frames_is_not_payload() -> None:
    seen = segment(of_ethernet(bytes(12) + b"\x08\0" + tcp() + bytes(20)))
    assert seen is not None
    assert seen.payload_bytes == 0


def test_a_packet_captured_without_its_payload_has_its_full_length() -> None:
    seen = segment(tcp(payload=bytes(1000))[:60])
    assert seen is not None
    assert seen.payload_bytes == 1000


def test_vlan_tags_and_ipv6_headers_are_skipped() -> None:
    body = tcp()[20:]
    ipv6 = struct.pack(">IHBB16s16s", 6 << 28, 8 + len(body), 0, 64, bytes(16), bytes(15) + b"\1")
    packet = ipv6 + bytes([6, 0]) + bytes(6) + body
    seen = segment(of_ethernet(bytes(12) + b"\x81\0\0\1\x86\xdd" + packet))
    assert seen is not None
    assert (seen.sport, seen.dport, seen.tcp) == (1000, 80, True)


@pytest.mark.parametrize(
    "options", [b"\x02\x00\x01\x01", b"\x08\xff\x00\x00", b"\x05\x01\x00\x00", b"\xfe\xfe\xfe\xfe"]
)
def test_damaged_options_end_the_options(options: bytes) -> None:
    seen = segment(tcp(options))
    assert seen is not None
    assert seen.stamp == -1


@pytest.mark.parametrize("cut", range(0, 40, 5))
def test_packets_cut_within_their_headers_are_ignored(cut: int) -> None:
    assert segment(tcp()[:cut]) is None
