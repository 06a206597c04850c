"""Saturated cells with aggregation: special cases, an enumeration of two contenders' states, and
closed forms.
"""

from __future__ import annotations

import doctest
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lasthop.models import aggregates
from lasthop.models.aggregates import contention, saturated
from lasthop.models.aggregates.contention import Backoff
from lasthop.models.aggregates.response import FREQUENCIES, Response, Stages, covariances
from lasthop.models.aggregates.saturated import Aggregator, Exchange
from lasthop.models.dcf import bianchi, freezing
from lasthop.models.dcf.saturation import Contender
from lasthop.models.errors import ConvergenceError, ModelError

SLOT, SIFS, AIFS, WAIT = 9e-6, 16e-6, 43e-6, 48e-6
RULES = ["edca", "dcf"]


def exchange(mpdus: int) -> Exchange:
    ppdu_s = 60e-6 + 11e-6 * mpdus
    return Exchange(ppdu_s, ppdu_s, ppdu_s + SIFS + 32e-6, WAIT, WAIT)


REQUEST = Exchange(32e-6, 32e-6, 32e-6 + SIFS + 32e-6, WAIT, WAIT)
ONE = Aggregator(15, 1023, 7, 64, exchange, 1472, REQUEST)


def solve(contenders, countdown="edca"):
    return saturated.solve(contenders, SLOT, AIFS, countdown)


@pytest.mark.parametrize("windows", [[(15, 1023)] * 5, [(7, 15), (7, 15), (31, 1023)]], ids=str)
@pytest.mark.parametrize(("rule", "model"), [("edca", bianchi), ("dcf", freezing)])
def test_without_covariances_contention_is_that_of_cells_without_aggregates(rule, model, windows):
    contenders = [Backoff(*window, 7, error_prob=0.1) for window in windows]
    nodes = [Contender(*window, 7, 1e-3, 1e-3, 1, error_prob=0.1) for window in windows]
    solution = contention.solve(contenders, rule, correlated=False)
    expected = model.solve(nodes, SLOT, AIFS)
    assert [access.attempt_prob for access in solution.accesses] == pytest.approx(
        expected.attempt_prob, rel=1e-6
    )
    fails = [1 - 0.9 * (1 - access.collision_prob) for access in solution.accesses]
    assert fails == pytest.approx(expected.failure_prob, rel=1e-6)


def two_by_two(windows, countdown):
    """Return the fraction of two contenders' attempts that collide. The fraction is computed from
    all states in which a busy period can end.

    A state has the backoff stages of both contenders, and the remaining backoff of the contender
    that did not send last. After a collision both contenders have just drawn their backoffs.
    """
    seen = 1 if countdown == "edca" else 0
    stages, widest = range(len(windows)), max(windows)
    prob = np.zeros((len(windows), len(windows), widest))
    prob[0, 0, 0] = 1.0
    both = np.zeros((len(windows),) * 2)
    for _ in range(4000):
        after, after_both = np.zeros_like(prob), np.zeros_like(both)
        collided = attempts = 0.0
        # If both contenders have just drawn, one of them may be treated as not having drawn: its
        # remaining backoff is uniformly distributed.
        spread = prob.copy()
        for j, k in product(stages, stages):
            spread[j, k, : windows[k]] += both[j, k] / windows[k]
        for j, k, rest in product(stages, stages, range(widest)):
            often = spread[j, k, rest]
            if often == 0:
                continue
            each = often / windows[j]
            for drawn in range(windows[j]):
                if drawn < rest:
                    after[0, k, rest - drawn - seen] += each
                    attempts += each
                elif drawn > rest:
                    after[0, j, drawn - rest - seen] += each
                    attempts += each
                else:
                    up = (j + 1) % len(windows), (k + 1) % len(windows)
                    after_both[up] += each
                    attempts, collided = attempts + 2 * each, collided + 2 * each
        moved = np.abs(after - prob).sum() + np.abs(after_both - both).sum()
        prob, both = (after + prob) / 2, (after_both + both) / 2
        if moved < 1e-9:
            return collided / attempts
    raise AssertionError("two contenders do not come to rest")


@pytest.mark.parametrize("rule", RULES)
def test_two_contenders_collide_nearly_as_often_as_all_their_states_say(rule):
    contender = Backoff(7, 15, 2)
    exact = two_by_two(contender.windows(), rule)
    collision_prob = contention.solve([contender] * 2, rule).accesses[0].collision_prob
    apart = contention.solve([contender] * 2, rule, correlated=False).accesses[0].collision_prob
    # Attempts that are assumed to be independent give a value that is 6 to 7 % too small.
    assert abs(apart - exact) > 0.05 * exact
    assert collision_prob == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("seen", [True, False])
def test_covariances_of_alike_contenders_have_a_closed_form(seen):
    # There are n equal processes d_i = e_i + h w (sum of the other processes), with noise e_i, gain
    # h and weight w. The sum and the differences of these processes have closed forms.
    count = 6
    failure = np.array([0.4, 0.35, 0.45])
    stages = Stages(np.array([8, 16, 32]), seen, failure, 0.1 * failure)
    own = Response.of(stages)
    weight = 1 / (1 - stages.attempt_prob())
    gain, noise = own.gain.sum(axis=0), own.noise.sum(axis=0)
    common = abs(gain) ** 2
    together = (noise + (count - 1) * common) / abs(1 - (count - 1) * weight * gain) ** 2
    differing = (noise - common) / abs(1 + weight * gain) ** 2
    expected = ((together - differing) / count).real.mean()
    covariance = covariances([own], [count])
    assert covariance.sum() == pytest.approx(expected, rel=1e-9)
    # Two groups of equal contenders give the result of one group.
    split = covariances([own, own], [2, 4])
    assert split == pytest.approx(np.broadcast_to(covariance, (2, 2, 3)), rel=1e-9)


def test_covariances_are_symmetric():
    kinds = [
        Response.of(Stages(np.array(windows), True, np.full(2, 0.3), np.full(2, 0.3)))
        for windows in ([4, 8], [16, 32])
    ]
    covariance = covariances(kinds, [2, 3]).sum(axis=2)
    assert covariance[0, 1] == pytest.approx(covariance[1, 0], rel=1e-9)


def test_attempts_in_a_row_have_the_spectrum_of_their_renewals():
    # Without failures, the attempts are a renewal process. The spectrum of this process has a
    # closed form.
    stages = Stages(np.array([8]), True, np.zeros(1), np.zeros(1))
    turn = np.exp(-1j * np.pi * (np.arange(FREQUENCIES) + 0.5) / FREQUENCIES)
    apart = sum(turn**slots for slots in range(1, 9)) / 8
    expected = stages.attempt_prob() * (1 - abs(apart) ** 2) / abs(1 - apart) ** 2
    assert Response.of(stages).noise[0] == pytest.approx(expected)
    assert Response.of(stages).gain[0] == pytest.approx(0.0)


@pytest.mark.parametrize("rule", RULES)
def test_a_single_contender_sends_at_the_closed_rate(rule):
    cycle_s = AIFS + 7.5 * SLOT + exchange(64).exchange_s
    solution = solve([ONE], rule)
    assert solution.goodput_bps[0] == pytest.approx(64 * 8 * 1472 / cycle_s)
    assert solution.failure_prob == solution.collision_prob == solution.given_up == (0.0,)


@pytest.mark.parametrize("rule", RULES)
def test_a_cell_of_single_frames_is_the_cell_without_aggregates(rule):
    # With CWmin 31 the covariance of attempts is negligible. Both models use the same air times.
    single = replace(ONE, mpdus=1, cwmin=31)
    model = {"edca": bianchi, "dcf": freezing}[rule]
    frame = exchange(1)
    node = Contender(31, 1023, 7, frame.first_frame_s, frame.exchange_s + AIFS, 1472)
    expected = model.solve([node] * 5, SLOT, WAIT + AIFS)
    assert sum(solve([single] * 5, rule).goodput_bps) == pytest.approx(
        sum(expected.goodput_bps), rel=0.003
    )


@pytest.mark.parametrize("rule", RULES)
def test_alike_contenders_share_alike_and_the_order_does_not_matter(rule):
    other = replace(ONE, cwmin=31, mpdus=16)
    solution = solve([ONE, other, ONE], rule)
    assert solution.goodput_bps[0] == solution.goodput_bps[2]
    turned = solve([other, ONE, ONE], rule)
    assert turned.goodput_bps == pytest.approx(
        (solution.goodput_bps[1], solution.goodput_bps[0], solution.goodput_bps[2])
    )


def test_ppdus_given_up_are_as_many_as_collisions_in_a_row():
    solution = solve([replace(ONE, attempts=3)] * 10)
    collided = solution.collision_prob[0]
    assert solution.given_up[0] == pytest.approx(collided**3, rel=0.05)
    assert solution.request_share[0] == pytest.approx(
        solution.given_up[0] / (1 + solution.given_up[0]), rel=1e-9
    )
    # The limit of attempts reduces the goodput, but by less than the fraction of MPDUs that are
    # given up.
    unlimited_bps = solve([ONE] * 10).goodput_bps[0]
    assert unlimited_bps * (1 - solution.given_up[0]) < solution.goodput_bps[0] < unlimited_bps


def test_rts_saves_the_length_of_collisions():
    def protected(mpdus: int) -> Exchange:
        plain, ahead_s = exchange(mpdus), 28e-6 + 28e-6 + 2 * SIFS
        return Exchange(28e-6, ahead_s + plain.ended_s, ahead_s + plain.exchange_s, WAIT, WAIT)

    alone = [
        solve([contender]).goodput_bps[0] for contender in (ONE, replace(ONE, exchange=protected))
    ]
    assert alone[1] < alone[0]
    many = [
        sum(solve([contender] * 20).goodput_bps)
        for contender in (ONE, replace(ONE, exchange=protected))
    ]
    assert many[1] > 1.2 * many[0]


def test_losses_and_collisions_add_up_where_nothing_is_given_up():
    contender = replace(ONE, mpdus=12)
    plain, lossy = solve([contender] * 3), solve([replace(contender, loss=0.1)] * 3)
    assert lossy.collision_prob == pytest.approx(plain.collision_prob, rel=0.01)
    assert lossy.failure_prob[0] > lossy.collision_prob[0]
    assert lossy.goodput_bps[0] < 0.9 * plain.goodput_bps[0]
    # A limit of attempts that is never reached has no effect.
    limited = solve([replace(contender, loss=0.1, attempts=20)] * 3)
    assert limited.goodput_bps == pytest.approx(lossy.goodput_bps, rel=1e-4)


@pytest.mark.slow
def test_mpdus_that_are_given_up_move_the_window_on():
    # With a limit of attempts, more MPDUs are received per PPDU than without a limit. BlockAckReqs
    # reduce this gain.
    lossy = [replace(ONE, loss=0.3, attempts=attempts) for attempts in (None, 7)]
    unlimited, limited = (solve([contender] * 5) for contender in lossy)
    assert 0.005 < limited.given_up[0] < 0.01
    # With the limit, 3 % more MPDUs are sent per PPDU than without a limit. However, BlockAckReqs
    # take 3 % of the time, and 0.7 % of the MPDUs are lost. The goodput is therefore about 1 %
    # lower.
    assert limited.goodput_bps[0] == pytest.approx(0.99 * unlimited.goodput_bps[0], rel=0.01)


def test_impossible_parameters_are_refused():
    with pytest.raises(ModelError, match="given up by losses and collisions"):
        solve([replace(ONE, loss=0.3, attempts=4)] * 3)
    with pytest.raises(ValueError, match="BlockAckReq is needed"):
        solve([replace(ONE, request=None, attempts=3)] * 3)
    with pytest.raises(ValueError, match="cwmin must be at least 1"):
        solve([replace(ONE, cwmin=0)] * 2, "dcf")


def test_covariances_that_are_no_small_correction_are_refused(monkeypatch):
    contenders = [Backoff(7, 15, 7)] * 2
    contention.solve(contenders)
    monkeypatch.setattr(contention, "MAX_MOVED", 0.001)
    with pytest.raises(ConvergenceError, match="collide too often"):
        contention.solve(contenders)


def test_the_example_of_the_package_does_what_it_shows():
    tested = doctest.testmod(aggregates)
    assert tested.attempted > 5
    assert tested.failed == 0
