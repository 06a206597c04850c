"""Captures in all formats: byte orders, units of time, interfaces, and damaged files."""

import gzip
import struct
from pathlib import Path

import pytest

from lasthop.errors import TooCostlyError, UserError
from lasthop.importing.packets import Packet, packets
from lasthop.progress.cost_limits import allowing


def pcap(order: str, magic: int, records: list[tuple[int, int, bytes]], link: int = 1) -> bytes:
    head = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    body = [
        struct.pack(f"{order}IIII", seconds, fraction, len(content), len(content)) + content
        for seconds, fraction, content in records
    ]
    return head + b"".join(body)


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + length + body + length


def section(order: str) -> bytes:
    return block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(order: str, link: int, tsresol: int | None = None) -> bytes:
    options = b"" if tsresol is None else struct.pack(f"{order}HHB3xHH", 9, 1, tsresol, 0, 0)
    return block(order, 1, struct.pack(f"{order}HHI", link, 0, 0) + options)


def enhanced(order: str, number: int, ticks: int, content: bytes) -> bytes:
    head = struct.pack(
        f"{order}IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(content), len(content)
    )
    return block(order, 6, head + content + bytes(-len(content) % 4))


def read(path: Path, content: bytes) -> list[Packet]:
    path.write_bytes(content)
    return list(packets(path))


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(("magic", "ticks"), [(0xA1B2C3D4, 10**6), (0xA1B23C4D, 10**9)])
def test_pcap_is_read_in_both_byte_orders_and_units(
    order: str, magic: int, ticks: int, tmp_path: Path
) -> None:
    content = pcap(order, magic, [(10, ticks // 2, b"abc"), (11, 0, b"")])
    assert read(tmp_path / "x", content) == [Packet(1, 10.5, b"abc"), Packet(1, 11.0, b"")]


@pytest.mark.parametrize("order", "<>")
def test_each_interface_of_pcapng_has_its_link_and_clock(order: str, tmp_path: Path) -> None:
    content = (
        section(order)
        + interface(order, 1)
        + interface(order, 127, 9)
        + enhanced(order, 1, 2_500_000_000, b"radio")
        + enhanced(order, 0, 2_500_000, b"wire")
    )
    expected = [Packet(127, 2.5, b"radio"), Packet(1, 2.5, b"wire")]
    assert read(tmp_path / "x", content) == expected


def test_a_second_section_may_have_another_byte_order(tmp_path: Path) -> None:
    content = b"".join(
        section(order) + interface(order, 1) + enhanced(order, 0, 1_000_000, b"x") for order in "<>"
    )
    assert read(tmp_path / "x", content) == [Packet(1, 1.0, b"x")] * 2


def test_unknown_blocks_are_skipped(tmp_path: Path) -> None:
    content = (
        section("<") + block("<", 0xBAD, b"1234") + interface("<", 1) + enhanced("<", 0, 0, b"x")
    )
    assert read(tmp_path / "x", content) == [Packet(1, 0.0, b"x")]


def test_a_capture_may_be_compressed(tmp_path: Path) -> None:
    content = gzip.compress(pcap("<", 0xA1B2C3D4, [(1, 0, b"x")]))
    assert read(tmp_path / "x", content) == [Packet(1, 1.0, b"x")]


@pytest.mark.parametrize("missing", [1, 5, 20])
def test_a_truncated_capture_is_read_up_to_its_end(missing: int, tmp_path: Path) -> None:
    """Complete packets are read from a truncated capture, for example after the disk was full."""
    content = pcap("<", 0xA1B2C3D4, [(1, 0, b"whole"), (2, 0, b"cut" * 10)])
    assert read(tmp_path / "x", content[:-missing]) == [Packet(1, 1.0, b"whole")]
    content = section("<") + interface("<", 1) + enhanced("<", 0, 0, b"x") * 2
    assert read(tmp_path / "x", content[:-missing]) == [Packet(1, 0.0, b"x")]


TEN_GB = 10 * 10**9 % (1 << 32)

DAMAGED = {
    "text": (b"what is this\n", "is not a capture"),
    "empty": (b"", "is empty"),
    "one byte": (b"\x0a", "is not a capture"),
    "a header alone": (pcap("<", 0xA1B2C3D4, [])[:10], "ends in the header"),
    "a packet of gigabytes": (
        pcap("<", 0xA1B2C3D4, []) + struct.pack("<IIII", 0, 0, TEN_GB, TEN_GB),
        "packet 1 claims 1410065408 bytes",
    ),
    "a block of gigabytes": (
        section("<") + struct.pack("<II", 6, TEN_GB & ~3),
        "block 2 claims 1410065408 bytes",
    ),
    "a block of no length": (section("<") + struct.pack("<II", 1, 0), "block 2 claims 0"),
    "a section without byte order": (struct.pack("<III", 0x0A0D0D0A, 28, 0), "no byte order"),
    "an interface that is not described": (
        section("<") + interface("<", 1) + enhanced("<", 7, 0, b""),
        "interface 7, which is not described",
    ),
    "a packet longer than its block": (
        section("<") + interface("<", 1) + block("<", 6, struct.pack("<IIIII", 0, 0, 0, 99, 99)),
        "longer than its block",
    ),
    "half a compressed file": (
        gzip.compress(pcap("<", 0xA1B2C3D4, [(1, 0, bytes(range(256)) * 9)]))[:-20],
        "compressed, and damaged",
    ),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damage_is_reported_in_one_line_with_the_file(what: str, tmp_path: Path) -> None:
    content, message = DAMAGED[what]
    with pytest.raises(UserError, match=message) as error:
        read(tmp_path / "odd.pcap", content)
    assert str(error.value).startswith(f"{tmp_path / 'odd.pcap'}: ")
    assert "\n" not in str(error.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        list(packets(tmp_path / "none"))
    with pytest.raises(UserError, match="is a directory, not a file"):
        list(packets(tmp_path))


def test_a_capture_that_would_take_hours_is_refused_with_the_estimate(tmp_path: Path) -> None:
    path = tmp_path / "long.pcap"
    path.write_bytes(pcap("<", 0xA1B2C3D4, [(1, 0, b"")] * 12_000))
    with allowing(max_time_s=0.2), pytest.raises(TooCostlyError, match="would take up to"):
        list(packets(path))


def test_progress_goes_from_start_to_end(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap("<", 0xA1B2C3D4, [(1, 0, b"")] * 7000))
    reports: list[tuple[float, float]] = []
    list(packets(path, lambda done, total: reports.append((done, total))))
    assert [total for _, total in reports] == [path.stat().st_size] * 3
    assert reports == sorted(reports)
