"""The script's estimator with a real queue, in simulated time."""

import re
import selectors
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from pathlib import Path

import pytest

from lab import GATEWAY, RATE_BPS, STATIONS, Child, Lab, gateway_text, mean, sh, station_v4
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.script import script
from router import Router
from traffic import Flow, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.simulated,
    pytest.mark.usefixtures("router_programs"),
]

WATCHED_S = 20.0
"""Duration of a measurement. The duration is the same in `test_capacity.py`, which tolerates only a
smaller error of C. [s]
"""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab(stations=3) as lab:
        yield lab


@pytest.fixture
def router(lab: Lab, tmp_path: Path) -> Iterator[Router]:
    router = Router(tmp_path / "root", "dash")
    yield router
    router.close()


def rate_now() -> int:
    """Return C, read from the kernel. [bit/s]"""
    shown = sh(f"ip netns exec {GATEWAY} tc class show dev lh-lan classid 6c68:1")
    number, unit = re.search(r"rate (\d+)([KM]?)bit", shown).groups()  # type: ignore[union-attr]
    return int(number) * {"": 1, "K": 1000, "M": 1_000_000}[unit]


def followed(router: Router, cap_mbps: int, settled_s: float) -> list[int]:
    """Return C for each second after C has settled, while all three stations have traffic.
    [bit/s]
    """
    text = gateway_text(3, f'wce.max = "{cap_mbps} Mbps"', rate="estimated")
    router.write(script(config.read(text)))
    router.start()
    flows = [Flow(station_v4(k), download=True) for k in range(3)]
    rates: list[int] = []
    try:
        start = time.monotonic()
        while (now := time.monotonic() - start) < settled_s + WATCHED_S:
            run(flows, 1)
            if now > settled_s:
                rates.append(rate_now())
        print(f"{router.processor_s() / now:.3f} of a processor; C {rates}")
    finally:
        for flow in flows:
            flow.close()
        assert router.end() == 0
    assert router.printed() == ""
    return rates


@pytest.mark.parametrize("cap_mbps", [8, 20])
def test_c_settles_under_the_capacity(router: Router, cap_mbps: int) -> None:
    rates = followed(router, cap_mbps, 20)
    assert mean(rates) == pytest.approx(RATE_BPS, rel=0.1)
    assert min(rates) > 0.7 * RATE_BPS


@pytest.mark.parametrize(("late", "least"), [([2], 0.85), ([0, 1, 2], 0.0)])
def test_a_station_that_answers_late_does_not_lower_c(
    router: Router, late: Sequence[int], least: float
) -> None:
    """The estimator must assume a queue only if all three stations answer late."""
    answering = Child(STATIONS, lambda: answer_pings(set(late), 0.3))
    try:
        rates = followed(router, 8, 10)
    finally:
        answering.kill()
        answering.result()
        sh(f"ip netns exec {STATIONS} sysctl -qw net.ipv4.icmp_echo_ignore_all=0")
    if least:
        assert mean(rates) > least * RATE_BPS
    else:
        assert min(rates) < 0.1 * RATE_BPS


def answer_pings(late: set[int], late_s: float) -> None:
    """Answer the pings to the three stations in place of the kernel. The answers of the stations in
    `late` are delayed by `late_s`. [s]
    """
    sh("sysctl -qw net.ipv4.icmp_echo_ignore_all=1")
    waiting: list[tuple[float, int, Callable[[], object]]] = []
    with selectors.DefaultSelector() as selector:
        for k in range(3):
            raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
            raw.bind((station_v4(k), 0))
            selector.register(raw, selectors.EVENT_READ, k)
        count = 0
        while True:
            left = max(waiting[0][0] - time.monotonic(), 0) if waiting else None
            for key, _ in selector.select(left):
                raw = key.fileobj
                assert isinstance(raw, socket.socket)
                packet, (asker, _) = raw.recvfrom(2048)
                message = packet[20:]
                if message[0] != 8:
                    continue
                count += 1
                reply = echo_reply(message)
                due_s = time.monotonic() + (late_s if key.data in late else 0)
                send = lambda raw=raw, reply=reply, asker=asker: raw.sendto(reply, (asker, 0))  # noqa: E731
                heappush(waiting, (due_s, count, send))
            while waiting and waiting[0][0] <= time.monotonic():
                heappop(waiting)[2]()


def echo_reply(message: bytes) -> bytes:
    """Return the answer to an echo request."""
    data = b"\0\0\0\0" + message[4:]
    words = struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2))
    total = sum(words)
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return data[:2] + struct.pack("!H", ~total & 0xFFFF) + data[4:]
