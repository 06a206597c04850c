"""Metrics and the live view of a gateway."""

import os
import pty
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import service_lab
from lab import (
    GATEWAY,
    PATIENCE_S,
    Child,
    entered,
    gateway_text,
    station_v4,
    station_v6,
    wait_until,
)
from service_lab import Gateway
from traffic import transfers

lab, gateway = service_lab.lab, service_lab.gateway
SENT = 'lasthop_station_sent_bytes_total{ap="wlan",station="s0"}'
LASTHOP = Path(sys.executable).with_name("lasthop")


def test_metrics_are_served_on_loopback(gateway: Gateway) -> None:
    text = gateway_text(2, "").replace('metrics = "off"', 'metrics = "127.0.0.1:9464"')
    gateway.file.write_text(text)
    gateway("up")
    transfers(station_v4(0))
    transfers(station_v6(0))

    def scrape() -> str:
        with urllib.request.urlopen("http://127.0.0.1:9464/metrics") as answer:
            page: str = answer.read().decode()
            return page

    def sent() -> float:
        page = Child(GATEWAY, scrape).result()
        lines = [line for line in page.splitlines() if line.startswith(SENT)]
        return float(lines[0].split()[-1]) if lines else 0.0

    wait_until(lambda: sent() > 40_000, "the downloads are counted")
    page = Child(GATEWAY, scrape).result()
    for name in ("lasthop_ap_rate_bytes_per_second", "lasthop_station_backlog_packets"):
        assert name in page
    # a port in use is reported before any change
    code, printed = gateway("down")
    with entered(GATEWAY):
        import socket

        with socket.create_server(("127.0.0.1", 9464)):
            answers = [gateway(verb) for verb in ("check", "up")]
    for code, printed in answers:
        assert code == 2
        assert "gateway.metrics: port 9464 of 127.0.0.1: Address already in use" in printed
    assert gateway("check")[0] == 0


def test_live_view_shows_stations(gateway: Gateway) -> None:
    ours, its = pty.openpty()
    with entered(GATEWAY):
        command = [LASTHOP, "gateway", "run", gateway.file, "--state", gateway.state]
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
        process = subprocess.Popen(command, stdout=its, stderr=its, env=environment)
    os.close(its)
    shown = b""
    deadline = time.monotonic() + PATIENCE_S
    while b"s1" not in shown and time.monotonic() < deadline:
        shown += os.read(ours, 65536)
    process.send_signal(signal.SIGTERM)
    with suppress(OSError):  # the other end of the terminal is closed
        while os.read(ours, 65536):
            pass
    assert process.wait(PATIENCE_S) == 0
    os.close(ours)
    assert b"access point" in shown
    assert b"s1" in shown
