"""The estimator with a real queue: C converges to a value just below the capacity of a slow hop."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import GATEWAY, RATE_BPS, Lab, entered, gateway_text, mean, station_v4
from lasthop.daemon.service_kind import ServiceContext
from lasthop.daemon.state import State
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.service import GatewayService
from traffic import Flow, run

pytestmark = [pytest.mark.slow, pytest.mark.simulated]

WATCHED_S = 20.0


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab(stations=3) as lab:
        yield lab


@pytest.mark.parametrize(("cap_mbps", "settled_s"), [(8, 12.0), (20, 25.0)])
def test_c_settles_under_the_capacity_and_stations_are_equal(
    lab: Lab, tmp_path: Path, cap_mbps: int, settled_s: float
) -> None:
    """Check claim hotspot-10 on a hop of 6 Mbit/s, with C limited to 8 or 20 Mbit/s. C is within
    5 % of the capacity, and the round-trip times of pings are short.

    With the limit of 20 Mbit/s, the hop's queue is first full (150 ms) for more than 64 pings.
    After 64 pings that do not confirm the base round-trip time, the estimator measures it again.
    """
    text = gateway_text(3, f'wce.max = "{cap_mbps} Mbps"', rate="estimated")
    rates, pings, shares = run_gateway(text, tmp_path, settled_s)
    # The hop's rate is the capacity: the hop and the gateway both count the Ethernet header.
    assert mean(rates) == pytest.approx(RATE_BPS, rel=0.05)
    assert sorted(pings)[int(0.95 * len(pings))] < 2 * 0.040
    # the ratio of the bytes through the two leaves, which are never empty
    assert shares[0] / shares[1] == pytest.approx(1, abs=0.01)


Watched = tuple[list[float], list[float], list[int]]


def run_gateway(text: str, directory: Path, settled_s: float) -> Watched:
    """Run a gateway under traffic, from its start to its end."""
    gateway = config.read(text)
    with entered(GATEWAY):
        service = GatewayService(ServiceContext(gateway, State(directory), lambda: gateway))
        try:
            service.up()
            flows = [Flow(station_v4(0), download=True) for _ in range(4)]
            flows.append(Flow(station_v4(1), download=True))
            try:
                return watch(service, flows, settled_s)
            finally:
                for flow in flows:
                    flow.close()
        finally:
            assert service.down() == []
            service.close()


def watch(service: GatewayService, flows: list[Flow], settled_s: float) -> Watched:
    """Return values measured under traffic after C has settled: C [bit/s], round-trip times [s],
    and bytes that the leaves have sent.
    """
    rates: list[float] = []
    pings: list[float] = []
    start = time.monotonic()
    counted = start
    answers = 0
    before = sent(service)
    while (now := time.monotonic()) - start < settled_s + WATCHED_S:
        service.rates.ping()
        while time.monotonic() < now + 0.1:
            run(flows, 0.01)
            service.rates.take_answers()
        if now - counted > 1:
            counted = now
            service.count()
        estimator = service.rates.estimators["wlan"]
        if now - start > settled_s:
            rates.append(estimator.controller.capacity_bps)
            if estimator.answers > answers and estimator.rtt_s is not None:
                pings.append(estimator.rtt_s)
        else:
            before = sent(service)
        answers = estimator.answers
    assert answers > 100
    passed = [late - early for late, early in zip(sent(service), before, strict=True)]
    return rates, pings, passed


def sent(service: GatewayService) -> list[int]:
    """Return the bytes that have passed through the leaves of the first two stations."""
    counters, members = service.shaping.shaper.counters(), service.shaping.shaper.running().members
    return [counters[members[name].leaf].sent_bytes for name in ("s0", "s1")]
