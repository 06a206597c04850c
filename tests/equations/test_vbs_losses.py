"""Bursts of losses, and the loss events of a flow: by hand and by simulation."""

import math

import numpy as np
import pytest

from lasthop.models.vbs.losses import (
    MAX_LOST,
    Episodes,
    in_episodes,
    independent,
    losses_in_episode,
)
from lasthop.models.vbs.rounds import Timer, respond

COUNTS = np.arange(MAX_LOST + 1)


def test_losses_in_an_episode_by_hand():
    """In an episode, the additional packet is lost with probability 0.4. The number of other losses
    is Poisson with mean 0.5.
    """
    probs = losses_in_episode(np.array([0.4]), np.array([0.5]))[:, 0]
    assert probs[0] == pytest.approx(0.6 * math.exp(-0.5))
    assert probs[1] == pytest.approx((0.4 + 0.6 * 0.5) * math.exp(-0.5))
    assert probs.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("own", [0.3, 1.0, 2.6])
def test_losses_in_an_episode_have_the_mean_of_the_parameters(own):
    probs = losses_in_episode(np.array([own, 0.3]), np.array([0.7, 0.2]))
    assert COUNTS @ probs[:, 0] == pytest.approx(own + 0.7, rel=1e-6)
    assert COUNTS @ probs[:, 1] == pytest.approx(0.5)


def test_hazard_in_episodes_by_hand():
    """A window of 10 packets has 0.1 episodes per round trip. In an episode, a loss occurs with
    probability q. Therefore each packet is lost at the buffer with probability 0.1 q / 10. The
    probability that the MAC discards a packet is added.
    """
    hazard = in_episodes(np.array([10.0]), np.ones(1), 0.002, Episodes(0.1, 0.4, 0.05))
    hit = 1 - 0.6 * math.exp(-0.5)
    assert hazard.loss[0] == pytest.approx(0.002 + 0.01 * hit)
    assert hazard.overflow[0] == pytest.approx(0.01 * hit / hazard.loss[0])
    assert hazard.lost.sum() == pytest.approx(1.0)
    # A loss event at the buffer loses (0.4 + 0.5)/q packets on average.
    assert hazard.overflow_losses[0] == pytest.approx(hazard.overflow[0] * 0.9 / hit)


@pytest.mark.equation("vbs", 19)
def test_independent_losses_by_hand():
    hazard = independent(np.array([10.0]), 0.01, 0.02)
    assert hazard.loss[0] == pytest.approx(0.02 + 0.98 * 0.01)  # loss probability p_m of eq. (19)
    mean = (np.arange(MAX_LOST) + 1) @ hazard.lost[:, 0]
    assert mean == pytest.approx(1 + 10 * hazard.loss[0])


def test_timeouts_in_a_row_double_six_times():
    assert Timer(1.5, 0.0).timeout() == 1.5
    p = 0.5  # Probability of one more timeout. Timeout k of a sequence lasts 2^(k-1), at most 64.
    rows = range(1, 200)
    waits = [sum(min(2**j, 64) for j in range(k)) for k in rows]
    mean = sum(p ** (k - 1) * (1 - p) * wait for k, wait in zip(rows, waits, strict=True))
    assert Timer(1.0, p).timeout() == pytest.approx(mean)


@pytest.mark.parametrize(("rto", "holes"), [(1.3, 2), (2.4, 3), (6.3, 7)])
def test_the_first_partial_ack_restarts_the_timer_once(rto, holes):
    """After the first partial ACK the timer runs for `rto` round trips. The recovery of each
    further hole takes one round trip.
    """
    assert Timer(rto, 0.0).in_time(np.array([holes, holes + 1.0])) == pytest.approx([1.0, 0.0])
    assert Timer(holes - 1.0, 0.0).in_time(np.array([float(holes)])) == pytest.approx([0.5])


def test_without_losses_the_window_is_the_receivers():
    hazard = independent(np.arange(1.0, 46.0), 0.0, 0.0)
    response = respond(np.ones(45), 0.5, hazard, Timer(1.3, 0.0))
    assert response.sent == pytest.approx(45.0, rel=1e-3)
    assert response.cwnd == pytest.approx(45.0, rel=1e-3)


def walk(limit, loss, rto, events, seed):
    """Simulate one flow packet by packet: growth, loss detection, recovery of each loss, and
    timeouts.
    """
    rng = np.random.default_rng(seed)
    window, sent, rounds, growing, reached_at, timeouts, lost_sum = 6, 0.0, 0.0, 0.0, [], 0, 0
    again = False
    for _ in range(events):
        while not again:
            needed = window + 0.5
            # The window grows by one after `needed` packets.
            # `first` is the number of packets until a loss, or infinite without a loss before.
            first = rng.geometric(loss) if rng.random() > (1 - loss) ** needed else math.inf
            while needed + 1 <= first < math.inf:
                first = rng.geometric(loss)
            if first < math.inf:
                sent, rounds = sent + first, rounds + first / window
                growing += first / window
                break
            sent, rounds, growing = (
                sent + needed,
                rounds + needed / window,
                growing + needed / window,
            )
            window = min(window + 1, limit)
        reached = min(window + 1, limit)
        reached_at.append(reached)
        lost = 1 + rng.poisson(window * loss)
        lost_sum += lost
        half = max(reached / 2, 2.0)
        sent, rounds, growing = sent + reached, rounds + 1, growing + 1
        rounds += 3 / reached
        repaired = lost <= int(1 + rto) and reached - lost >= 3
        repaired &= rng.random() < (1 - loss) ** lost
        if repaired:
            extra = lost * max(half - lost + 1, 1)
            rounds += lost
        else:
            timeouts += 1
            extra = half
            sent += half
            tries = rng.geometric(1 - loss)
            rounds += 1 + rto * sum(min(2**k, 64) for k in range(tries)) + math.log2(half)
        sent += extra
        window = int(half) + (half % 1 > 0 and rng.random() < 0.5)
        again = rng.random() < 1 - (1 - loss) ** extra
    return (
        sent / rounds,
        growing / rounds,
        np.mean(reached_at),
        timeouts / events,
        lost_sum / events,
    )


@pytest.mark.smoke(1)
@pytest.mark.parametrize(("loss", "limit"), [(0.01, 45), (0.03, 45), (0.003, 25), (0.2, 45)])
def test_a_flow_against_a_walk_through_its_losses(loss, limit):
    levels = np.arange(1.0, limit + 1)
    hazard = independent(levels, loss, 0.0)
    response = respond(np.ones(limit), 0.5, hazard, Timer(1.3, loss))
    sent, growing, _, timeouts, lost = walk(limit, loss, 1.3, 30_000, seed=3)
    assert response.sent == pytest.approx(sent, rel=0.03)
    assert response.growing == pytest.approx(growing, rel=0.03)
    # There are at least 700 timeouts, so that the 95 % interval is within 8 %.
    assert response.timeouts == pytest.approx(timeouts, rel=0.09)
    assert response.losses_per_event == pytest.approx(lost, rel=0.02)


def test_delayed_acks_halve_the_growth_and_cost_a_third_of_the_window():
    """By the square-root law, the window W is proportional to 1/sqrt(b) with b segments per ACK."""
    hazard = independent(np.arange(1.0, 46.0), 0.01, 0.0)
    every, delayed = (
        respond(np.full(45, 1 / b), 0.5, hazard, Timer(1.3, 0.01)).sent for b in (1, 2)
    )
    assert delayed / every == pytest.approx(1 / math.sqrt(2), rel=0.08)
