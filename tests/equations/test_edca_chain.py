from dataclasses import replace
from itertools import product as every
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lasthop.models.access import Access
from lasthop.models.edca import full, levels
from lasthop.models.edca.arrangements import log_arrangements
from lasthop.models.edca.contention import contend
from lasthop.models.edca.elimination import eliminated
from lasthop.models.edca.full import build, solve_full, state_count, states
from lasthop.models.edca.levels import eliminate
from lasthop.models.edca.lumped import solve_lumped
from lasthop.models.edca.options import Options
from lasthop.models.edca.pifs import solve_pifs
from lasthop.models.edca.product import constant_odds, solve_product


def contention(stations, ap=31, station=31):
    ap = ap if isinstance(ap, Access) else Access(ap)
    return contend(stations, Access(station), ap, Options())


def matrix(counts, chain):
    """Return the chain's transition matrix, from powers of the AP's matrix for one packet (eqs.
    23-25).
    """
    one_packet, down = chain.one_packet.toarray(), chain.station_burst.toarray()
    at_ap = counts @ np.arange(counts.shape[1])[::-1]
    steps = np.zeros_like(one_packet)
    for k in range(len(counts)):
        burst = min(chain.ap_packets, at_ap[k])
        rise = np.linalg.matrix_power(one_packet, int(burst))[k] if burst else np.zeros(len(counts))
        steps[k] = chain.ap_wins[k] * rise + (1 - chain.ap_wins[k]) * down[k]
    return steps


def stationary(steps):
    """Return the stationary distribution, by solving the balance equations with least squares."""
    size = len(steps)
    system = np.vstack([steps.T - np.eye(size), np.ones(size)])
    return np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)[0]


def spread(solution):
    """Return the probability of each pair (number of active stations, number of their packets).
    Pairs with a probability below 1e-15 are omitted.
    """
    triples = zip(
        solution.active.tolist(), solution.at_stations.tolist(), solution.prob, strict=True
    )
    return {(eta, k): prob for eta, k, prob in triples if prob > 1e-15}


def distance(a, b):
    a, b = spread(a), spread(b)
    return sum(abs(a.get(state, 0.0) - b.get(state, 0.0)) for state in a.keys() | b.keys())


@pytest.mark.equation("edca", 2)
def test_seven_stations_with_window_four_have_330_states():
    counts = states(7, 4)
    assert len(counts) == state_count(7, 4) == 330
    assert np.all(counts.sum(axis=1) == 7)
    assert len(np.unique(counts, axis=0)) == 330


@pytest.mark.equation("edca", 5)
@pytest.mark.equation("edca", 8)
@pytest.mark.equation("edca", 10)
def test_transitions_around_state_two_of_figure_three():
    counts = states(7, 4)
    numbered = {tuple(state): k for k, state in enumerate(counts.tolist())}
    at = contention(7, ap=15)
    steps = matrix(counts, build(counts, at, 1, 1)[0])
    two = numbered[5, 2, 0, 0, 0]
    leads_to = {tuple(counts[m].tolist()): steps[two, m] for m in np.flatnonzero(steps[two])}
    ap = at.ap_wins[2]
    assert leads_to == pytest.approx(
        {
            (6, 1, 0, 0, 0): 1 - ap,  # a station has sent its only packet
            # The AP sends to one of five inactive stations, each with four packets in the AP's
            # queue.
            (4, 3, 0, 0, 0): ap * 5 * 4 / 26,
            # The AP sends to one of two active stations, each with three packets in the AP's queue.
            (5, 1, 1, 0, 0): ap * 2 * 3 / 26,
        }
    )


@pytest.mark.equation("edca", 23)
@pytest.mark.equation("edca", 25)
def test_two_paths_of_a_burst_add_up():
    # The AP sends two packets on the way from the state `start` to the state `end`. The first
    # packet is for an inactive station or for the active station.
    counts = states(7, 4)
    numbered = {tuple(state): k for k, state in enumerate(counts.tolist())}
    chain = build(counts, contention(7), 2, 1)[0]
    start, end = numbered[6, 1, 0, 0, 0], numbered[5, 1, 1, 0, 0]
    by_hand = (24 / 27) * (2 * 3 / 26) + (3 / 27) * (24 / 26)
    assert (chain.one_packet @ chain.one_packet)[start, end] == pytest.approx(by_hand)


@pytest.mark.equation("edca", 26)
def test_a_station_sends_up_to_its_limit():
    counts = states(3, 4)
    numbered = {tuple(state): k for k, state in enumerate(counts.tolist())}
    chain = build(counts, contention(3), 1, 2)[0]
    # Each of the three active stations wins with probability 1/3, and sends up to two packets.
    row = chain.station_burst.toarray()[numbered[0, 1, 0, 1, 1]]
    assert row[numbered[1, 0, 0, 1, 1]] == pytest.approx(1 / 3)  # its only packet
    assert row[numbered[0, 2, 0, 0, 1]] == pytest.approx(1 / 3)  # two of its three packets
    assert row[numbered[0, 1, 1, 1, 0]] == pytest.approx(1 / 3)  # two of its four packets


@pytest.mark.parametrize(("ap_txop", "station_txop"), [(1, 1), (2, 1), (1, 2), (3, 2), (9, 9)])
@pytest.mark.parametrize(("ap", "station"), [(31, 31), (3, 31), (31, 7)])
def test_full_chain_against_its_dense_matrix(ap, station, ap_txop, station_txop):
    counts = states(3, 3)
    at = contention(3, ap, station)
    chain, active, at_stations = build(counts, at, ap_txop, station_txop)
    prob = stationary(matrix(counts, chain))
    probs = spread(solve_full(3, 3, at, ap_txop, station_txop))
    for (eta, k), mine in probs.items():
        assert mine == pytest.approx(prob[(active == eta) & (at_stations == k)].sum(), abs=1e-12)


def test_one_station_with_window_one_alternates():
    for probs in (solve_full(1, 1, contention(1, 7)), solve_product(1, 1, 3.7)):
        assert spread(probs) == pytest.approx({(0, 0): 0.5, (1, 1): 0.5})


def test_one_station_with_window_two_by_hand():
    # The states have 0, 1 and 2 packets at the stations. In state 1 the AP wins with probability r
    # / (r + 1).
    r = contention(1, 7).odds[0]
    probs = spread(solve_full(1, 2, contention(1, 7)))
    assert probs[0, 0] == pytest.approx(0.5 / (r + 1))
    assert probs[1, 1] == pytest.approx(0.5)
    assert probs[1, 2] == pytest.approx(0.5 * r / (r + 1))


@given(st.integers(1, 6), st.integers(1, 5), st.sampled_from([1, 15, 255]))
@settings(max_examples=15, deadline=None)
def test_product_form_is_the_full_chain_for_equal_parameters(stations, window, cwmin):
    at = contention(stations, cwmin, cwmin)
    product = solve_product(stations, window, constant_odds(at))
    assert distance(product, solve_full(stations, window, at)) < 1e-12
    assert distance(product, solve_lumped(stations, window, at)) < 1e-12


def test_product_form_for_any_constant_odds():
    # The odds in this chain are given numbers, and do not follow from a backoff.
    at = contention(4)
    r = 2.7
    wins = np.append(r / (r + at.active[:-1]), 0.0)
    success = at.success
    at = replace(at, ap_success=wins * success, station_success=(1.0 - wins) * success)
    assert constant_odds(at) == pytest.approx(r)
    assert distance(solve_product(4, 5, r), solve_full(4, 5, at)) < 1e-12


def test_product_form_satisfies_detailed_balance_state_by_state():
    stations, window, r = 3, 4, 1.7

    def weight(n):
        ways = factorial(stations * window - sum(n)) / prod(factorial(window - x) for x in n)
        return (r * (sum(n) < stations * window) + sum(x > 0 for x in n)) * r ** sum(n) * ways

    for n in every(range(window + 1), repeat=stations):
        for s in range(stations):
            if n[s] == window:
                continue
            m = (*n[:s], n[s] + 1, *n[s + 1 :])
            at_ap = stations * window - sum(n)
            active = sum(x > 0 for x in n)
            rise = r / (r + active) * (window - n[s]) / at_ap
            falls = 1 / (r * (sum(m) < stations * window) + sum(x > 0 for x in m))
            assert weight(n) * rise == pytest.approx(weight(m) * falls)


def test_odds_of_unequal_windows_have_no_product_form():
    assert constant_odds(contention(7, 3, 31)) is None
    assert constant_odds(contention(7, Access(0, 0, aifsn=1))) is None


@pytest.mark.parametrize(
    ("stations", "window", "ap", "station"),
    [(7, 4, 31, 7), (7, 4, 3, 31), (7, 4, 3, 15), (4, 8, 7, 31), (5, 6, 15, 63), (2, 20, 7, 15)],
)
def test_lumped_chain_is_close_to_the_full_one(stations, window, ap, station):
    at = contention(stations, ap, station)
    full, lumped = solve_full(stations, window, at), solve_lumped(stations, window, at)
    assert distance(full, lumped) < 2e-4


def test_lumped_chain_leaves_out_only_negligible_states():
    at = contention(60, 7, 31)
    narrow = solve_lumped(60, 42, at)
    assert narrow.at_stations.max() < 200 < 60 * 42
    wide = solve_product(60, 42, 1.0)
    assert wide.at_stations.max() < 200
    assert abs(narrow.prob.sum() - 1) < 1e-12


def test_arrangements_against_counting():
    table = log_arrangements(4, 3, 12)
    for eta in range(5):
        for k in range(13):
            ways = sum(
                prod(1 / factorial(3 - n) for n in queues)
                for queues in every((1, 2, 3), repeat=eta)
                if sum(queues) == k
            )
            assert np.exp(table[eta, k]) == pytest.approx(ways, rel=1e-12)


def test_arrangements_beyond_the_range_of_floating_point():
    table = log_arrangements(200, 42, 8400)
    assert table[200, 8400] == pytest.approx(0.0, abs=1e-9)
    assert table[200, 200] == pytest.approx(-200 * sum(np.log(np.arange(1, 42))), rel=1e-12)
    assert table[200, 200] < -20_000
    # The AP's queue lacks one packet of each of the 200 stations, and two more packets. The two
    # packets belong to one station (first term) or to two stations (second term).
    at_one, at_two = -sum(np.log(np.arange(1, 40))), -sum(np.log(np.arange(1, 41)))
    first = -sum(np.log(np.arange(1, 42)))
    terms = [
        np.log(200) + at_one + 199 * first,
        np.log(200 * 199 / 2) + 2 * at_two + 198 * first,
    ]
    assert table[200, 202] == pytest.approx(np.logaddexp(*terms), rel=1e-12)


@given(st.integers(1, 3), st.integers(1, 3), st.integers(4, 12), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_elimination_against_least_squares(down, up, size, seed):
    steps = np.random.default_rng(seed).random((size, size))
    offset = np.subtract.outer(np.arange(size), np.arange(size)).T
    steps[(offset < -down) | (offset > up)] = 0.0
    steps /= steps.sum(axis=1, keepdims=True)
    band = np.zeros((size, down + up + 1))
    for state in range(size):
        for d in range(-down, up + 1):
            if 0 <= state + d < size:
                band[state, d + down] = steps[state, state + d]
    assert eliminate(band, down) == pytest.approx(stationary(steps), abs=1e-12)


@pytest.mark.parametrize("bursts", [(1, 1), (4, 2)])
@pytest.mark.parametrize("small", [0, levels.SMALL])
def test_balancing_level_by_level_against_elimination(monkeypatch, bursts, small):
    monkeypatch.setattr(levels, "SMALL", small)
    for cell in ((5, 4), (7, 3)):
        counts = states(*cell)
        chain, _, _ = build(counts, contention(cell[0], ap=15), *bursts)
        settled = levels.stationary(chain, np.ones(len(counts)))
        assert eliminated(chain, reference=0) == pytest.approx(settled, abs=1e-13)


def test_a_few_hundred_states_need_no_rounds(monkeypatch):
    """A search predicts a hundred cells of this size, so that the solver must be fast."""
    rounds = []
    settle = levels.stationary
    monkeypatch.setattr(full, "stationary", lambda *asked: rounds.append(asked) or settle(*asked))
    at = contention(5, ap=15)
    solve_full(5, 8, at)
    assert rounds == []
    solve_full(5, 8, at, ap_packets=4)
    assert len(rounds) == 1


def test_pifs_path_is_where_the_full_chain_settles():
    at = contention(3, Access(0, 0, aifsn=1))
    for ap_txop, station_txop in every((1, 2, 5), repeat=2):
        counts = states(3, 4)
        chain, active, at_stations = build(counts, at, ap_txop, station_txop)
        prob = stationary(matrix(counts, chain))
        probs = spread(solve_pifs(3, 4, ap_txop, station_txop))
        for (eta, k), mine in probs.items():
            settled = prob[(active == eta) & (at_stations == k)].sum()
            assert mine == pytest.approx(settled, abs=1e-9)
