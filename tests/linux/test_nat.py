"""Stations behind network address translation on the machine that shapes them."""

import shutil
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
from measure import BenchError
from peers import apt_install

from lab import (
    GATEWAY,
    PATIENCE_S,
    SERVER,
    SERVER_V4,
    STATIONS,
    Lab,
    entered,
    gateway_text,
    log_in,
    sh,
)
from lab import station_v4 as station
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.shaper import Shaper

WAN_ADDRESS = "10.78.0.2"
BYTES = 100_000
MASQUERADE = """
nft add table ip nat
nft 'add chain ip nat out { type nat hook postrouting priority 100; }'
nft add rule ip nat out oifname wan masquerade
"""


@pytest.fixture(scope="module")
def nft() -> None:
    """Skip if the kernel's address translation cannot be set up."""
    if shutil.which("nft") is None:
        try:
            apt_install("nftables")
        except BenchError as error:
            pytest.skip(f"no network address translation here: {error}")


@pytest.mark.usefixtures("nft")
@pytest.mark.parametrize("download", [True, False], ids=["download", "upload"])
def test_both_directions_pass_the_stations_leaf(tmp_path: Path, download: bool) -> None:
    gateway = config.read(gateway_text(2))
    with (
        Lab(stations=2, rate_bps=None),
        ExitStack() as stack,
        entered(GATEWAY),
        Shaper(gateway, log_in(tmp_path)) as shaper,
    ):
        sh(MASQUERADE)
        shaper.up(gateway.stations)
        with entered(SERVER):
            listener = stack.enter_context(socket.create_server((SERVER_V4, 0)))
        with entered(STATIONS):
            where, own = listener.getsockname(), (station(0), 0)
            connected = stack.enter_context(socket.create_connection(where, PATIENCE_S, own))
        accepted, seen = listener.accept()
        stack.enter_context(accepted)
        assert seen[0] == WAN_ADDRESS
        sender, receiver = (accepted, connected) if download else (connected, accepted)
        sender.sendall(bytes(BYTES))
        sender.shutdown(socket.SHUT_WR)
        accepted.settimeout(PATIENCE_S)
        while receiver.recv(1 << 16):
            pass
        members, counters = shaper.running().members, shaper.counters()
        assert counters[members["s0"].leaf].sent_bytes > BYTES
        assert counters[members["s1"].leaf].sent_bytes == 0
        assert shaper.down() == []
