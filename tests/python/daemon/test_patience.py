"""Frequency at which a gateway repairs its settings in the kernel."""

from itertools import pairwise

from lasthop.daemon.patience import CALM_S, LONGEST_WAIT_S, MAX_AT_ONCE, Patience

NAME = ("class", 9, 1)


def test_a_fault_is_repaired_immediately_a_few_times_and_then_less_and_less_often() -> None:
    """The fault returns after each repair. Time is counted in tenths of a second."""
    patience = Patience()
    tries = [t / 10 for t in range(3000) if patience.allows(NAME, t / 10)]
    assert tries[:MAX_AT_ONCE] == [0.0, 0.1, 0.2, 0.3, 0.4]
    waits = [later - earlier for earlier, later in pairwise(tries[4:])]
    assert [round(wait) for wait in waits[:8]] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert patience.fights(NAME)


def test_a_fault_after_a_quiet_period_is_repaired_immediately() -> None:
    patience = Patience()
    now_s = 0.0
    for _ in range(50):
        assert patience.allows(NAME, now_s)
        now_s += CALM_S + 1


def test_faults_of_different_parts_are_independent() -> None:
    patience = Patience()
    while patience.allows(NAME, 0.0):
        pass
    assert patience.allows(("class", 9, 2), 0.0)


def test_requests_that_the_kernel_refuses_are_repeated_later() -> None:
    patience = Patience()
    assert patience.allows(NAME, 0.0)
    patience.refused([NAME], 0.0)
    assert not patience.allows(NAME, 0.5)
    assert patience.until_s([NAME]) == 1.0
    assert patience.allows(NAME, 1.0)
    patience.refused([NAME], 1.0)
    assert patience.until_s([NAME]) == 3.0


def test_faults_are_forgotten_after_a_while() -> None:
    patience = Patience()
    for k in range(100):
        patience.allows(("class", 9, k), 0.0)
    patience.forget(CALM_S)
    assert len(patience.tries) == 100
    patience.forget(CALM_S + LONGEST_WAIT_S)
    assert patience.tries == {}
