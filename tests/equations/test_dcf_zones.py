"""Saturated cell of 802.11e: special cases, small cells computed by hand, and a separate Monte
Carlo.
"""

import random
from dataclasses import replace
from itertools import product
from math import prod

import pytest

from lasthop.models.dcf import bianchi, zones
from lasthop.models.dcf.saturation import Contender
from lasthop.models.dcf.zones import Category

SLOT, SIFS, LEAD = 20e-6, 10e-6, 314e-6
FRAME, EXCHANGE = 1.3e-3, 1.6e-3


def category(node: str, cwmin: int = 31, aifsn: int = 2, priority: int = 1, **other) -> Category:
    contender = Contender(cwmin, 1023, 7, FRAME, EXCHANGE, 1500)
    return Category(replace(contender, **other), aifsn, 1, node, priority)


def solve(categories):
    return zones.solve(categories, SLOT, SIFS, LEAD)


@pytest.mark.parametrize("cwmins", [(31,) * 5, (15, 15, 31, 63), (7, 255)])
def test_equal_aifsn_is_bianchis_cell(cwmins):
    solution = solve([category(str(k), cwmin) for k, cwmin in enumerate(cwmins)])
    aifs = SIFS + 2 * SLOT
    nodes = [Contender(cwmin, 1023, 7, FRAME, EXCHANGE + aifs, 1500) for cwmin in cwmins]
    expected = bianchi.solve(nodes, SLOT, LEAD + aifs)
    assert solution.goodput_bps == pytest.approx(expected.goodput_bps, rel=1e-9)
    assert solution.failure_prob == pytest.approx(expected.failure_prob, rel=1e-9)


def test_a_later_aifs_of_all_costs_slots_only():
    cells = [solve([category("a", aifsn=n), category("b", aifsn=n)]) for n in (2, 4, 7)]
    assert cells[0].attempt_prob == cells[1].attempt_prob == cells[2].attempt_prob
    per_bit = [1 / solution.goodput_bps[0] for solution in cells]
    # Compared with AIFSN 2, each transmission is preceded by two more slots with AIFSN 4, and by
    # five more slots with AIFSN 7.
    assert (per_bit[2] - per_bit[0]) / (per_bit[1] - per_bit[0]) == pytest.approx(2.5)


def test_opportunities_carry_packets_without_changing_contention():
    plain = solve([category("a"), category("b")])
    burst = category("a", payload_bytes=3 * 1500, success_s=3 * EXCHANGE + 2 * SIFS)
    solution = solve([replace(burst, packets=3), category("b")])
    assert solution.failure_prob == pytest.approx(plain.failure_prob)
    assert solution.packet_rate[0] == pytest.approx(3 * solution.packet_rate[1])
    assert solution.goodput_bps[0] == pytest.approx(3 * solution.goodput_bps[1])


def outcomes(categories, taus):
    """Yield all outcomes of an idle period of up to 60 slots: probability, slot, and senders."""
    first = min(member.aifsn for member in categories)
    reached = 1.0
    for slot in range(60):
        own = [
            tau if member.aifsn - first <= slot else 0.0
            for member, tau in zip(categories, taus, strict=True)
        ]
        silent = prod(1 - tau for tau in own)
        for sends in product((False, True), repeat=len(categories)):
            if any(sends):
                chance = prod(tau if s else 1 - tau for s, tau in zip(sends, own, strict=True))
                if chance > 0:
                    yield reached * chance, slot, sends
        reached *= silent


def test_failures_against_a_list_of_all_outcomes():
    cell = [category("a", 7), category("b", 15, aifsn=4), category("c", 15, aifsn=7)]
    taus = [0.3, 0.15, 0.4]
    probs = zones.failure_probs(cell, taus)
    for k in range(3):
        tries = sum(p for p, _, sends in outcomes(cell, taus) if sends[k])
        failed = sum(p for p, _, sends in outcomes(cell, taus) if sends[k] and sum(sends) > 1)
        assert probs[k] == pytest.approx(failed / tries, rel=1e-4)


def test_the_higher_category_of_a_node_does_not_fail_in_an_internal_collision():
    cell = [category("ap", 7, priority=2), category("ap", 15), category("sta", 15)]
    taus = [0.3, 0.15, 0.2]
    high, low, sta = zones.failure_probs(cell, taus)
    assert high == pytest.approx(0.2)  # sent by the station only
    assert low == pytest.approx(1 - 0.7 * 0.8)
    assert sta == pytest.approx(1 - 0.7 * 0.85)


def monte_carlo(categories, seed, transmissions=80_000):
    """Return the goodput of nodes whose backoff counters count every slot that the node may use.
    [bit/s]
    """
    rng = random.Random(seed)
    first = min(member.aifsn for member in categories)
    offset = [member.aifsn - first for member in categories]
    windows = [member.contender.windows() for member in categories]
    stage = [0] * len(categories)
    counter = [rng.randint(0, window[0]) for window in windows]
    clock, sent = 0.0, [0] * len(categories)
    for _ in range(transmissions):
        ends = [count + late for count, late in zip(counter, offset, strict=True)]
        now = min(ends)
        ready = [k for k, end in enumerate(ends) if end == now]
        on_air = [
            k
            for k in ready
            if not any(
                categories[j].node == categories[k].node
                and categories[j].priority > categories[k].priority
                for j in ready
            )
        ]
        won = on_air[0] if len(on_air) == 1 else None
        clock += SIFS + (first + now) * SLOT + (FRAME + LEAD if won is None else EXCHANGE)
        for k, late in enumerate(offset):
            if k in ready:
                if k == won or stage[k] == len(windows[k]) - 1:
                    sent[k] += k == won
                    stage[k] = 0
                else:
                    stage[k] += 1
                counter[k] = rng.randint(0, windows[k][stage[k]])
            elif now >= late:  # The slot in which other nodes begin to send is counted too.
                counter[k] -= now - late + 1
    return [8 * 1500 * count / clock for count in sent]


@pytest.mark.parametrize("seeds", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.smoke(1)
@pytest.mark.parametrize(
    "cell",
    [
        [category(f"a{k}", 15) for k in range(4)] + [category(f"b{k}", 31) for k in range(4)],
        [category(f"a{k}") for k in range(4)] + [category(f"b{k}", aifsn=4) for k in range(4)],
        [category("ap", 15, priority=2), category("ap", 31)]
        + [category(f"b{k}", 31) for k in range(3)],
    ],
    ids=["windows", "aifsn", "internal"],
)
def test_real_counters_share_as_independent_attempts_do(cell, seeds):
    def kind(member):
        return member.contender.cwmin, member.aifsn, member.priority

    runs = [monte_carlo(cell, seed) for seed in range(seeds)]
    theory = solve(cell).goodput_bps
    for which in {kind(member) for member in cell}:
        members = [k for k, member in enumerate(cell) if kind(member) == which]
        simulated = sum(run[k] for run in runs for k in members) / len(runs)
        assert simulated == pytest.approx(sum(theory[k] for k in members), rel=0.02)
