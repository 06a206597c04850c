"""UDP from stations: it bypasses the bottleneck, or passes through the station's leaf."""

import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from lab import (
    GATEWAY,
    PATIENCE_S,
    SERVER,
    SERVER_V4,
    SERVER_V6,
    STATIONS,
    Lab,
    entered,
    gateway_text,
    log_in,
    station_v4,
    station_v6,
)
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.shaper import Shaper

PACKETS = 20
DATA, DNS = 4433, 53
MACHINE = {4: "10.77.1.1", 6: "fd77:1::1"}
THERE = {4: SERVER_V4, 6: SERVER_V6}
HERE = {4: station_v4, 6: station_v6}


def sent(shaper: Shaper, family: int, to: str, port: int, namespace: str) -> tuple[int, int]:
    """Send datagrams from a station. Return the number of datagrams that arrive, and the number
    that the station's leaf counts.
    """
    kind = socket.AF_INET if family == 4 else socket.AF_INET6
    with ExitStack() as stack:
        with entered(namespace):
            receiver = stack.enter_context(socket.socket(kind, socket.SOCK_DGRAM))
            receiver.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            receiver.bind((to, port))
        with entered(STATIONS):
            here = stack.enter_context(socket.socket(kind, socket.SOCK_DGRAM))
            here.bind((HERE[family](0), 0))
        receiver.settimeout(PATIENCE_S)
        leaf = shaper.running().members["s0"].leaf
        before = shaper.counters()[leaf].sent_packets
        for _ in range(PACKETS):
            here.sendto(bytes(100), (to, port))
        arrived = sum(len(receiver.recv(200)) == 100 for _ in range(PACKETS))
        return arrived, shaper.counters()[leaf].sent_packets - before


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("udp", ["down", "both"])
def test_shaped_traffic_arrives_and_names_are_resolved(
    tmp_path: Path, udp: str, family: int
) -> None:
    gateway = config.read(gateway_text(2, f'udp = "{udp}"'))
    with (
        Lab(stations=2, rate_bps=None),
        entered(GATEWAY),
        Shaper(gateway, log_in(tmp_path)) as shaper,
    ):
        shaper.up(gateway.stations)
        shaped = PACKETS if udp == "both" else 0
        assert sent(shaper, family, THERE[family], DATA, SERVER) == (PACKETS, shaped)
        assert sent(shaper, family, MACHINE[family], DATA, GATEWAY) == (PACKETS, shaped)
        for to, namespace in ((THERE[family], SERVER), (MACHINE[family], GATEWAY)):
            assert sent(shaper, family, to, DNS, namespace) == (PACKETS, 0)
        assert shaper.faults() == []
        shaper.leave("s0")
        shaper.join(gateway.stations[0])
        assert sent(shaper, family, THERE[family], DATA, SERVER) == (PACKETS, shaped)
        assert shaper.faults() == []
        assert shaper.down() == []


def test_each_access_point_has_its_own_rule(tmp_path: Path) -> None:
    more = 'ap.a = {}\nap.b.udp = "down"\n'
    text = gateway_text(2, more).replace("} \n", "}\n")
    stations = [line for line in text.splitlines() if line.startswith("station.")]
    placed = [
        line.replace(" }", f', ap = "{ap}" }}') for line, ap in zip(stations, "ab", strict=True)
    ]
    text = "\n".join([*(x for x in text.splitlines() if x not in stations), *placed])
    gateway = config.read(text)
    with (
        Lab(stations=2, rate_bps=None),
        entered(GATEWAY),
        Shaper(gateway, log_in(tmp_path)) as shaper,
    ):
        shaper.up(gateway.stations)
        assert sent(shaper, 4, SERVER_V4, DATA, SERVER) == (PACKETS, PACKETS)
        shaper.leave("s0")
        shaper.leave("s1")
        assert shaper.faults() == []
        assert shaper.down() == []
