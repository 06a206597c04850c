from itertools import product
from math import comb, prod

import numpy as np
import pytest

from lasthop.models.access import Access
from lasthop.models.dcf import bianchi
from lasthop.models.dcf.saturation import Contender
from lasthop.models.edca.contention import (
    _bisected,
    ap_collision_prob,
    attempt_prob,
    contend,
    station_collision_prob,
)
from lasthop.models.edca.options import Options

UNLIMITED = Options(attempts="unlimited")


@pytest.mark.equation("edca", 1)
def test_aifs_is_sifs_and_aifsn_slots(cell):
    assert cell().aifs_s(Access(aifsn=2)) == pytest.approx(50e-6)  # AIFS of table 2
    assert cell().aifs_s(Access(aifsn=1)) == pytest.approx(30e-6)  # PIFS, one slot shorter


def test_windows_double_up_to_cwmax():
    assert Access(31, 1023, attempts=7).windows() == [31, 63, 127, 255, 511, 1023, 1023]
    assert Access(20, 100).windows(limited=False) == [20, 41, 83, 100]
    assert Access(0, 0).windows() == [0] * 7


def test_a_node_that_never_collides_waits_half_its_smallest_window():
    none = np.zeros(1)
    assert attempt_prob(Access(31), none, Options()) == pytest.approx(1 / 16.5)
    printed = Options(mean_backoff="(CW+1)/2")
    assert attempt_prob(Access(31), none, printed) == pytest.approx(1 / 17)


def test_a_node_that_always_collides_waits_the_mean_over_its_attempts():
    always = np.ones(1)
    windows = [31, 63, 127, 255, 511, 1023, 1023]
    mean = sum(windows) / 7 / 2
    assert attempt_prob(Access(31), always, Options()) == pytest.approx(1 / (mean + 1))
    assert attempt_prob(Access(31), always, UNLIMITED) == pytest.approx(1 / 512.5)


def test_many_attempts_are_as_good_as_no_limit():
    p = np.linspace(0.0, 0.9, 10)
    many = attempt_prob(Access(15, attempts=1000), p, Options())
    assert many == pytest.approx(attempt_prob(Access(15), p, UNLIMITED), rel=1e-12)


def test_attempt_probability_is_bianchis_with_finite_attempts():
    node = Contender(15, 1023, 7, 1.0, 1.0, 1)
    for p in (0.0, 0.3, 0.8):
        ours = attempt_prob(Access(15), np.array([p]), Options())
        assert ours == pytest.approx(bianchi.attempt_prob(node, p), rel=1e-14)


def busy_periods(tau_ap, tau, active, early):
    """Yield every outcome of an idle period with its probability, for all slots and all nodes."""
    still, slot, outcomes = 1.0, 0, []
    while still > 1e-17:
        nodes = [tau_ap if slot >= -early else 0.0]
        nodes += [tau if slot >= early else 0.0] * active
        for sends in product((False, True), repeat=active + 1):
            chance = prod(p if s else 1 - p for p, s in zip(nodes, sends, strict=True))
            if any(sends):
                outcomes.append((slot, sends[0], sum(sends[1:]), still * chance))
        still *= prod(1 - p for p in nodes)
        slot += 1
    return outcomes


@pytest.mark.equation("edca", 7)
@pytest.mark.equation("edca", 16)
@pytest.mark.equation("edca", 17)
@pytest.mark.equation("edca", 18)
@pytest.mark.parametrize("early", [0, 1, 3, -2])
def test_outcomes_of_an_idle_period_against_listing_them_all(early):
    station, ap = Access(15, aifsn=4), Access(7, aifsn=4 - early)
    at = contend(3, station, ap, Options())
    for k in range(5):
        tau_ap, tau = at.ap_attempt_prob[k], at.station_attempt_prob[k]
        listed = busy_periods(tau_ap, tau, at.active[k], early)

        def mean(of, listed=listed):
            return sum(of(*outcome) * outcome[3] for outcome in listed)

        assert at.ap_success[k] == pytest.approx(mean(lambda _, ap, n, p: ap and n == 0))
        assert at.station_success[k] == pytest.approx(mean(lambda _, ap, n, p: not ap and n == 1))
        assert at.ap_collision[k] == pytest.approx(mean(lambda _, ap, n, p: ap and n > 0))
        assert at.ap_attempts[k] == pytest.approx(mean(lambda _, ap, n, p: ap))
        assert at.station_attempts[k] == pytest.approx(mean(lambda _, ap, n, p: n))
        assert at.idle_slots[k] == pytest.approx(mean(lambda slot, ap, n, p: slot))
        assert at.ap_wins[k] == pytest.approx(at.ap_success[k] / at.success[k])


@pytest.mark.equation("edca", 7)
def test_equal_aifs_as_printed():
    at = contend(7, Access(31), Access(7), Options())
    eta, ap, tau = at.active[:-1], at.ap_attempt_prob[:-1], at.station_attempt_prob[:-1]
    mine = ap * (1 - tau) ** eta
    theirs = eta * tau * (1 - tau) ** (eta - 1.0) * (1 - ap)
    assert at.ap_wins[:-1] == pytest.approx(mine / (mine + theirs))
    assert at.ap_wins[-1] == 0.0


def test_attempt_probabilities_are_a_joint_fixed_point():
    station, ap = Access(15), Access(3)
    at = contend(20, station, ap, Options())
    again = attempt_prob(station, station_collision_prob(at), Options())
    assert at.station_attempt_prob == pytest.approx(again, abs=1e-13)
    again = attempt_prob(ap, ap_collision_prob(at), Options())[:-1]
    assert at.ap_attempt_prob[:-1] == pytest.approx(again, abs=1e-13)


@pytest.mark.smoke(3)
@pytest.mark.parametrize("stations", [7, 50, 200])
@pytest.mark.parametrize("ap_aifsn", [1, 2, 5])
def test_windows_too_small_for_the_iteration_have_a_fixed_point(stations, ap_aifsn):
    """With CWmin 1 and without an attempt limit, the fixed-point iteration does not converge."""
    station, ap = Access(1), Access(31, aifsn=ap_aifsn)
    at = contend(stations, station, ap, UNLIMITED)
    again = attempt_prob(station, station_collision_prob(at), UNLIMITED)
    assert at.station_attempt_prob == pytest.approx(again, abs=1e-9)
    again = attempt_prob(ap, ap_collision_prob(at), UNLIMITED)[:-1]
    assert at.ap_attempt_prob[:-1] == pytest.approx(again, abs=1e-9)


def test_bisection_finds_what_the_iteration_finds():
    station, ap = Access(15), Access(3, aifsn=1)
    iterated = contend(20, station, ap, Options())
    again = _bisected(iterated.active, iterated.ap_contends, station, ap, Options())
    assert again.station_attempt_prob == pytest.approx(iterated.station_attempt_prob, abs=1e-10)
    assert again.ap_attempt_prob == pytest.approx(iterated.ap_attempt_prob, abs=1e-10)


@pytest.mark.parametrize("cwmin", [1, 3, 31, 255])
def test_equal_parameters_give_even_odds(cwmin):
    assert contend(9, Access(cwmin), Access(cwmin), Options()).odds == pytest.approx(np.ones(9))


def test_odds_of_unequal_windows_as_printed():
    at = contend(5, Access(31), Access(7), Options())
    ap, tau = at.ap_attempt_prob[1:-1], at.station_attempt_prob[1:-1]
    assert at.odds == pytest.approx(ap * (1 - tau) / (tau * (1 - ap)))


def test_pifs_access_always_wins_and_full_state_is_without_the_ap():
    at = contend(7, Access(31), Access(0, 0, aifsn=1), Options())
    assert np.all(at.ap_wins[:-1] == 1.0)
    assert at.ap_attempt_prob[-1] == at.ap_attempts[-1] == at.ap_collision[-1] == 0.0
    tau = at.station_attempt_prob[-1]
    alone = 7 * tau * (1 - tau) ** 6
    assert at.success[-1] == pytest.approx(alone / (1 - (1 - tau) ** 7))
    collided = sum(comb(7, n) * tau**n * (1 - tau) ** (7 - n) for n in range(2, 8))
    assert 1 - at.success[-1] == pytest.approx(collided / (1 - (1 - tau) ** 7))


def test_impossible_access_parameters_are_refused():
    for wrong in ({"cwmin": 63, "cwmax": 31}, {"cwmin": -1}, {"aifsn": 0}, {"txop_packets": 0}):
        with pytest.raises(ValueError, match="Access"):
            Access(**wrong)


def test_unknown_readings_are_refused():
    for wrong in ({"solver": "magic"}, {"eifs_rate_bps": 0.0}, {"mean_backoff": "CW"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Options(**wrong)


def test_limits_of_opportunities_do_not_matter_to_attempts():
    """Attempt probabilities do not depend on TXOP limits. A search over TXOP limits therefore
    computes the fixed point of these probabilities only once.
    """
    single = contend(5, Access(31), Access(15), Options())
    assert contend(5, Access(31, txop_packets=4), Access(15, txop_packets=8), Options()) is single
    assert contend(5, Access(31), Access(7), Options()) is not single
