"""Saturation models, compared with a Monte Carlo of the slot process that they describe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lasthop.models.dcf import bianchi, freezing
from lasthop.models.dcf.saturation import Contender, fixed_point
from lasthop.models.errors import ConvergenceError

SLOT_B, SLOT_G = 20e-6, 9e-6
# Frame with 1472 B of UDP payload at 11 Mb/s: 1536 B on the air. The MAC ACK has 2 Mb/s, DIFS is 50
# us, and EIFS is 364 us.
FRAME_B = 192e-6 + 1536 * 8 / 11e6
NODE_B = Contender(31, 1023, 7, FRAME_B, FRAME_B + 10e-6 + 248e-6 + 50e-6, 1472)
EIFS_B = 364e-6
# Frame with the same payload at 54 Mb/s: 57 symbols. The MAC ACK has 24 Mb/s, DIFS is 28 us, and
# EIFS is 88 us.
FRAME_G = 20e-6 + 57 * 4e-6 + 6e-6
NODE_G = Contender(15, 1023, 7, FRAME_G, FRAME_G + 10e-6 + 34e-6 + 28e-6, 1472)
EIFS_G = 88e-6


def monte_carlo(nodes, slot_s, failed_after_s, busy_periods, seed, freeze):
    """Simulate the slot process with backoff counters; return delivered packets per second and
    failures per attempt.
    """
    rng = np.random.default_rng(seed)
    windows = [node.windows() for node in nodes]
    frame = np.array([node.first_frame_s for node in nodes])
    attempt = np.zeros(len(nodes), dtype=int)
    counter = np.array([rng.integers(0, w[0] + 1) for w in windows])
    delivered = np.zeros(len(nodes))
    attempts = failures = 0
    time_s = 0.0
    for _ in range(busy_periods):
        idle = counter.min()
        senders = np.flatnonzero(counter == idle)
        # Bianchi's backoff counters also count the busy slot; frozen counters do not.
        counter -= idle + (0 if freeze else 1)
        time_s += idle * slot_s
        lone = senders[0]
        attempts += len(senders)
        if len(senders) == 1 and rng.random() >= nodes[lone].error_prob:
            delivered[lone] += 1
            attempt[lone] = 0
            time_s += nodes[lone].success_s
        else:
            failures += len(senders)
            time_s += frame[senders].max() + failed_after_s
            for i in senders:
                attempt[i] = (attempt[i] + 1) % nodes[i].attempts
        for i in senders:
            counter[i] = rng.integers(0, windows[i][attempt[i]] + 1)
    return delivered / time_s, failures / attempts


CELLS = {
    "b-2": ([NODE_B] * 2, SLOT_B, EIFS_B),
    "b-20": ([NODE_B] * 20, SLOT_B, EIFS_B),
    "b-50": ([NODE_B] * 50, SLOT_B, EIFS_B),
    "g-5": ([NODE_G] * 5, SLOT_G, EIFS_G),
    "g-50": ([NODE_G] * 50, SLOT_G, EIFS_G),
    "g-10-errors": ([replace(NODE_G, error_prob=0.3)] * 10, SLOT_G, EIFS_G),
    "g-10-narrow": ([replace(NODE_G, cwmin=6, cwmax=40, attempts=3)] * 10, SLOT_G, EIFS_G),
    "b-mixed-windows": ([NODE_B] * 5 + [replace(NODE_B, cwmin=20)] * 3, SLOT_B, EIFS_B),
    "b-mixed-frames": (
        [NODE_B] * 3 + [replace(NODE_B, first_frame_s=6.3e-3, success_s=6.6e-3)] * 2,
        SLOT_B,
        EIFS_B,
    ),
}


@pytest.mark.smoke(2)
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("model", [bianchi, freezing])
def test_fixed_point_is_within_one_per_cent_of_its_slot_process(cell, model):
    # 60,000 busy periods leave random variations of 0.2 to 0.4 % in the total rate. The other part
    # of the tolerance is for the independence assumption of the fixed point.
    nodes, slot_s, eifs_s = CELLS[cell]
    rates, failure = monte_carlo(nodes, slot_s, eifs_s, 60_000, 2, freeze=model is freezing)
    solved = model.solve(nodes, slot_s, eifs_s)
    assert sum(solved.packet_rate) == pytest.approx(sum(rates), rel=0.01)
    if len(set(nodes)) == 1:
        assert solved.failure_prob[0] == pytest.approx(failure, abs=0.005)


@pytest.mark.smoke(1)
@pytest.mark.parametrize("model", [bianchi, freezing])
def test_a_narrower_window_wins_more_often_by_the_ratio_of_the_model(model):
    nodes, slot_s, eifs_s = CELLS["b-mixed-windows"]
    rates, _ = monte_carlo(nodes, slot_s, eifs_s, 60_000, 3, freeze=model is freezing)
    solved = model.solve(nodes, slot_s, eifs_s).packet_rate
    ratio = (sum(rates[5:]) / 3) / (sum(rates[:5]) / 5)
    assert solved[5] / solved[0] == pytest.approx(ratio, rel=0.02)


def test_a_single_station_never_fails():
    # A packet takes a mean backoff of 15.5 slots of 20 us, then the exchange.
    for model in (bianchi, freezing):
        solved = model.solve([NODE_B], SLOT_B, EIFS_B)
        assert solved.failure_prob == (0.0,)
        assert solved.packet_rate[0] == pytest.approx(1 / (15.5 * SLOT_B + NODE_B.success_s))


@pytest.mark.parametrize(
    ("cell", "ratio"), [("g-5", 0.986), ("g-50", 1.009), ("g-10-narrow", 1.09)]
)
def test_effect_of_the_freezing_rule(cell, ratio):
    # With freezing, a winner may send again without contention, but backoff counters do not count
    # busy slots. The expected ratios come from the Monte Carlo with and without freezing, with
    # 100,000 busy periods each. These ratios are accurate to 0.5 %.
    nodes, slot_s, eifs_s = CELLS[cell]
    with_rule = sum(freezing.solve(nodes, slot_s, eifs_s).packet_rate)
    without = sum(bianchi.solve(nodes, slot_s, eifs_s).packet_rate)
    assert with_rule / without == pytest.approx(ratio, abs=0.008)


def test_discards_follow_the_attempt_limit():
    nodes, slot_s, eifs_s = CELLS["g-10-errors"]
    solved = bianchi.solve(nodes, slot_s, eifs_s)
    assert solved.discard_prob[0] == pytest.approx(solved.failure_prob[0] ** 7)


def test_more_stations_never_raise_the_attempt_probability():
    taus = [bianchi.solve([NODE_B] * n, SLOT_B, EIFS_B).attempt_prob[0] for n in (1, 2, 5, 20, 50)]
    assert taus == sorted(taus, reverse=True)


def test_freezing_refuses_a_node_that_never_lets_go():
    with pytest.raises(ValueError, match="cwmin must be at least 1"):
        freezing.solve([replace(NODE_B, cwmin=0)], SLOT_B, EIFS_B)


def test_a_fixed_point_that_does_not_settle_is_an_error():
    with pytest.raises(ConvergenceError):
        fixed_point(lambda values: [values[0] + 1.0], [0.0], rounds=10)
