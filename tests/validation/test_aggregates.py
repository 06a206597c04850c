"""Theory of cells with aggregation, compared with the Monte Carlo in `aggregates_monte_carlo.py`.

The theory must agree within 0.5 % and three standard errors; `docs/validation.md` lists the
differences.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parent))

from aggregates_monte_carlo import Cell, Counts, Sender, error

from lasthop.models.aggregates import saturated, timing, window
from lasthop.models.aggregates.saturated import Aggregator, Exchange

SLOT, AIFS, SIFS, WAIT = 9e-6, 43e-6, 16e-6, 48e-6
PAYLOAD = 1472
REQUEST = Exchange(32e-6, 32e-6, 32e-6 + SIFS + 32e-6, WAIT, WAIT)


def ppdu_s(mpdus: int) -> float:
    """Return the duration of `mpdus` MPDUs of 1538 bytes at 1.2 Gb/s, in symbols of 13.6 us. [s]"""
    return 44e-6 + 13.6e-6 * np.ceil((22 + 8 * 1544 * mpdus) / 16333)


def response_s(mpdus: int) -> float:
    return 28e-6 if mpdus == 1 else 32e-6


def exchange(mpdus: int) -> Exchange:
    length_s = ppdu_s(mpdus)
    return Exchange(length_s, length_s, length_s + SIFS + response_s(mpdus), WAIT, WAIT)


TIMES = timing.Timing(ppdu_s, response_s, SIFS, SLOT, AIFS, WAIT, 15, 1023, 7, REQUEST.ended_s)


def sender(width: int, exchange: Callable[[int], Exchange], **more) -> Sender:
    every = [REQUEST, *(exchange(mpdus) for mpdus in range(1, width + 1))]
    table = {
        "first_s": [each.first_frame_s for each in every],
        "exchange_s": [each.exchange_s for each in every],
        "ended_s": [each.ended_s for each in every],
        "wait_s": [each.first_wait_s for each in every],
    }
    return Sender(width, **{name: np.array(row) for name, row in table.items()}, **more)


def near(theory: float, values: np.ndarray, rel: float = 0.005) -> None:
    """Assert that the theory agrees with the mean over replicas within `rel` and three standard
    errors.
    """
    assert abs(theory - values.mean()) <= rel * abs(values.mean()) + 3 * error(values)


def near_part(theory: float, events: np.ndarray, trials: np.ndarray, rel: float) -> None:
    """Assert that a theoretical probability agrees with the measured fraction of events. For rare
    events, the measured standard error may be too small. Therefore the standard error of the number
    of events is at least the square root of the expected number.
    """
    values = events / trials
    scatter = max(error(values), float(np.sqrt(theory / trials.sum())))
    assert abs(theory - values.mean()) <= rel * theory + 3 * scatter


# -- a single sender ---------------------------------------------------------------------------


def single_sender(
    width: int, loss: float, attempts: int | None, size: tuple[int, int, int]
) -> Counts:
    replicas, periods, warmup = size
    lone = sender(width, exchange, loss=loss, attempts=attempts)
    return Cell([lone], SLOT, AIFS, replicas=replicas).run(periods, warmup)


def compare_window(width: int, loss: float, attempts: int | None, counts: Counts) -> None:
    theory = window.solve(width, loss, attempts)
    rounds = counts.rounds[:, 0]
    near(theory.delivered, counts.received[:, 0] / rounds)
    near_part(theory.failed, counts.empty[:, 0], rounds, rel=0.02)
    near(
        timing.goodput_bps(theory, TIMES, PAYLOAD),
        counts.received[:, 0] * 8 * PAYLOAD / counts.time_s,
    )
    near(timing.reordering_s(theory, TIMES), counts.waited_s[:, 0] / counts.handed_up[:, 0])
    if attempts is not None:
        lost = counts.given_up[:, 0]
        near_part(theory.given_up, lost, lost + counts.received[:, 0], rel=0.01)
        near_part(theory.requests.per_round, counts.requests[:, 0], rounds, rel=0.01)
    sizes = np.cumsum(counts.sizes[:, 0]) / rounds.sum()
    assert np.cumsum(theory.sizes) == pytest.approx(sizes, abs=0.015)
    waits = np.cumsum(counts.waits) / counts.waits.sum()
    theirs = np.cumsum(theory.waits)
    assert theirs == pytest.approx(waits[: len(theirs)], abs=0.01)


@pytest.mark.parametrize(
    "case",
    [
        (4, 0.3, 4, (200, 300, 50)),
        pytest.param((64, 0.3, None, (60, 250, 80)), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_window_is_within_half_a_per_cent_of_its_rules(case):
    width, loss, attempts, size = case
    compare_window(width, loss, attempts, single_sender(width, loss, attempts, size))


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [None, 4])
@pytest.mark.parametrize("loss", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("width", [4, 64, 256])
def test_windows_are_within_half_a_per_cent_of_their_rules(width, loss, attempts):
    size = {4: (1000, 1000, 50), 64: (300, 1000, 150), 256: (100, 1000, 150)}[width]
    compare_window(width, loss, attempts, single_sender(width, loss, attempts, size))


def test_a_window_without_losses_is_exact_in_the_monte_carlo_too():
    counts = single_sender(16, 0.0, 7, (50, 100, 10))
    assert counts.received.sum() == 16 * counts.rounds.sum()
    assert counts.waited_s.sum() == counts.given_up.sum() == counts.requests.sum() == 0
    cycle_s = AIFS + 7.5 * SLOT + exchange(16).exchange_s
    near(16 / cycle_s, counts.received[:, 0] / counts.time_s, rel=0.0)


# -- contention --------------------------------------------------------------------------------


def lossless(mpdus: int, attempts: int | None, **more) -> tuple[Aggregator, Sender]:
    """Return a contender without losses, for the theory and for the Monte Carlo. In the Monte
    Carlo, one long MPDU replaces the `mpdus` MPDUs of a PPDU.
    """
    contender = Aggregator(15, 1023, 7, mpdus, exchange, PAYLOAD, REQUEST, attempts)
    return replace(contender, **more), sender(
        1, lambda _: exchange(mpdus), attempts=attempts, **more
    )


def compare_cell(count: int, mpdus: int, attempts: int | None, countdown: str, size) -> None:
    contender, each = lossless(mpdus, attempts)
    theory = saturated.solve([contender] * count, SLOT, AIFS, countdown)
    replicas, periods, warmup = size
    counts = Cell([each] * count, SLOT, AIFS, countdown, replicas).run(periods, warmup)
    near(sum(theory.mpdu_rate), mpdus * counts.received.sum(axis=1) / counts.time_s)
    failures = counts.failures.sum(axis=1) / counts.attempts.sum(axis=1)
    near(theory.failure_prob[0], failures, rel=0.01)
    lost = counts.given_up.sum(axis=1)
    near_part(theory.given_up[0], lost, lost + counts.received.sum(axis=1), rel=0.03)


@pytest.mark.smoke(1)
@pytest.mark.parametrize("countdown", ["edca", "dcf"])
def test_a_cell_that_aggregates_is_within_half_a_per_cent_of_its_rules(countdown):
    compare_cell(5, 64, 3, countdown, (200, 400, 200))


def test_small_windows_collide_as_often_as_their_rules_say():
    # The covariance of the attempts of two contenders changes the collision rate by 1.2 %.
    # Without the covariance of other pairs the change is 0.6 %.
    contender, each = lossless(64, None, cwmin=7, cwmax=15)
    counts = Cell([each] * 5, SLOT, AIFS, "edca", 400).run(800, 100)
    failures = counts.failures.sum(axis=1) / counts.attempts.sum(axis=1)
    near(saturated.solve([contender] * 5, SLOT, AIFS).failure_prob[0], failures, rel=0.006)


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [None, 7])
@pytest.mark.parametrize("countdown", ["edca", "dcf"])
@pytest.mark.parametrize("count", [1, 2, 5, 10, 20, 50])
def test_cells_that_aggregate_are_within_half_a_per_cent_of_their_rules(count, countdown, attempts):
    # With many contenders, the warm-up is longer.
    # The frequency of the largest contention windows is stationary only after 3000 busy periods.
    compare_cell(count, 64, attempts, countdown, (200, 2000, 300 if count <= 5 else 3000))


@pytest.mark.slow
@pytest.mark.parametrize("countdown", ["edca", "dcf"])
@pytest.mark.parametrize("count", [2, 10, 50])
def test_cells_of_single_mpdus_are_within_half_a_per_cent_of_their_rules(count, countdown):
    compare_cell(count, 1, None, countdown, (200, 2000, 300 if count <= 5 else 3000))


@pytest.mark.slow
@pytest.mark.parametrize("countdown", ["edca", "dcf"])
def test_contenders_of_several_kinds_get_the_rates_of_the_theory(countdown):
    kinds = [lossless(64, 7), lossless(16, None, cwmin=31), lossless(1, 7, cwmin=7, cwmax=15)]
    some = [kind for kind in kinds for _ in range(2)]
    theory = saturated.solve([contender for contender, _ in some], SLOT, AIFS, countdown).mpdu_rate
    cell = Cell([each for _, each in some], SLOT, AIFS, countdown, 300)
    counts = cell.run(3000, 500)
    for number, mpdus in ((0, 64), (2, 16), (4, 1)):
        both = counts.received[:, number : number + 2].sum(axis=1) / counts.time_s
        near(2 * theory[number], mpdus * both, rel=0.01)


LOSSY = [(2, 0.1, None), (5, 0.1, 7), (5, 0.3, 7)]


@pytest.mark.slow
@pytest.mark.parametrize("countdown", ["edca", "dcf"])
@pytest.mark.parametrize("case", LOSSY, ids=str)
def test_losses_and_collisions_together_are_within_a_per_cent(case, countdown):
    count, loss, attempts = case
    contender = Aggregator(15, 1023, 7, 64, exchange, PAYLOAD, REQUEST, attempts, loss)
    theory = saturated.solve([contender] * count, SLOT, AIFS, countdown)
    each = sender(64, exchange, loss=loss, attempts=attempts)
    counts = Cell([each] * count, SLOT, AIFS, countdown, 100).run(2000, 300)
    near(sum(theory.mpdu_rate), counts.received.sum(axis=1) / counts.time_s, rel=0.01)


# -- the Monte Carlo itself --------------------------------------------------------------------


def test_mpdus_of_the_monte_carlo_are_conserved():
    cell = Cell([sender(8, exchange, loss=0.3, attempts=3)] * 2, SLOT, AIFS, "edca", 50)
    cell.counts = cell._counts(cell.due.shape)
    for _ in range(300):
        cell.step()
    counts = cell.counts
    held = (cell.state == 1).sum(axis=2) + cell.behind
    assert counts.given_up.sum() > 1000
    assert (counts.received == counts.handed_up + held).all()


def test_a_ppdu_that_collides_is_one_attempt_of_each_of_its_mpdus():
    # With CWmin and CWmax 0, all contenders always send simultaneously.
    # Nothing is received, and each window is given up after every third PPDU.
    cell = Cell([sender(4, exchange, attempts=3, cwmin=0, cwmax=0)] * 2, SLOT, AIFS, "edca", 3)
    counts = cell.run(60, 0)
    # In 60 busy periods there are ten cycles: three attempts of a PPDU, then of a BlockAckReq.
    assert (counts.given_up == 4 * 10).all()
    assert counts.received.sum() == counts.requests.sum() == 0
    ppdus_s = 30 * (AIFS + exchange(4).first_frame_s + WAIT)
    requests_s = 30 * (AIFS + REQUEST.first_frame_s + WAIT)
    assert counts.time_s == pytest.approx(ppdus_s + requests_s)
