"""Eqs. (1) to (4) of paper 000 for the window and its Markov chain. The results are checked by hand
and by a second method of solution.
"""

from dataclasses import replace

import numpy as np
import pytest

from lasthop.models.vbs.chain import visits
from lasthop.models.vbs.window import (
    WindowGrowth,
    climb_prob,
    increase_per_rtt,
    mean_window,
    window_chain,
)

GROWTH = WindowGrowth(45, alpha=0.125, kappa=0.75, beta=0.5, gamma=30.0, segments_per_ack=1)


def loss_for_window(mean, target):
    """Return the loss probability at which the decreasing function `mean` has the value `target`.
    The probability is found by bisection. [-]
    """
    low, high = 0.0, 1.0 - 1e-9
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mean(middle) > target else (low, middle)
    return 0.5 * (low + high)


def at(window, variant, growth=GROWTH, queued=0.0):
    increase = increase_per_rtt(growth, np.array([float(window)]), queued, variant)
    return float(increase[0])


@pytest.mark.equation("vbs", 1)
def test_growth_is_renos_below_sixteen_packets_and_where_gamma_packets_wait():
    assert at(10, "engine") == 1.0
    assert at(81, "engine") == pytest.approx(0.125 * 27)
    assert at(81, "engine", queued=0.4) == 1.0  # 32.4 packets wait, more than gamma = 30
    assert at(81, "engine", replace(GROWTH, alpha=0.0)) == 1.0
    assert at(81, "compound", replace(GROWTH, alpha=0.0)) == 1.0  # Reno's growth, in every variant


@pytest.mark.equation("vbs", 2)
def test_eq_2_as_printed_is_the_gain_of_a_round_trip_taken_per_ack():
    assert at(16, "compound") == pytest.approx(1.0)
    assert at(16, "printed") == pytest.approx(16.0)
    # delayed ACKs (footnote 2)
    assert at(16, "engine", replace(GROWTH, segments_per_ack=2)) == pytest.approx(0.5)


@pytest.mark.equation("vbs", 3)
def test_the_window_climbs_if_all_packets_of_the_step_arrive():
    assert climb_prob(0.1, np.array([0.5, 0.25])) == pytest.approx([0.9**2, 0.9**4])


@pytest.mark.equation("vbs", 3)
def test_three_windows_by_hand():
    """Half of all visits of a window end in a loss. Losses at window 3 cross the cut between 2 and
    3. Losses at windows 2 and 3 cross the cut between 1 and 2.
    """
    grown = visits(np.full(3, 0.5), np.ones(3), np.zeros(3)).grown
    assert grown / grown.sum() == pytest.approx([2 / 4, 1 / 4, 1 / 4])


def transition_matrix(up, landing, again):
    """Return the transition matrix over the states: growth at windows 1..n, then loss events at
    windows 1..n.
    """
    n = len(up)
    matrix = np.zeros((2 * n, 2 * n))
    for k in range(n):
        matrix[k, min(k + 1, n - 1)] += up[k]
        matrix[k, n + k] += 1 - up[k]
        for window in (np.floor(landing[k]), np.ceil(landing[k])):
            to = int(window) - 1
            matrix[n + k, to] += 0.5 * (1 - again[to])
            matrix[n + k, n + to] += 0.5 * again[to]
    return matrix


@pytest.mark.equation("vbs", 3)
@pytest.mark.parametrize("size", [5, 45])
def test_visits_are_the_stationary_distribution_of_the_transition_matrix(size):
    rng = np.random.default_rng(size)
    up = rng.uniform(0.2, 0.95, size)
    landing = np.maximum(np.arange(1, size + 1) / 2, 1.0)
    again = rng.uniform(0.0, 0.6, size)
    matrix = transition_matrix(up, landing, again)
    system = matrix.T - np.eye(2 * size)
    system[-1] = 1.0
    exact = np.linalg.solve(system, np.eye(2 * size)[-1])
    visited = visits(up, landing, again)
    both = np.concatenate([visited.grown, visited.events])
    assert both / both.sum() == pytest.approx(exact, rel=1e-9)


def test_visits_survive_windows_that_are_next_to_never_reached():
    visited = visits(np.full(400, 1e-9), np.ceil(np.arange(1, 401) / 2), np.zeros(400))
    assert np.isfinite(visited.grown).all()
    assert visited.grown[0] / visited.grown.sum() == pytest.approx(1.0)


@pytest.mark.equation("vbs", 4)
def test_mean_windows_against_a_walk_through_the_chain():
    """The mean over jumps counts the visits of each window. The mean over time weights a window by
    the number of round trips that it lasts.
    """
    rng = np.random.default_rng(4)
    loss, limit = 0.03, 20
    windows = np.arange(1.0, limit + 1)
    delta = np.maximum(1.0, 0.125 * windows**0.75) / windows
    window, visited, packets, rounds = 5, [], 0.0, 0.0
    for _ in range(60_000):
        visited.append(window)
        needed = 1 / delta[window - 1]
        survived = rng.random() < (1 - loss) ** needed
        # Random number of packets until the loss, if the loss occurs before the window grows.
        lost_at = np.log1p(-rng.random() * (1 - (1 - loss) ** needed)) / np.log1p(-loss)
        sent = needed if survived else lost_at
        packets, rounds = packets + sent, rounds + sent / window
        window = min(window + 1, limit) if survived else int(np.ceil(window / 2))
    assert mean_window(loss, delta, "jumps") == pytest.approx(np.mean(visited), rel=0.015)
    assert mean_window(loss, delta, "time") == pytest.approx(packets / rounds, rel=0.015)


@pytest.mark.equation("vbs", 4)
def test_the_mean_over_jumps_is_not_the_mean_over_time():
    """If ten connections share a hundred packets, the mean of the printed formula is 2.7 % too
    large.
    """
    windows = np.arange(1.0, 46.0)
    delta = np.maximum(1.0, 0.125 * windows**0.75) / windows
    jumps, time = (mean_window(0.0171, delta, mean) for mean in ("jumps", "time"))
    assert jumps / time == pytest.approx(1.027, abs=0.002)


def test_without_loss_the_window_is_the_receivers():
    assert mean_window(0.0, np.ones(45), "jumps") == 45.0


def test_a_loss_is_found_for_each_window():
    delta = 1 / np.arange(1.0, 46.0)
    loss = loss_for_window(lambda p: mean_window(p, delta, "time"), 10.0)
    assert mean_window(loss, delta, "time") == pytest.approx(10.0)
    assert loss == pytest.approx(0.0163, abs=2e-4)
    assert window_chain(loss, delta).grown.argmax() + 1 in range(8, 13)
