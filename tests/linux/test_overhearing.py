"""Stations that do not answer pings, with the kernel's TCP. The gateway measures round-trip times
of their flows, and adapts C to these times.
"""

import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest

from lab import (
    GATEWAY,
    PATIENCE_S,
    RATE_BPS,
    STATIONS,
    Lab,
    entered,
    gateway_text,
    mean,
    sh,
    station_v4,
    station_v6,
)
from lasthop.daemon.service_kind import ServiceContext
from lasthop.daemon.state import State
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.service import GatewayService
from lasthop.linux.overhearing import MAX_INSTRUCTIONS, REFUSE, Overhearing
from lasthop.linux.segments import MAX_SEEN, RoundTrip, RoundTripProbe, Taken
from lasthop.linux.segments import PATIENCE_S as WAITED_S
from traffic import Flow, run

CAP_BPS = 20_000_000


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Yield a hot-spot after a FIFO of 6 Mbit/s. Its stations answer no pings."""
    with Lab(stations=2) as lab:
        for version in ("ipv4.icmp_echo", "ipv6.icmp.echo"):
            sh(f"ip netns exec {STATIONS} sysctl -qw net.{version}_ignore_all=1")
        yield lab


def test_packets_that_are_never_acknowledged_are_not_waited_for(lab: Lab) -> None:
    """A round-trip measurement ends without a result if no ACK arrives within `WAITED_S` after the
    segment left. Departure times are wall-clock times, as in the kernel's time stamps.
    """
    with entered(GATEWAY):
        overhearing = Overhearing("lan")
    now_s = time.time()
    for name, at_s in (("gone", now_s - WAITED_S - 1), ("there", now_s)):
        overhearing.probes[name] = RoundTripProbe(is_open=False, taken=[Taken(1, None, at_s)])
        overhearing.addresses[name] = ()
    overhearing.attach = lambda: None  # type: ignore[method-assign]
    overhearing.listen({})
    assert list(overhearing.probes) == ["there"]
    overhearing.close()


def test_a_kernel_with_little_room_for_programs_hears_fewer(lab: Lab) -> None:
    """`net.core.optmem_max` limits the length of a socket's filter. With a low limit, the filter
    accepts packets of only some of the 60 stations.
    """
    setting = Path("/proc/sys/net/core/optmem_max")
    with entered(GATEWAY):
        if not setting.exists():
            pytest.skip("this kernel has one net.core.optmem_max for all namespaces")
        before = setting.read_text()
        setting.write_text("4096")
    try:
        with entered(GATEWAY):
            overhearing = Overhearing("lan")
        overhearing.listen({f"s{k}": (ip_address(station_v6(k)),) for k in range(60)})
        assert 1 < len(overhearing.program) < MAX_INSTRUCTIONS
        assert len(overhearing.probes) == 60
        overhearing.close()
    finally:
        with entered(GATEWAY):
            setting.write_text(before)


@pytest.mark.parametrize("station", [station_v4(0), station_v6(0)])
@pytest.mark.parametrize("stamps", [0, 1])
def test_a_round_trip_is_heard_and_no_more_packets_are(lab: Lab, station: str, stamps: int) -> None:
    sh(f"ip netns exec {STATIONS} sysctl -qw net.ipv4.tcp_timestamps={stamps}")
    with entered(GATEWAY):
        overhearing = Overhearing("lan")
    flow = Flow(station, download=True)
    try:
        overhearing.listen({"s0": (ip_address(station),), "s1": (ip_address(station_v4(1)),)})
        heard: list[tuple[str, RoundTrip]] = []
        before_s = time.monotonic()
        while not heard and time.monotonic() < before_s + PATIENCE_S:
            run([flow], 0.01)
            heard = list(overhearing.heard())
        ((name, trip),) = heard
        assert name == "s0"
        assert before_s - 0.001 < trip.sent_s < trip.sent_s + trip.rtt_s < time.monotonic() + 0.001
        assert overhearing.probes["s0"].seen < 2 * MAX_SEEN
        overhearing.listen({})
        assert overhearing.program == [REFUSE]
        while list(overhearing.heard()):
            pass
        run([flow], 0.2)
        with pytest.raises(BlockingIOError):
            overhearing.socket.recv(1)
    finally:
        flow.close()
        overhearing.close()


def lived(text: str, directory: Path, work: Callable[[GatewayService, list[Flow]], None]) -> None:
    """Run a gateway with downloads, from its start to its end."""
    gateway = config.read(text)
    with entered(GATEWAY):
        service = GatewayService(ServiceContext(gateway, State(directory), lambda: gateway))
        try:
            service.up()
            flows = [Flow(station_v4(k // 2), download=True) for k in range(4)]
            try:
                work(service, flows)
            finally:
                for flow in flows:
                    flow.close()
        finally:
            assert service.down() == []
            service.close()


def rounds(service: GatewayService, flows: list[Flow], is_over: Callable[[], bool]) -> None:
    """Run a gateway's loop until a condition holds."""
    end_s = time.monotonic() + 4 * PATIENCE_S
    counted_s = 0.0
    while not is_over():
        now_s = time.monotonic()
        assert now_s < end_s, service.rates.status(service.shaping.gateway.aps[0])
        service.rates.ping()
        while time.monotonic() < now_s + 0.1:
            run(flows, 0.01)
            service.rates.take_answers()
        if now_s - counted_s > 1:
            counted_s = now_s
            service.count()


@pytest.mark.parametrize("fairness", ["station", "flow"])
def test_c_leaves_its_cap_though_no_station_answers_pings(
    lab: Lab, tmp_path: Path, fairness: str
) -> None:
    def work(service: GatewayService, flows: list[Flow]) -> None:
        estimator = service.rates.estimators["wlan"]
        rounds(service, flows, lambda: estimator.controller.capacity_bps < CAP_BPS * 0.6)
        rows = {row["name"]: row for row in service.status()["stations"]}
        assert estimator.answers == 0
        assert {rows[name]["heard"] for name in ("s0", "s1")} <= {"flows", None}
        assert "flows" in {rows[name]["heard"] for name in ("s0", "s1")}
        assert not any("answers pings" in fault for fault in service.status()["faults"])

    more = f'wce.max = "{CAP_BPS} bps"\nfairness = "{fairness}"'
    lived(gateway_text(2, more, rate="estimated"), tmp_path, work)


@pytest.mark.slow
@pytest.mark.simulated
def test_c_settles_under_the_capacity_though_no_station_answers_pings(
    lab: Lab, tmp_path: Path
) -> None:
    rates: list[float] = []

    def work(service: GatewayService, flows: list[Flow]) -> None:
        start_s = time.monotonic()

        def is_over() -> bool:
            now_s = time.monotonic() - start_s
            if now_s > 25:
                rates.append(service.rates.estimators["wlan"].controller.capacity_bps)
            return now_s > 40

        rounds(service, flows, is_over)

    more = f'wce.max = "{CAP_BPS} bps"'
    lived(gateway_text(2, more, rate="estimated"), tmp_path, work)
    assert mean(rates) == pytest.approx(RATE_BPS, rel=0.1)
