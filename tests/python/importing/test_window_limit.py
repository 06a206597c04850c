"""Imported connections limited by their windows are greedy. Other connections have their measured
rate.
"""

import struct
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.importing import Station
from lasthop.importing.cells import Choices, network
from lasthop.importing.observed import Connections
from lasthop.importing.scenario import as_toml

from .conversations import MSS, RADIOTAP, STATION, Conversation, bursts, capture, on_air, paced


def imported(path: Path, packets: list[tuple[float, bytes]], *, snap: int = 65535) -> Station:
    """Return the only station of an imported capture."""
    [station] = network(capture(path / "x.pcap", packets, snap=snap), Choices()).stations
    return station


def rates(station: Station) -> tuple[float | None, float | None]:
    """Return the rates of a station's paced connections in both directions. [bit/s]"""
    up, down = station.upload, station.download
    return (up.rate_bps if up else None, down.rate_bps if down else None)


def is_greedy(connections: Connections | None) -> bool:
    """Return whether there are connections, and their windows limit them."""
    return connections is not None and connections.rate_bps is None


@pytest.mark.parametrize(
    ("every_s", "length"),
    [(0.02, MSS), (0.4, MSS), (0.05, 200), (0.002, MSS), (0.005, MSS)],
)
@pytest.mark.parametrize("up", [False, True])
def test_a_paced_sender_has_its_rate_and_the_handshakes_round_trip(
    every_s: float, length: int, up: bool, tmp_path: Path
) -> None:
    """The sending rates are from 0.03 to 5.8 Mb/s, over a path with a round-trip time of 20 ms."""
    talk = Conversation(up=up)
    station = imported(tmp_path, talk.packets(paced(150, every_s, length=length)))
    assert (station.udp_up, station.udp_down) == (None, None)
    rate, other = rates(station) if up else rates(station)[::-1]
    assert rate == pytest.approx(8 * length / every_s, rel=0.01)
    assert other is None
    [flow] = station.flows
    assert not flow.window_limited
    assert flow.rtt_s == pytest.approx(0.021)
    connections = station.upload if up else station.download
    assert connections is not None
    assert connections.count == 1
    assert "not limited by the window, round trip 21 ms" in connections.note


def test_the_imported_scenario_carries_the_measured_rate(tmp_path: Path) -> None:
    """If the rate were not imported, the connection would be greedy and have 20 Mb/s or more."""
    packets = Conversation().packets(paced(150, 0.4))
    seen = network(capture(tmp_path / "x.pcap", packets), Choices())
    settings = {"duration": "6 s", "warmup": "1 s", "replications": 1}
    result = lh.simulate(as_toml(seen), settings=settings)
    goodput_bps = result.summary["cells"][0]["goodput_bps"]["mean"]
    assert goodput_bps == pytest.approx(8 * MSS / 0.4, rel=0.1)


def test_a_burst_of_a_window_per_round_trip_is_greedy(tmp_path: Path) -> None:
    """The receive window is 41 segments. Every 30 ms, the segments of a window arrive as a burst,
    0.1 ms apart.
    """
    talk = Conversation(path_s=0.03)
    station = imported(tmp_path, talk.packets(bursts(30, 41, 0.03)))
    assert station.download is not None
    assert station.download.count == 1
    assert rates(station) == (None, None)


def test_a_queue_after_the_capture_is_greedy(tmp_path: Path) -> None:
    """Between the capture and the station 60 segments are queued, for 1 ms each."""
    talk = Conversation(path_s=0.01, near_s=0.001, scale=7)
    opening = talk.packets([])
    waiting = Conversation(path_s=0.01, near_s=0.06, handshake=False, scale=7)
    station = imported(tmp_path, opening + waiting.packets(paced(400, 0.001)))
    assert station.download is not None
    assert rates(station) == (None, None)


def test_video_in_pieces_has_a_rate(tmp_path: Path) -> None:
    """Every 4 s, the sender sends 400 segments as fast as its window allows. Between these bursts
    it has no data, so that it is not greedy.
    """
    sent, number = [], 0
    for piece in range(4):
        for turn in range(10):
            for place in range(40):
                at_s = 0.1 + 4 * piece + 0.021 * turn + 1e-4 * place
                sent.append((at_s, number * MSS, MSS))
                number += 1
    station = imported(tmp_path, Conversation().packets(sent))
    assert rates(station)[1] == pytest.approx(8 * MSS * 1600 / 12.2, rel=0.02)


def test_idle_time_is_not_a_round_trip(tmp_path: Path) -> None:
    """The station sends a request every 3.5 s, over a path with a round-trip time of 10 ms."""
    sent, number = [], 0
    for request in range(6):
        for place in range(8):
            sent.append((0.1 + 3.5 * request + 1e-4 * place, number * MSS, MSS))
            number += 1
    station = imported(tmp_path, Conversation(path_s=0.01).packets(sent))
    [flow] = station.flows
    assert flow.rtt_s == pytest.approx(0.011)
    assert not flow.window_limited


def test_keep_alives_neither_repeat_data_nor_prolong_a_connection(tmp_path: Path) -> None:
    talk = Conversation()
    sent = bursts(20, 41, 0.021)
    end_s, end = sent[-1][0], 20 * 41 * MSS
    idle = [(end_s + 15.0 * number, end - 1, 1) for number in range(1, 6)]
    station = imported(tmp_path, talk.packets([*sent, *idle]))
    [flow] = station.flows
    assert flow.retransmitted == 0
    assert flow.stop_s == pytest.approx(end_s, abs=0.01)
    assert flow.goodput_bps == pytest.approx(8 * MSS * 41 / 0.021, rel=0.1)
    assert station.download is not None


@pytest.mark.parametrize("snap", [65535, 200, 60])
def test_segments_of_offload_count_by_bytes(snap: int, tmp_path: Path) -> None:
    """Offload merges a window of 29 segments into one packet."""
    length = 29 * MSS
    sent = [(0.1 + 0.021 * turn, turn * length, length) for turn in range(5)]
    station = imported(tmp_path, Conversation().packets(sent), snap=snap)
    [flow] = station.flows
    assert station.download is not None
    assert flow.segments == pytest.approx(5 * 29, abs=5)
    assert flow.data_bytes == 5 * length


def test_offload_does_not_hide_the_segment_size(tmp_path: Path) -> None:
    sent = [(0.1 + 0.021 * turn, turn * 29 * 1460, 29 * 1460) for turn in range(5)]
    path = capture(tmp_path / "x.pcap", Conversation().packets(sent))
    assert network(path, Choices()).tcp.get("mss", ('"1460 B"',))[0] == '"1460 B"'


def test_without_acks_only_pauses_reveal_a_rate(tmp_path: Path) -> None:
    steady = Conversation(handshake=False).packets(paced(100, 0.05), acks=False)
    assert is_greedy(imported(tmp_path, steady).download)
    sent = paced(10, 0.01) + [
        (each + 3.0, first + 10 * MSS, length) for each, first, length in paced(15, 0.01)
    ]
    pieces = Conversation(handshake=False).packets(sent, acks=False)
    station = imported(tmp_path, pieces)
    assert rates(station)[1] is not None


def test_without_a_handshake_two_seconds_reveal_a_rate(tmp_path: Path) -> None:
    """At any round-trip time, a window grows within two seconds. A sender whose rate is constant
    for longer is therefore not limited by its window.
    """
    talk = Conversation(handshake=False)
    assert is_greedy(imported(tmp_path, talk.packets(paced(60, 0.02))).download)
    station = imported(tmp_path, talk.packets(paced(150, 0.02)))
    assert rates(station)[1] is not None
    assert station.flows[0].rtt_s is None


def test_a_station_may_have_a_greedy_and_a_paced_connection(tmp_path: Path) -> None:
    greedy = Conversation(port=40_001).packets(bursts(60, 41, 0.021))
    slow = Conversation(port=40_002, path_s=0.005).packets(paced(60, 0.02))
    station = imported(tmp_path, greedy + slow)
    assert station.download is not None
    assert station.download.count == 1
    assert is_greedy(station.download)
    assert station.udp_down is not None
    assert station.udp_down.rate_bps == pytest.approx(8 * MSS / 0.02, rel=0.01)


def test_a_window_with_losses_is_limited_by_them(tmp_path: Path) -> None:
    """Every hundredth segment is retransmitted, and only few segments are in flight. Losses keep
    the window small, so that the connection is greedy.
    """
    sent = paced(400, 0.002)
    again = [(at_s + 0.0015, first, length) for at_s, first, length in sent[99::100]]
    packets = Conversation(near_s=0.0018).packets(sent)
    packets += Conversation(handshake=False).packets(again, acks=False)
    station = imported(tmp_path, packets)
    assert is_greedy(station.download)


@pytest.mark.parametrize("stamps", [True, False])
def test_time_stamps_show_the_queue_in_front_of_a_capture(stamps: bool, tmp_path: Path) -> None:
    """An upload is queued for up to 0.3 s in its station. In the capture, only time stamps show
    this delay.
    """

    def waited_s(number: int) -> float:
        return min(0.3, 0.004 * number)

    talk = Conversation(up=True, scale=7)
    packets = talk.packets(paced(600, 0.005), waited_s=waited_s if stamps else None)
    station = imported(tmp_path, packets)
    assert is_greedy(station.upload) == stamps
    if stamps:
        assert station.flows[0].rtt_s == pytest.approx(0.28, rel=0.15)


def radio(packets: list[tuple[float, bytes]], *, station: int = 1) -> list[tuple[float, bytes]]:
    """Return the packets in data frames of 802.11."""
    return [
        (at_s, on_air(packet, up=packet[26:30] == STATION, station=station))
        for at_s, packet in packets
    ]


@pytest.mark.parametrize("busy", [True, False])
def test_segments_over_a_busy_radio_may_have_waited_for_it(busy: bool, tmp_path: Path) -> None:
    packets = radio(Conversation().packets(paced(150, 0.02)))
    if busy:
        packets += radio(
            Conversation(port=40_001, handshake=False).packets(paced(4000, 0.00075)), station=2
        )
    path = capture(tmp_path / "x.pcap", packets, link=RADIOTAP)
    first = network(path, Choices()).stations[0]
    assert is_greedy(first.download) == busy


def test_encrypted_frames_that_are_cut_count_as_long_as_they_were(tmp_path: Path) -> None:
    """The capture has 100 bytes per packet, so that ACKs of a download are as long as its data."""
    packets = radio(Conversation(handshake=False).packets(paced(200, 0.01)))
    secret = [
        (at_s, frame[:10] + bytes([frame[10] | 0x40]) + frame[11:]) for at_s, frame in packets
    ]
    path = capture(tmp_path / "x.pcap", secret, snap=100, link=RADIOTAP)
    [station] = network(path, Choices()).stations
    assert station.download is not None
    assert station.upload is None


def quic(at_s: float, port: int = 40_000) -> tuple[float, bytes]:
    """Return a datagram of QUIC to the station."""
    packet = Conversation(port=port).packets([(at_s, 0, 0)], acks=False)[-1][1]
    udp = struct.pack(">HHHH", 443, port, 1258, 0)
    return at_s, packet[:23] + b"\x11" + packet[24:34] + udp + bytes(1250)


def test_quic_with_pauses_has_a_rate_and_other_quic_is_greedy(tmp_path: Path) -> None:
    steady = imported(tmp_path, [quic(0.001 * number) for number in range(200)])
    assert is_greedy(steady.download)
    pieces = [quic(3.0 * piece + 0.001 * number) for piece in range(3) for number in range(50)]
    station = imported(tmp_path, pieces)
    assert station.udp_down is None
    assert rates(station)[1] == pytest.approx(8 * 1250 * 150 / 6.05, rel=0.02)


@pytest.mark.parametrize(
    ("key", "settings", "rate_bps"),
    [
        ("download", 'rate = "2 Mbps"', 2e6),
        ("upload", 'rate = "700 kbps"', 7e5),
        ("download", 'size = "1 MB", every = "4 s"', 2e6),
    ],
)
def test_a_simulated_application_comes_back_with_its_rate(
    key: str, settings: str, rate_bps: float, tmp_path: Path
) -> None:
    """The capture is that of a simulation. The first and last chunks are at the ends of a period,
    so that the rate of chunks is measured 1/7 too high.
    """
    text = f"""
duration = "32 s"
warmup = "1 s"
replications = 1
cell.phy = "802.11g"
wire.delay = "20 ms"
station.laptop.{key} = {{ {settings} }}
"""
    lh.simulate(text, frames=1_000_000).save_capture(tmp_path / "own.pcapng")
    [station] = network(tmp_path / "own.pcapng", Choices()).stations
    assert (station.udp_up, station.udp_down) == (None, None)
    up, down = rates(station)
    measured, other = (up, down) if key == "upload" else (down, up)
    assert other is None
    assert measured == pytest.approx(rate_bps, rel=0.16 if "every" in settings else 0.01)
