"""A BlockAck window that is always full, compared with an enumeration of all its states."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lasthop.models.aggregates import blocks, timing, window
from lasthop.models.errors import ModelError

SETTLED = -1


class Listed:
    """All states of a small window. A state has one number for each MPDU: the number of its
    attempts, or -1 if it has been received or given up.

    A round is the transmission of one PPDU. Each round is evaluated for every state and every set
    of lost MPDUs, by the BlockAck rules only.
    """

    def __init__(self, width: int, loss: float, attempts: int | None) -> None:
        self.width, self.loss, self.attempts = width, loss, attempts
        start = (0,) * width
        self.rounds = {}
        todo = [start]
        while todo:
            state = todo.pop()
            if state not in self.rounds:
                self.rounds[state] = self.play(state)
                todo += [outcome[1] for outcome in self.rounds[state]]
        names = list(self.rounds)
        place = {state: number for number, state in enumerate(names)}
        matrix = np.zeros((len(names),) * 2)
        for state, outcomes in self.rounds.items():
            for often, after, *_ in outcomes:
                matrix[place[after], place[state]] += often
        left = np.vstack([matrix - np.eye(len(names)), np.ones(len(names))])
        right = np.append(np.zeros(len(names)), 1.0)
        prob = np.linalg.lstsq(left, right, rcond=None)[0]
        self.prob = {state: prob[place[state]] for state in names}

    def play(self, state):
        """Return the outcomes of a round. An outcome has its probability, the next state, the
        number of received MPDUs, the positions of the MPDUs that are given up, and the number of
        MPDUs by which the window advances.
        """
        sent = [i for i, tried in enumerate(state) if tried != SETTLED]
        outcomes = []
        for lost in product((False, True), repeat=len(sent)):
            after, holes = list(state), []
            for i, gone in zip(sent, lost, strict=True):
                tried = state[i] + 1 if self.attempts is not None else 0
                last = tried == self.attempts
                after[i] = tried if gone and not last else SETTLED
                holes += [i] if gone and last else []
            moved = next((i for i, tried in enumerate(after) if tried != SETTLED), self.width)
            after = (*after[moved:], *(0,) * moved)
            often = self.loss ** sum(lost) * (1 - self.loss) ** (len(sent) - sum(lost))
            outcomes.append((often, after, len(sent) - sum(lost), holes, moved))
        return outcomes

    def mean(self, value) -> float:
        """Return the mean over rounds of a function of the state and the outcome."""
        return sum(
            self.prob[state] * outcome[0] * value(state, *outcome[1:])
            for state, outcomes in self.rounds.items()
            for outcome in outcomes
        )

    def sizes(self) -> list[float]:
        probs = defaultdict(float)
        for state, prob in self.prob.items():
            probs[sum(tried != SETTLED for tried in state)] += prob
        return [probs[size] for size in range(self.width + 1)]


SMALL = [(2, 0.3, None), (5, 0.1, None), (8, 0.3, None), (4, 0.3, 3), (5, 0.1, 2), (3, 0.5, 1)]


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_all_states_of_a_small_window_give_the_same_solution(case):
    # Without a limit of attempts, states with a probability below one in a million are omitted.
    listed, solution = Listed(*case), window.solve(*case)
    assert solution.sizes == pytest.approx(listed.sizes(), abs=3e-6)
    assert solution.delivered == pytest.approx(
        listed.mean(lambda _s, _a, received, *_: received), rel=3e-6
    )
    assert solution.failed == pytest.approx(
        listed.mean(lambda _s, _a, received, *_: received == 0), abs=3e-6
    )
    requests = listed.mean(lambda _s, _a, _r, holes, _m: bool(holes))
    assert solution.requests.per_round == pytest.approx(requests, rel=1e-9, abs=1e-12)
    assert solution.given_up == pytest.approx(0.0 if case[2] is None else case[1] ** case[2])


@pytest.mark.parametrize("case", [case for case in SMALL if case[2]], ids=str)
def test_packets_held_for_a_request_are_those_of_all_states(case):
    listed, solution = Listed(*case), window.solve(*case)

    def held(_state, after, _received, holes, moved):
        # MPDUs before the first MPDU that was given up are delivered at the end of the PPDU.
        if not holes:
            return 0
        return sum(tried == SETTLED for tried in after) + moved - len(holes) - holes[0]

    both = solution.requests.held + solution.requests.held_failed
    assert both == pytest.approx(listed.mean(held), rel=1e-6, abs=1e-9)
    alone = listed.mean(lambda *outcome: held(*outcome) if outcome[2] == 0 else 0)
    assert solution.requests.held_failed == pytest.approx(alone, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_failures_in_a_row_are_those_of_all_states(case):
    listed, solution = Listed(*case), window.solve(*case)
    # In a failed round, nothing was received and no MPDU was given up.
    once = listed.mean(lambda _s, _a, received, holes, _m: received == 0 and not holes)
    assert sum(map(sum, solution.rows[1:])) == pytest.approx(once, abs=3e-6)
    last = listed.mean(lambda _s, _a, received, holes, _m: received == 0 and bool(holes))
    assert sum(solution.requests.failures) == pytest.approx(last, abs=3e-6)
    assert np.sum(solution.rows) == pytest.approx(1.0)


def test_a_window_of_two_by_hand():
    # x is the number of rounds for which an MPDU prevents the window from advancing. x is positive
    # with probability c, where c (2 - p / (1 + p)) = 1 and p is the loss probability. The mean of
    # the positive values is 1 / (1 - p).
    loss = 0.3
    solution = window.solve(2, loss)
    often = (1 + loss) / (2 + loss)
    assert solution.delivered == pytest.approx((1 - loss) / often, rel=1e-6)
    assert solution.mpdus == pytest.approx(1 / often, rel=1e-6)


@pytest.mark.parametrize("loss", [0.02, 0.1, 0.3])
def test_blocks_continued_to_one_mpdu_are_the_full_window(monkeypatch, loss):
    full = window.solve(9, loss)
    monkeypatch.setattr(blocks, "feasible", lambda _window, _levels: [4, 5, 6, 7])
    solution = window.solve.__wrapped__(9, loss)
    assert solution.delivered == pytest.approx(full.delivered, rel=1e-4)
    assert np.cumsum(solution.sizes) == pytest.approx(np.cumsum(full.sizes), abs=0.004)
    assert solution.waits == pytest.approx(full.waits, abs=2e-4)


@pytest.mark.parametrize(
    "case",
    [
        (64, 0.1, None),
        (16, 0.02, 4),
        pytest.param((64, 0.02, 4), marks=pytest.mark.slow),
        pytest.param((256, 0.3, None), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_held_packets_are_waiting_packets(case):
    # Little's law over rounds: the receiver stores W - E[k] MPDUs before each PPDU, where W is the
    # window and k the number of MPDUs in a PPDU.
    solution = window.solve(*case)
    waits = np.arange(len(solution.waits)) @ solution.waits
    held = (solution.window - solution.mpdus) / (solution.delivered / (1 - solution.given_up))
    assert waits == pytest.approx(held, rel=2e-3)
    assert sum(solution.sizes) == pytest.approx(1.0)
    assert solution.delivered == pytest.approx((1 - case[1]) * solution.mpdus, rel=1e-5)


def test_a_row_of_failures_in_blocks_is_as_likely_as_in_the_window():
    level = blocks.unsettled_probs(0.2, 3)
    step = blocks.climb(level, 1)
    assert np.linalg.matrix_power(step, 7) == pytest.approx(blocks.climb(level, 7))
    assert blocks.climb(level, 0) == pytest.approx(np.eye(4))


def test_collisions_take_attempts():
    # A collision also takes one of the two attempts of an MPDU. An MPDU that was lost in a round is
    # therefore sent again only if no collision preceded or followed this round. Otherwise the MPDU
    # is given up.
    probs = blocks.unsettled_probs(0.2, 2, 0.5)
    assert probs == pytest.approx([1.0, 0.2 * 0.25 / 0.75, 0.0])


def test_without_losses_every_ppdu_is_as_large_as_there_is_room():
    solution = window.solve(64, 0.0, 7, most_in_ppdu=42)
    assert solution.mpdus == solution.delivered == 42
    assert solution.wait_quantile(0.95) == 0


def test_impossible_parameters_are_refused():
    with pytest.raises(ModelError, match="42 MPDUs in a PPDU, 64 in the window"):
        window.solve(64, 0.1, most_in_ppdu=42)
    with pytest.raises(ModelError, match="attempts in a row are likely enough"):
        window.solve(64, 0.8)
    with pytest.raises(ValueError, match="window 0"):
        window.solve(0, 0.1)


TIMES = timing.Timing(
    ppdu_s=lambda mpdus: 60e-6 + 11e-6 * mpdus,
    response_s=lambda mpdus: 28e-6 if mpdus == 1 else 32e-6,
    sifs_s=16e-6,
    slot_s=9e-6,
    aifs_s=43e-6,
    wait_s=60e-6,
    cwmin=15,
    cwmax=1023,
    attempts_short=7,
    request_s=32e-6,
)


def test_a_single_sender_without_losses_has_the_closed_rate():
    solution = window.solve(64, 0.0)
    cycle_s = 43e-6 + 7.5 * 9e-6 + 60e-6 + 64 * 11e-6 + 16e-6 + 32e-6
    assert timing.round_s(solution, TIMES) == pytest.approx(cycle_s)
    assert timing.goodput_bps(solution, TIMES, 1472) == pytest.approx(64 * 8 * 1472 / cycle_s)
    assert timing.reordering_s(solution, TIMES) == 0.0


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_reordering_takes_as_long_as_in_all_states(case):
    # With these times, the gap after a frame is the same after failures and successes. The
    # reordering delay then depends only on the states of the window.
    even = replace(TIMES, cwmin=0, cwmax=0, wait_s=48e-6, response_s=lambda _mpdus: 32e-6)
    between_s = 16e-6 + 32e-6 + 43e-6
    listed, solution = Listed(*case), window.solve(*case)

    def held_s(state, after, _received, holes, moved):
        sent = sum(tried != SETTLED for tried in state)
        held = (len(state) - sent) * (between_s + even.ppdu_s(sent))
        if holes:
            waiting = sum(tried == SETTLED for tried in after) + moved - len(holes) - holes[0]
            held += waiting * (between_s + even.request_s)
        return held

    received = listed.mean(lambda _s, _a, received, *_: received)
    expected = listed.mean(held_s) / received
    assert timing.reordering_s(solution, even) == pytest.approx(expected, rel=1e-5)


def test_backoff_doubles_and_restarts_at_the_limit():
    slots = [TIMES.backoff_s(failures) / 4.5e-6 for failures in range(9)]
    assert slots == pytest.approx([15, 31, 63, 127, 255, 511, 1023, 15, 31])


def test_one_mpdu_at_a_time_is_a_plain_retransmission():
    # The loss probability is 1/2, and a BlockAckReq follows after two attempts. By hand, per MPDU:
    # a first attempt, with probability 1/2 a second attempt, and with probability 1/4 a
    # BlockAckReq.
    solution = window.solve(1, 0.5, 2)
    assert solution.delivered == pytest.approx(0.5)
    assert solution.requests.per_round == pytest.approx(1 / 6)
    first_s = 43e-6 + 7.5 * 9e-6 + 71e-6
    second_s = 43e-6 + 15.5 * 9e-6 + 71e-6
    request_s = 43e-6 + 31.5 * 9e-6 + 32e-6 + 16e-6 + 28e-6
    answers_s = 0.75 * 44e-6 + 0.75 * 60e-6
    per_mpdu_s = first_s + second_s / 2 + request_s / 4 + answers_s
    assert timing.round_s(solution, TIMES) == pytest.approx(per_mpdu_s / 1.5)
