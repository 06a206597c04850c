"""Eqs. (17) to (20) of paper 000 for buffer sharing, computed by hand."""

import numpy as np
import pytest

from lasthop.models.errors import ConvergenceError
from lasthop.models.vbs.sharing import (
    head_of_line_shares,
    loss_rate,
    packets_held,
    packets_offered,
    shares_of_throughput,
)

COUNTS = np.array([5.0, 5.0])


@pytest.mark.equation("vbs", 17)
def test_shares_by_hand():
    assert head_of_line_shares(COUNTS, np.array([12.0, 8.0])) == pytest.approx([0.6, 0.4])


@pytest.mark.equation("vbs", 17)
def test_shares_of_throughput_need_one_over_one_less_the_discards():
    """The queue serves 60 packets of the first class and 40 of the second. The MAC gives up 10 % of
    the second class, so that 60 and 36 packets are delivered.
    """
    discards = np.array([0.0, 0.1])
    delivered = np.array([60.0, 36.0])
    assert shares_of_throughput(COUNTS, delivered, discards) == pytest.approx([0.6, 0.4])
    printed = COUNTS * delivered * (1 + discards)
    assert (printed / printed.sum())[1] == pytest.approx(0.3976, abs=1e-4)


@pytest.mark.equation("vbs", 18)
@pytest.mark.equation("vbs", 20)
def test_offered_and_held_by_hand():
    assert packets_offered(COUNTS, np.array([12.0, 8.0])) == 100.0
    assert packets_held(100.0, COUNTS, np.array([60.0, 40.0]), 0.07) == pytest.approx(135.0)


@pytest.mark.equation("vbs", 19)
@pytest.mark.parametrize("guess", [1e-8, 0.01, 0.3, 100.0])
def test_the_loss_that_fills_the_buffer_is_found_from_any_guess(guess):
    """Ten connections with windows of sqrt(1.5/p) fill a buffer of a hundred packets at the loss p
    = 0.015.
    """
    loss = loss_rate(lambda p: 10 * np.sqrt(1.5 / max(p, 1e-12)) - 100.0, guess)
    assert loss == pytest.approx(0.015, rel=1e-6)


def test_windows_that_do_not_fill_the_buffer_lose_nothing():
    assert loss_rate(lambda p: 90.0 * (1 - p) - 100.0, 0.1) == 0.0


def test_an_offer_that_no_loss_reduces_is_no_solution():
    with pytest.raises(ConvergenceError, match="no loss rate"):
        loss_rate(lambda p: 1.0, 0.1)
