"""Eqs. (5) to (16) of paper 000 for contention, by hand and compared with a slotted simulation of
queues and backoff counters.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from lasthop.models.access import Access
from lasthop.models.dcf import bianchi
from lasthop.models.dcf.saturation import Contender
from lasthop.models.errors import ConvergenceError
from lasthop.models.vbs import PAPER, Options, contention
from lasthop.models.vbs.cell import EIGHT_ATTEMPTS, Cell, FlowClass, Frame, StationKind
from lasthop.models.vbs.contention import (
    ap_failure_prob,
    attempt_prob,
    discard_prob,
    failure_prob_of,
    mean_slot_s,
    slot_probs,
    solve,
    station_failure_prob,
)
from lasthop.models.vbs.window import WindowGrowth

# Data frame of table II: 192 us of preamble and header, 1500 B, 40 B of IP and 28 B of MAC.
# DIFS is included.
DATA = Frame(839.556e-6, 839.556e-6)
ACK = Frame(515.111e-6, 515.111e-6)
GROWTH = WindowGrowth(45, alpha=0.125, kappa=0.75, beta=0.5, gamma=30.0, segments_per_ack=1)


def cell(errors=(0.0, 0.3), attempts=4, **changes):
    """Return two classes of five downloads. Frames from the AP have channel errors."""
    access = Access(31, 1023, attempts=attempts)
    stations = tuple(StationKind(5, access) for _ in errors)
    classes = tuple(
        FlowClass(5, k, False, replace(DATA, error=error), ACK, GROWTH)
        for k, error in enumerate(errors)
    )
    return Cell(classes, stations, access, **changes)


@pytest.mark.equation("vbs", 10)
def test_attempt_probability_by_hand():
    """The backoffs are 3.5 and 7.5 slots, each plus a slot for the attempt. Half of all attempts
    fail.
    """
    assert attempt_prob(0.5, Access(7, 15, attempts=2)) == pytest.approx(1.5 / (4.5 + 0.5 * 8.5))
    assert attempt_prob(0.0, EIGHT_ATTEMPTS) == pytest.approx(1 / 16.5)


@pytest.mark.equation("vbs", 10)
@pytest.mark.parametrize("failures", [0.0, 0.2, 0.7])
def test_attempt_probability_is_bianchis(failures):
    node = Contender(31, 1023, 8, 1e-3, 1e-3, 1460)
    assert attempt_prob(failures, EIGHT_ATTEMPTS) == pytest.approx(
        bianchi.attempt_prob(node, failures)
    )


@pytest.mark.equation("vbs", 13)
def test_failures_of_the_ap_by_hand():
    silent = 0.99**2 * 0.98**3
    failure = ap_failure_prob(0.3, np.array([0.01, 0.02]), np.array([2.0, 3.0]))
    assert failure == pytest.approx(1 - 0.7 * silent)


@pytest.mark.equation("vbs", 14)
def test_collisions_of_a_station_by_hand():
    failure = station_failure_prob(0.06, np.array([0.01, 0.02]), np.array([2.0, 3.0]), own=1)
    assert failure == pytest.approx(1 - 0.94 * 0.99**2 * 0.98**2)


@pytest.mark.equation("vbs", 7)
@pytest.mark.equation("vbs", 8)
@pytest.mark.equation("vbs", 9)
def test_slots_by_hand_differ_from_eq_8_as_printed():
    idle, acks, data = slot_probs(0.06, np.array([0.01, 0.02]), np.array([2.0, 3.0]))
    silent = 0.99**2 * 0.98**3
    assert (idle, acks) == pytest.approx((0.94 * silent, 0.94 * (1 - silent)))
    assert data == pytest.approx(0.06)
    # As printed, Eq. (8) multiplies the probability of silent stations by 1 - p_w.
    # With this factor, 30 % of all slots would be both idle slots and slots of an ACK.
    assert 1 - idle - 0.94 * (1 - 0.7 * silent) < 0.0


@pytest.mark.equation("vbs", 6)
def test_mean_slot_by_hand():
    assert mean_slot_s((0.9, 0.04, 0.06), 20e-6, 500e-6, 800e-6) == pytest.approx(86e-6)


@pytest.mark.equation("vbs", 16)
def test_discards_by_hand():
    assert discard_prob(np.full(4, 0.3)) == pytest.approx(0.3**4)
    assert discard_prob(np.array([0.4, 0.3])) == pytest.approx(0.12)


@pytest.mark.equation("vbs", 15)
def test_eq_15_as_printed_gives_0_38_for_two_equal_classes_without_errors():
    """The AP has a failure probability of 0.058. Eq. (15) as printed halves its attempt
    probability, which would require a failure probability of 0.38.
    """
    solution = solve(cell((0.0, 0.0), attempts=8), np.full(2, 0.5), np.ones(2), PAPER)
    attempts_prob = attempt_prob(float(solution.ap_failure), EIGHT_ATTEMPTS)
    assert failure_prob_of(attempts_prob, EIGHT_ATTEMPTS) == pytest.approx(solution.ap_failure)
    assert failure_prob_of(0.5 * attempts_prob, EIGHT_ATTEMPTS) == pytest.approx(0.38, abs=0.01)
    assert solution.ap_failure == pytest.approx(0.058, abs=0.001)


@pytest.mark.equation("vbs", 11)
@pytest.mark.equation("vbs", 12)
def test_eq_12_balances_departures_of_the_queues():
    """In equilibrium, the AP delivers as many data packets as the stations send ACKs in the same
    time. The solution computes the two numbers of Eq. (5) separately.
    """
    shares, errors, attempts = np.array([0.6, 0.4]), np.array([0.0, 0.3]), 4
    replies = np.array([1.0, 1.0 - 0.31**4])
    solution = solve(cell(errors, attempts), shares, replies, PAPER)
    # By hand: attempts per packet and their backoffs, at the computed collision probability.
    silent = 1 - solution.ap_collision
    fails = 1 - (1 - errors) * silent
    assert solution.ap_failures == pytest.approx(fails)
    per_packet = (1 - fails**attempts) / (1 - fails)
    windows = np.array([15.5, 31.5, 63.5, 127.5]) + 1
    slots = np.array([fail ** np.arange(attempts) @ windows for fail in fails])
    services = 1 / (shares @ slots)
    ap_attempts = services * (shares @ per_packet)
    acks = 1 - (1 - ap_attempts) * (1 - solution.ap_collision) / (1 - solution.station_collisions)
    assert (acks > 0).all()
    hit = solution.station_collisions
    each = services * shares * replies * (1 - hit**attempts) / (1 - hit) / 5
    assert np.prod((1 - each) ** 5) == pytest.approx(silent)
    assert hit[0] == pytest.approx(station_failure_prob(ap_attempts, each, np.full(2, 5.0), 0))


@pytest.mark.equation("vbs", 5)
def test_throughput_counts_acks_or_data_alike():
    """The throughput is Theta_i = beta_i (1 - f_i)/E[X]. The ACKs of the stations equal the packets
    that the AP delivered.
    """
    shares = np.array([0.5, 0.5])
    solution = solve(cell((0.1, 0.1), attempts=8), shares, np.ones(2), PAPER)
    silent = 1 - solution.ap_collision
    hit = solution.station_collisions[0]
    attempts = 1 - silent**0.1
    probs = slot_probs(
        attempt_prob(solution.ap_failure, EIGHT_ATTEMPTS), np.full(1, attempts), np.full(1, 10)
    )
    slot_s = mean_slot_s(probs, 20e-6, ACK.success_s, DATA.success_s)
    # Stations give up only one ACK in 10^8, so that they deliver ACKs at the AP's service rate.
    assert 10 * attempts * (1 - hit) / slot_s == pytest.approx(solution.service_rate, rel=1e-6)


def test_delayed_acks_leave_the_ap_more_of_the_air():
    shares = np.array([0.5, 0.5])
    each_packet, half = (
        solve(cell((0.0, 0.0)), shares, np.full(2, replies), Options()) for replies in (1.0, 0.5)
    )
    assert 1.15 < half.service_rate / each_packet.service_rate < 1.35
    assert half.contending < 0.6 * each_packet.contending


def test_rate_heterogeneity_lengthens_the_mean_slot():
    """Remark IV.1: half of all packets take 700 us longer, so that data and ACKs take 350 us longer
    on average.
    """
    slow = cell((0.0, 0.0))
    second = replace(slow.classes[1], down=Frame(839.556e-6 + 700e-6, 839.556e-6 + 700e-6))
    slow = replace(slow, classes=(slow.classes[0], second))
    shares = np.array([0.5, 0.5])
    same, mixed = (
        solve(member, shares, np.ones(2), Options()) for member in (cell((0.0, 0.0)), slow)
    )
    extra_s = 1 / mixed.service_rate - 1 / same.service_rate
    assert extra_s == pytest.approx(350e-6 / (1 - same.ap_failure), rel=1e-3)


class SlotProcess:
    """A slotted simulation of an AP with unlimited packets, and stations that answer each packet.
    `frozen` is whether backoff counters are frozen in busy slots.
    """

    def __init__(self, errors, attempts, frozen, seed):
        self.rng = np.random.default_rng(seed)
        self.errors, self.attempts, self.frozen = errors, attempts, frozen
        self.windows = [min(2**j * 32, 1024) - 1 for j in range(attempts)]
        self.stations = 5 * len(errors)
        self.counter = np.full(self.stations + 1, 10**9)
        self.stage = np.zeros(self.stations + 1, dtype=int)
        self.queue = np.zeros(self.stations + 1, dtype=int)
        self.seen = dict.fromkeys(("attempts", "collided", "delivered", "discarded"), 0)
        self.by_attempt = np.zeros((attempts, 2))
        self.time_s = 0.0
        self.forgetful = False  # whether all backoff counters are drawn again after each exchange
        self.at_ends = []  # numbers of stations with a packet at the end of each exchange

    def draw(self, node):
        self.counter[node] = self.rng.integers(0, self.windows[self.stage[node]] + 1)

    def take_up(self):
        self.to = self.rng.integers(1, self.stations + 1)
        self.stage[0] = 0
        self.draw(0)

    def leave(self, node):
        self.stage[node], self.queue[node] = 0, self.queue[node] - 1
        if self.queue[node]:
            self.draw(node)
        else:
            self.counter[node] = 10**9

    def fail(self, node):
        self.stage[node] += 1
        if self.stage[node] < self.attempts:
            self.draw(node)
            return
        if node == 0:
            self.seen["discarded"] += 1
            self.take_up()
        else:
            self.leave(node)

    def run(self, packets):
        self.take_up()
        while self.seen["delivered"] + self.seen["discarded"] < packets:
            self.at_ends.append(np.count_nonzero(self.queue))
            if self.forgetful:
                for node in np.flatnonzero(self.counter < 10**9):
                    self.draw(node)
            idle = self.counter.min()
            senders = np.flatnonzero(self.counter == idle)
            busy = self.counter < 10**9
            self.counter[busy] -= idle + (0 if self.frozen else 1)
            self.time_s += idle * 20e-6
            self.time_s += DATA.success_s if 0 in senders else ACK.success_s
            if 0 in senders:
                self.seen["attempts"] += 1
                self.seen["collided"] += len(senders) > 1
                self.by_attempt[self.stage[0]] += 1, len(senders) > 1
            error = self.errors[(self.to - 1) // 5] if senders[0] == 0 else 0.0
            if len(senders) > 1 or self.rng.random() < error:
                for node in senders:
                    self.fail(node)
            elif senders[0] == 0:
                self.seen["delivered"] += 1
                to = self.to
                self.queue[to] += 1
                if self.queue[to] == 1:
                    self.draw(to)
                self.take_up()
            else:
                self.leave(senders[0])
        return self


@pytest.mark.equation("vbs", 6)
@pytest.mark.equation("vbs", 13)
@pytest.mark.parametrize(
    ("errors", "frozen", "packets"),
    [
        ((0.0, 0.0), False, 16_000),
        *(
            pytest.param(errors, frozen, 50_000, marks=pytest.mark.slow)
            for errors in ((0.0, 0.0), (0.0, 0.3))
            for frozen in (False, True)
        ),
    ],
)
def test_mac_layer_against_the_slot_process(errors, frozen, packets):
    process = SlotProcess(errors, attempts=4, frozen=frozen, seed=1).run(packets)
    seen = process.seen
    lossy = cell(errors, attempts=4, frozen=frozen)
    solution = solve(lossy, np.full(2, 0.5), np.array([1.0, 0.99]), Options())
    packets = seen["delivered"] + seen["discarded"]
    assert solution.service_rate == pytest.approx(packets / process.time_s, rel=0.01)
    # The model assumes a Poisson number of contending stations, independent of the AP's backoff.
    # Therefore the model has 9 % too few collisions at p_w = 0.3.
    # The simulation has 2700 collisions, a number with a standard error of 2 %.
    collided = seen["collided"]
    share = collided / seen["attempts"]
    assert solution.ap_collision == pytest.approx(share, rel=0.1 + 2.0 / math.sqrt(collided))
    # At p_w = 0.3, a fraction of 4.6e-3 of the packets is discarded.
    # This fraction is 230 packets of the simulation, so that its 95 % interval is +- 13 %.
    assert solution.ap_discard == pytest.approx(seen["discarded"] / packets, rel=0.13, abs=1e-4)


@pytest.mark.slow
def test_later_attempts_at_a_packet_collide_less():
    """Before later attempts, the stations have sent their ACKs. With equal collision probabilities
    for all attempts, a fifth more packets would be discarded.
    """
    process = SlotProcess((0.3, 0.3), attempts=4, frozen=True, seed=2).run(40_000)
    by_attempt = process.by_attempt[:, 1] / process.by_attempt[:, 0]
    lossy = cell((0.3, 0.3), attempts=4, frozen=True)
    draining = solve(lossy, np.full(2, 0.5), np.full(2, 0.99), Options())
    mean = solve(lossy, np.full(2, 0.5), np.full(2, 0.99), Options(collisions="mean"))
    predicted = draining.by_attempt * (1 - 1 / (np.array(process.windows) + 1))
    assert predicted[0] == pytest.approx(by_attempt[0], rel=0.08)
    assert predicted[1] == pytest.approx(by_attempt[1], rel=0.25)
    assert by_attempt[3] < 0.25 * by_attempt[0]
    assert mean.ap_discard > 1.12 * draining.ap_discard
    assert draining.ap_discard == pytest.approx(process.seen["discarded"] / 40_000, rel=0.1)


@pytest.mark.equation("vbs", 12)
def test_eq_12_as_printed_overstates_goodput():
    """As printed, all classes have the mean failure probability, and stations answer packets that
    were given up.
    """
    shares, rates = np.array([0.5, 0.5]), {}
    for balance in ("served", "printed"):
        solution = solve(
            cell((0.0, 0.3), attempts=8), shares, np.ones(2), replace(PAPER, ack_balance=balance)
        )
        rates[balance] = solution.service_rate
    assert rates["printed"] / rates["served"] == pytest.approx(1.058, abs=0.005)


@pytest.mark.equation("vbs", 10)
@pytest.mark.equation("vbs", 11)
@pytest.mark.parametrize(
    ("balance", "errors"),
    [
        ("served", (0.2, 0.2)),
        ("printed", (0.2, 0.2)),
        ("printed", (0.0, 0.3)),
        ("printed", (0.2, 0.6)),
    ],
)
def test_the_ap_attempts_at_the_rate_of_its_failures(balance, errors):
    """The AP's mean failure probability is weighted by the shares of the classes, as printed. To
    test the weights, the classes have different shares.
    """
    shares = np.array([0.7, 0.3])
    options = replace(PAPER, ack_balance=balance)
    solution = solve(cell(errors, attempts=8), shares, np.array([1.0, 0.9]), options)
    assert solution.ap_failure == pytest.approx(shares @ solution.ap_failures)
    assert solution.ap_attempts == pytest.approx(attempt_prob(solution.ap_failure, EIGHT_ATTEMPTS))


def test_a_layer_that_does_not_settle_is_an_error(monkeypatch):
    monkeypatch.setattr(contention, "ROUNDS", 3)
    with pytest.raises(ConvergenceError, match="do not settle"):
        solve(cell(), np.full(2, 0.5), np.ones(2), Options())


@pytest.mark.smoke(1)
@pytest.mark.parametrize("classes", [1, 2, 4])
def test_one_and_a_half_stations_contend_if_counters_are_forgotten(classes):
    """Claim vbs-18: at the end of an exchange 1.5 stations contend, for any number of stations, if
    collisions are ignored.

    A frozen counter that continues is shorter than a new backoff of the AP, so that fewer stations
    contend.
    """
    forgetful, real = (SlotProcess((0.0,) * classes, 8, True, seed=1) for _ in range(2))
    forgetful.forgetful = True
    means = [np.mean(process.run(10_000).at_ends) for process in (forgetful, real)]
    assert means[0] == pytest.approx(1.5, abs=0.1)
    assert means[1] == pytest.approx(1.32, abs=0.06)
