"""Access point, stations and warnings about omissions in an imported capture."""

import struct
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.errors import UserError
from lasthop.importing.cells import Choices, network
from lasthop.importing.scenario import as_toml

RADIOTAP, ETHERNET = 127, 1


def capture(path: Path, packets: list[tuple[float, bytes]], link: int = RADIOTAP) -> Path:
    content = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
    for at_s, packet in packets:
        seconds, rest = divmod(at_s, 1)
        head = struct.pack("<IIII", int(seconds), int(rest * 1e6), len(packet), len(packet))
        content += head + packet
    path.write_bytes(content)
    return path


def mac_address(kind: int, number: int) -> bytes:
    return bytes([2, kind, 0, 0]) + struct.pack(">H", number)


def frame(up: bool, ap: int, station: int, *, rate: int = 22, length: int = 1400) -> bytes:
    """Return an encrypted data frame."""
    radiotap = struct.pack("<BBHIB", 0, 0, 9, 1 << 2, rate)
    ends = (
        (mac_address(0, ap), mac_address(1, station))
        if up
        else (mac_address(1, station), mac_address(0, ap))
    )
    head = bytes([8, 0x41 if up else 0x42, 0, 0]) + b"".join(ends) + mac_address(2, 1) + bytes(2)
    return radiotap + head + bytes(length)


def tcp(source: bytes, sink: bytes, sport: int, dport: int, seq: int, length: int) -> bytes:
    """Return an Ethernet frame with the headers of a TCP segment."""
    ip = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, 40 + length, 0, 0, 64, 6, 0, source, sink
    ) + struct.pack(">HHIIBBHHH", sport, dport, seq, 1, 5 << 4, 16, 500, 0, 0)
    return bytes(12) + b"\x08\0" + ip


def test_the_access_point_with_most_bytes_is_imported_and_others_are_reported(
    tmp_path: Path,
) -> None:
    packets = [(0.01 * k, frame(False, 1, k % 3)) for k in range(300)]
    packets += [(5 + 0.01 * k, frame(False, 2, 7)) for k in range(100)]
    path = capture(tmp_path / "x", packets)
    imported = network(path, Choices())
    assert len(imported.stations) == 3
    assert any(
        note.warns and "another access point is heard" in note.text for note in imported.notes
    )
    assert len(network(path, Choices(access_point="02:00:00:00:00:02")).stations) == 1


def test_encrypted_stations_have_the_direction_of_their_bytes(tmp_path: Path) -> None:
    packets = [(0.01 * k, frame(True, 1, 1)) for k in range(200)]
    packets += [(0.01 * k, frame(False, 1, 1, length=60)) for k in range(100)]
    packets += [(0.01 * k, frame(False, 1, 2)) for k in range(200)]
    first, second = network(capture(tmp_path / "x", packets), Choices()).stations
    assert first.upload is not None
    assert not first.upload.measured
    assert first.download is None
    assert (second.upload, second.download is not None) == (None, True)


def test_the_rate_of_most_bytes_is_used_and_others_are_reported(tmp_path: Path) -> None:
    packets = [(0.01 * k, frame(False, 1, 1, rate=22 if k % 3 else 4)) for k in range(300)]
    [station] = network(capture(tmp_path / "x", packets), Choices()).stations
    assert station.down_bps == 11e6
    assert "down: 11 Mbps for 67% of the bytes, the rest at another" in station.notes


def test_more_stations_than_are_followed_are_counted(tmp_path: Path) -> None:
    packets = [(0.01 * k, frame(False, 1, k)) for k in range(1100)]
    imported = network(capture(tmp_path / "x", packets), Choices())
    assert len(imported.stations) == 1000
    assert any("100 packets of others are left out" in note.text for note in imported.notes)
    assert len(lh.check(as_toml(imported)).typed.flows) == 1


def test_group_addresses_and_frames_between_stations_are_not_stations(tmp_path: Path) -> None:
    direct = frame(True, 1, 1)
    direct = (
        direct[:10] + bytes([0x40]) + direct[11:]
    )  # This frame is neither to nor from the access point.
    broadcast = frame(False, 1, 1)
    broadcast = broadcast[:13] + b"\xff" * 6 + broadcast[19:]
    path = capture(tmp_path / "x", [(0.0, direct), (0.1, broadcast)])
    with pytest.raises(UserError, match="frames without data"):
        network(path, Choices())


LAPTOP, SERVER = b"\xc0\xa8\x01\x05", b"\x08\x08\x08\x08"


def wired_packets(count: int) -> list[tuple[float, bytes]]:
    packets = []
    for number in range(count):
        at_s = 0.02 * number
        packets.append((at_s, tcp(SERVER, LAPTOP, 443, 50000, 1 + 1460 * number, 1460)))
        packets.append((at_s + 0.001, tcp(LAPTOP, SERVER, 50000, 443, 1, 0)))
    return packets


def test_private_addresses_are_the_stations_of_a_wire(tmp_path: Path) -> None:
    path = capture(tmp_path / "x", wired_packets(60), ETHERNET)
    imported = network(path, Choices())
    [station] = imported.stations
    assert station.address == "192.168.1.5"
    assert station.download is not None
    assert station.download.count == 1
    assert imported.phy_note == "assumed"
    imported_with_lan = network(path, Choices(lan="8.8.0.0/16"))
    assert [each.address for each in imported_with_lan.stations] == ["8.8.8.8"]
    assert imported_with_lan.stations[0].upload is not None


def test_the_number_of_connections_is_the_largest_simultaneous_number(tmp_path: Path) -> None:
    """Two connections are simultaneous, and a third connection begins later."""
    packets = []
    for begin_s, port in ((0.0, 1), (0.5, 2), (20.0, 3)):
        for number in range(40):
            segment = tcp(SERVER, LAPTOP, 443, 50000 + port, 1 + 1460 * number, 1460)
            packets.append((begin_s + 0.05 * number, segment))
    packets.sort(key=lambda packet: packet[0])
    [station] = network(capture(tmp_path / "x", packets, ETHERNET), Choices()).stations
    assert station.download is not None
    assert station.download.count == 2
    assert "3 one after another" in station.download.note
    assert len(station.flows) == 3
