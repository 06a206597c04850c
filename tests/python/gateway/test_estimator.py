"""The capacity estimator: the stations that it pings, and the effects of their answers."""

from collections.abc import Mapping, Sequence
from ipaddress import ip_address

from lasthop.control import CapacityEstimator
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.estimator import Candidate, Estimator
from lasthop.linux.segments import RoundTrip
from lasthop.linux.tc import Address

AP = config.read('[gateway]\nwan = "eth0"\nlan = "eth1"\n').aps[0]


class Bench:
    """An estimator on a fully used wire. The test sets when ping answers arrive."""

    def __init__(self) -> None:
        self.sent: list[tuple[Address, int]] = []
        self.now_s = 100.0
        self.passed = 0.0
        self.controller = CapacityEstimator(AP.wce)
        self.estimator = Estimator(
            AP,
            self.controller,
            self.send,
            lambda: len(self.sent) + 1,
            lambda: int(self.passed),
            lambda: self.now_s,
        )

    def send(self, address: Address, sequence: int) -> bool:
        self.sent.append((address, sequence))
        return True

    def round(self, candidates: Sequence[Candidate], rtt_s: float | None) -> int:
        """Advance by one tick, and deliver the answers to this tick's pings."""
        return self.rounds(
            candidates,
            {} if rtt_s is None else {str(each.addresses[0]): rtt_s for each in candidates},
        )

    def rounds(self, candidates: Sequence[Candidate], rtt_s: Mapping[str, float]) -> int:
        """Advance by one tick, and deliver the answers in their order of arrival."""
        before_s, first = self.now_s, len(self.sent)
        self.now_s = began_s = before_s + 0.1
        self.estimator.tick(candidates)
        answered: set[int] = set()
        while waiting := [
            (began_s + rtt_s[str(address)], sequence)
            for address, sequence in self.sent[first:]
            if sequence not in answered and str(address) in rtt_s
        ]:
            at_s, sequence = min(waiting)
            self.now_s = max(at_s, self.now_s)
            self.estimator.answer(sequence, at_s)
            answered.add(sequence)
        self.now_s = max(self.now_s, began_s)
        self.passed += self.controller.capacity_bps * (self.now_s - before_s) / 8
        return self.controller.capacity_bps


def station(k: int) -> Candidate:
    return Candidate(f"s{k}", (ip_address(f"10.0.0.{k}"),))


def test_slow_answers_lower_the_rate_and_fast_answers_raise_it() -> None:
    bench = Bench()
    first = bench.round([station(1)], 0.05)
    assert first < AP.first_rate_bps
    assert bench.round([station(1)], 0.001) > first


def test_a_station_that_is_late_by_itself_is_reported_and_ignored() -> None:
    bench = Bench()
    stations = [station(k) for k in range(1, 6)]
    prompt = {f"10.0.0.{k}": 0.002 for k in range(1, 6)}
    for _ in range(100):
        bench.rounds(stations, prompt | {"10.0.0.3": 0.3})
    assert bench.controller.capacity_bps == AP.first_rate_bps
    assert list(bench.estimator.late_s()) == ["s3"]
    assert bench.estimator.faults(bench.now_s) == []
    # The station answers without delay for more than ten seconds.
    for _ in range(600):
        bench.rounds(stations, prompt)
    assert bench.estimator.late_s() == {}


def test_a_station_that_lowers_c_by_itself_is_reported() -> None:
    bench = Bench()
    for _ in range(20):
        bench.round([station(1)], 0.002)
    for _ in range(60):
        bench.round([station(1)], 0.3)
    assert bench.controller.capacity_bps < AP.first_rate_bps / 2
    (fault,) = bench.estimator.faults(bench.now_s)
    assert fault.startswith(
        "access point wlan: s1, the only station with traffic, answers 300 ms late and holds"
    )
    # The reported fault does not affect the rate C.
    # With two prompt stations, C returns to its first value.
    prompt = {"10.0.0.1": 0.3, "10.0.0.2": 0.002, "10.0.0.3": 0.002}
    for _ in range(20):
        bench.rounds([station(k) for k in (1, 2, 3)], prompt)
    assert bench.controller.capacity_bps == AP.first_rate_bps
    assert bench.estimator.faults(bench.now_s) == []


def test_without_answers_the_rate_never_decreases() -> None:
    bench = Bench()
    before = bench.round([station(1)], 0.05)
    for _ in range(1000):
        assert bench.round([station(1)], None) == before
    assert bench.round([], None) == before


def test_every_station_with_traffic_is_pinged_regularly() -> None:
    bench = Bench()
    for _ in range(50):
        bench.round([station(2), station(3)], 0.01)
    assert {str(address) for address, _ in bench.sent} == {"10.0.0.2", "10.0.0.3"}


def test_without_traffic_no_station_is_pinged_and_the_rate_stays() -> None:
    bench = Bench()
    before = bench.round([station(1)], 0.05)
    for _ in range(30):
        bench.rounds([], {"10.0.0.1": 0.05})
    before, sent = bench.controller.capacity_bps, len(bench.sent)
    assert {bench.round([], 0.001) for _ in range(100)} == {before}
    assert len(bench.sent) == sent
    assert bench.estimator.faults(bench.now_s) == []


def test_a_station_that_never_answers_is_reported_and_so_is_its_access_point() -> None:
    bench = Bench()
    bench.round([station(1)], 0.01)
    for _ in range(90):
        bench.rounds([station(2)], {"10.0.0.1": 0.01})
    estimator = bench.estimator
    assert [estimator.is_silent(name, bench.now_s) for name in ("s1", "s2")] == [False, True]
    assert estimator.faults(bench.now_s) == [
        "access point wlan: no station with traffic answers pings or downloads over TCP "
        "(C stays at 6 Mbit/s; `gateway.rate` fixes it)"
    ]
    for _ in range(3):
        bench.rounds([station(1)], {"10.0.0.1": 0.01})
    assert estimator.faults(bench.now_s) == []
    assert estimator.is_silent("s2", bench.now_s)
    estimator.forget("s2")
    assert not estimator.is_silent("s2", bench.now_s)


def test_a_station_that_never_answers_is_measured_by_its_flows() -> None:
    bench = Bench()
    estimator, heard = bench.estimator, 0
    rates = []
    for _ in range(150):
        bench.round([station(1), station(2)], None)
        assert set(estimator.listening()) <= {"s1", "s2"}
        for name, addresses in estimator.listening().items():
            assert addresses == (ip_address(f"10.0.0.{name[1:]}"),)
            sent_s, bench.now_s = bench.now_s, bench.now_s + 0.15
            rates.append(estimator.overhear(name, RoundTrip(sent_s, 0.15)))
            heard += 1
    assert heard > 50
    assert [estimator.heard(name) for name in ("s1", "s2", "s3")] == ["flows", "flows", None]
    # The rate C falls to its minimum, because the estimator takes 150 ms for a queueing delay.
    assert min(rates) < AP.first_rate_bps / 10
    assert estimator.is_silent("s1", bench.now_s)
    assert estimator.faults(bench.now_s) == []
    # The late station is still pinged occasionally.
    asked = estimator.pings
    for _ in range(100):
        bench.round([station(1), station(2)], None)
    assert asked < estimator.pings < asked + 100


def test_a_round_trip_of_a_station_that_has_left_is_ignored() -> None:
    bench = Bench()
    before = bench.controller.capacity_bps
    assert bench.estimator.overhear("s1", RoundTrip(100.0, 0.3)) == before


def test_passed_bytes_are_interpolated_between_two_readings() -> None:
    bench = Bench()
    for at_s, passed in [(100.0, 0.0), (101.0, 1000.0), (103.0, 2000.0)]:
        bench.passed = passed
        bench.estimator.passed_now(at_s)
    amounts = [bench.estimator.passed_at(at_s) for at_s in (99, 100, 100.5, 101, 102, 103, 104)]
    assert amounts == [0, 0, 500, 1000, 1500, 2000, 2000]
    bench.estimator.passed_now(107.0)
    assert len(bench.estimator.passed) == 3  # readings older than any round trip are removed


def test_answers_that_take_a_second_are_not_missing() -> None:
    bench = Bench()
    for k in range(100):
        bench.round([station(1)], None)
        if k >= 10:
            bench.estimator.answer(k - 9, bench.now_s)
        assert not bench.estimator.is_silent("s1", bench.now_s)


def test_pings_that_the_kernel_does_not_send_are_reported() -> None:
    bench = Bench()
    bench.estimator.send = lambda address, sequence: False
    for _ in range(60):
        bench.round([station(1)], None)
    assert bench.estimator.pings == 0
    (fault,) = bench.estimator.faults(bench.now_s)
    assert "no ping can be sent to 10.0.0.1: check the route of this machine to it" in fault


def test_answers_to_other_stations_and_late_answers_are_ignored() -> None:
    bench = Bench()
    bench.round([station(1)], None)
    assert bench.estimator.answer(999, 101.0) is None
    for _ in range(100):
        bench.round([], None)
    assert bench.estimator.answer(1, 111.0) is None
    assert bench.estimator.under_way == {}


def test_an_answer_of_a_station_that_has_left_is_ignored() -> None:
    """When the station leaves, its state as a late station and its fault are removed."""
    bench = Bench()
    for _ in range(20):
        bench.round([station(1)], 0.002)
    for _ in range(60):
        bench.round([station(1)], 0.3)
    assert bench.estimator.faults(bench.now_s) != []
    bench.estimator.tick([station(1)])
    (_, sequence), number = bench.sent[-1], bench.estimator.stations["s1"]
    bench.estimator.forget("s1")
    assert bench.estimator.answer(sequence, bench.now_s + 0.1) is None
    assert bench.estimator.faults(bench.now_s) == []
    assert bench.controller.base_rtt_s(number) is None


def test_another_address_is_tried_if_an_address_does_not_answer() -> None:
    bench = Bench()
    both = Candidate("s1", (ip_address("10.0.0.1"), ip_address("2001:db8::1")))
    for _ in range(6):
        bench.rounds([both], {"2001:db8::1": 0.001})
    asked = [str(address) for address, _ in bench.sent]
    assert asked == ["10.0.0.1"] * 2 + ["2001:db8::1"] * 4
