"""Adaptive access in slots: two saturated neighbours, compared with the exact solution of their
Markov chain.
"""

import numpy as np
import pytest

import lasthop as lh

MOST = 200
"""Largest number of slots of a backoff. Longer backoffs are negligibly improbable."""

SERVICE_PPS, SLOT_S = 600.0, 20e-6


def draws(mean_slots: float) -> np.ndarray:
    """Return the probability of each number of slots. The backoff is an exponential time, rounded
    to the nearest slot.
    """
    edges = np.concatenate([[0.0], np.arange(MOST) + 0.5])
    beyond = np.exp(-edges / mean_slots)
    p = beyond[:-1] - beyond[1:]
    p[-1] += beyond[-1]
    return p


def by_chain(mean_slots: float, difs_s: float, longer_slots: int) -> tuple[float, float]:
    """Return the exchanges per second that succeed, and the fraction of attempts that collide.

    The state of the chain is the number of remaining slots of the node that did not send. After a
    collision the state is 0, and both nodes draw a new backoff. After a success, the sender draws a
    new backoff and waits for DIFS. The other node waits `longer_slots` more than DIFS.
    """
    p = draws(mean_slots)
    move = np.zeros((MOST, MOST))
    idle_slots, successes, collisions = np.zeros(MOST), np.zeros(MOST), np.zeros(MOST)
    for state in range(MOST):
        # The last sender draws `mine` slots. The other node has `other` slots with probability `q`.
        others = [(state, 1.0)] if state else list(enumerate(p))
        late = longer_slots if state else 0
        for other, q in others:
            for mine in np.flatnonzero(p > 1e-12):
                weight = q * p[mine]
                if mine == other + late:
                    collisions[state] += weight
                    idle_slots[state] += weight * mine
                    move[state, 0] += weight
                elif mine < other + late:
                    left = other - max(mine - late, 0)
                    successes[state] += weight
                    idle_slots[state] += weight * mine
                    move[state, left] += weight
                else:
                    successes[state] += weight
                    idle_slots[state] += weight * (other + late)
                    move[state, mine - other - late] += weight
    stationary = np.linalg.solve(
        np.vstack([(move.T - np.eye(MOST))[:-1], np.ones(MOST)]), np.eye(MOST)[-1]
    )
    cycle_s = difs_s + 1 / SERVICE_PPS + SLOT_S * stationary @ idle_slots
    won, lost = stationary @ successes, stationary @ collisions
    return won / (won + lost) / cycle_s, 2 * lost / (won + 2 * lost)


@pytest.mark.parametrize(
    ("mean_slots", "difs_us", "longer_slots"), [(4, 0, 0), (11, 50, 0), (11, 50, 15)]
)
def test_two_neighbours_collide_as_often_as_in_their_chain(mean_slots, difs_us, longer_slots):
    exponent = np.log(1 / SERVICE_PPS / (mean_slots * SLOT_S))
    eifs_us = difs_us + 20 * longer_slots
    result = lh.simulate(
        f"""
        duration = "60 s"
        warmup = "1 s"
        replications = 4
        [csma]
        service_rate = {SERVICE_PPS}
        slotted = true
        difs = "{difs_us} us"
        eifs = "{eifs_us} us"
        beta = 1
        aqm = false
        attempts = 255
        link.one = {{ conflicts = ["two"], r = {exponent:.12g} }}
        link.two = {{ r = {exponent:.12g} }}
        [flow]
        a = {{ route = ["one"], udp = {{ rate = "greedy", packet = "1000 B" }} }}
        b = {{ route = ["two"], udp = {{ rate = "greedy", packet = "1000 B" }} }}
        """
    )
    successes, collided = by_chain(mean_slots, difs_us * 1e-6, longer_slots)
    sent_pps = result.flows["goodput_bps"].sum() / 8000
    assert sent_pps == pytest.approx(successes, rel=0.01)
    attempts_pps = result.links["airtime_fraction"].sum() * SERVICE_PPS
    assert 1 - sent_pps / attempts_pps == pytest.approx(collided, rel=0.05)
