"""Whom to ping and what an answer means."""

from ipaddress import ip_address

import pytest

from lasthop.control import Wce
from lasthop.gateway import config
from lasthop.gateway.estimator import Candidate, Estimator
from lasthop.linux.tc import Address

AP = config.read('[gateway]\nwan = "eth0"\nlan = "eth1"\n').aps[0]


class Bench:
    """An estimator with a wire whose answers come when the test says so."""

    def __init__(self) -> None:
        self.sent: list[tuple[Address, int]] = []
        self.wce = Wce(**AP.wce)
        self.estimator = Estimator(AP, self.wce, self.send, lambda: len(self.sent) + 1, seed=1)
        self.now_s = 100.0

    def send(self, address: Address, sequence: int) -> bool:
        self.sent.append((address, sequence))
        return True

    def round(self, candidates: list[Candidate], rtt_s: float | None) -> int:
        """A tick, and the answer to its ping."""
        self.now_s += 0.1
        sent = len(self.sent)
        rate = self.estimator.tick(self.now_s, self.now_s, candidates)
        if rtt_s is not None and len(self.sent) > sent:
            at_s = self.now_s + rtt_s
            return self.estimator.answer(self.sent[-1][1], at_s, at_s) or rate
        return rate


def station(k: int) -> Candidate:
    return Candidate(f"s{k}", ip_address(f"10.0.0.{k}"))


def test_slow_answers_take_the_rate_down_and_quick_ones_up() -> None:
    bench = Bench()
    first = bench.round([station(1)], 0.1)
    assert first < AP.first_rate_bps
    assert bench.round([station(1)], 0.001) > first


def test_silence_holds_and_never_creeps_down() -> None:
    bench = Bench()
    bench.round([station(1)], 0.1)
    before = bench.wce.capacity_bps
    for _ in range(1000):
        assert bench.round([station(1)], None) == before
    assert bench.wce.last_step == "hold"
    assert bench.round([], None) == before


def test_every_station_with_traffic_is_pinged_now_and_then() -> None:
    bench = Bench()
    for _ in range(50):
        bench.round([station(2), station(3)], 0.01)
    assert {str(address) for address, _ in bench.sent} == {"10.0.0.2", "10.0.0.3"}


def test_where_nobody_has_traffic_nobody_is_pinged_and_the_rate_holds() -> None:
    bench = Bench()
    before = bench.round([station(1)], 0.1)
    sent = len(bench.sent)
    assert {bench.round([], 0.001) for _ in range(100)} == {before}
    assert len(bench.sent) == sent
    assert bench.estimator.faults(bench.now_s) == []


def test_who_never_answers_is_told_and_so_is_an_access_point_of_such() -> None:
    bench = Bench()
    bench.round([station(1)], 0.01)
    for _ in range(60):
        bench.round([station(2)], None)
    estimator = bench.estimator
    assert [estimator.is_silent(name, bench.now_s) for name in ("s1", "s2")] == [False, True]
    assert estimator.faults(bench.now_s) == [
        "access point wlan: nobody with traffic answers pings "
        "(C stays at 6 Mbit/s; `gateway.rate` fixes it)"
    ]
    bench.round([station(1)], 0.01)
    assert estimator.faults(bench.now_s) == []
    assert estimator.is_silent("s2", bench.now_s)
    estimator.forget("s2")
    assert not estimator.is_silent("s2", bench.now_s)


def test_answers_that_take_a_second_are_no_silence() -> None:
    bench = Bench()
    for k in range(100):
        bench.round([station(1)], None)
        if k >= 10:
            bench.estimator.answer(k - 9, bench.now_s, bench.now_s)
        assert not bench.estimator.is_silent("s1", bench.now_s)


def test_pings_that_the_kernel_does_not_send_are_told_as_such() -> None:
    bench = Bench()
    bench.estimator.send = lambda address, sequence: False
    for _ in range(60):
        bench.round([station(1)], None)
    assert bench.estimator.pings == 0
    (fault,) = bench.estimator.faults(bench.now_s)
    assert "no ping can be sent to 10.0.0.1: has this machine a route to it?" in fault


def test_answers_to_others_and_late_ones_are_nothing() -> None:
    bench = Bench()
    bench.round([station(1)], None)
    assert bench.estimator.answer(999, 101.0, 101.0) is None
    for _ in range(100):
        bench.round([], None)
    assert bench.estimator.answer(1, 111.0, 111.0) is None
    assert bench.estimator.under_way == {}


def test_a_clock_that_is_set_back_holds() -> None:
    bench = Bench()
    bench.estimator.tick(101.0, 5000.0, [station(1)])
    assert bench.estimator.answer(1, 101.01, 4000.0) == AP.first_rate_bps
    assert bench.estimator.rtt_s is None


def test_the_estimator_is_the_simulators() -> None:
    assert Wce(**AP.wce).cycle(5_400_000) == pytest.approx(Wce().cycle(5_400_000))
