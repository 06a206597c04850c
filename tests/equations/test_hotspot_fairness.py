import pytest
from hypothesis import given
from hypothesis import strategies as st

from lasthop.models.hotspot.fairness import (
    fairness_level,
    goodput,
    goodput_by_direction,
    jain_index,
    updown_index,
)
from lasthop.models.hotspot.lossy import solve
from lasthop.models.hotspot.padhye import received_per_rtt
from lasthop.models.hotspot.station import Connections, Equilibrium, StationLoad

from .hotspot_station import station

PAIR = [station(3, 1, 42, 1.2), station(0, 2, 20, 0.9)]
AT = Equilibrium(75.0, 0.02, (40.0, 5.0), lossless=False)


@pytest.mark.equation("hotspot", 1)
def test_goodput_is_windows_over_round_trip():
    up, down = goodput_by_direction(PAIR, AT)
    assert up == pytest.approx((1460 * 126 / (75 + 40 / 1.2), 0.0))
    assert down == pytest.approx(
        (
            1460 * received_per_rtt(0.02, 42) / (75 + 40 / 1.2),
            1460 * 2 * received_per_rtt(0.02, 20) / (75 + 5 / 0.9),
        )
    )


@pytest.mark.equation("hotspot", 3)
def test_fairness_level_as_printed():
    tn1, tn2 = received_per_rtt(0.02, 42), received_per_rtt(0.02, 20)
    expected = (126 + tn1) / (2 * tn2) * (5 / (0.9 * 75) + 1) / (40 / (1.2 * 75) + 1)
    assert fairness_level(goodput(PAIR, AT), 0, 1) == pytest.approx(expected, rel=1e-12)


@pytest.mark.equation("hotspot", 2)
def test_fairness_level_without_priorities_as_printed():
    pair = [station(3, 1, 42), station(0, 2, 20)]
    tn1, tn2 = received_per_rtt(0.02, 42), received_per_rtt(0.02, 20)
    expected = (126 + tn1) / (2 * tn2) * (5 / 75 + 1) / (40 / 75 + 1)
    assert fairness_level(goodput(pair, AT), 0, 1) == pytest.approx(expected, rel=1e-12)


@pytest.mark.equation("hotspot", 26)
def test_updown_index_as_printed():
    trips = [1 + 40 / (1.2 * 75), 1 + 5 / (0.9 * 75)]
    up = 126 / trips[0]
    down = received_per_rtt(0.02, 42) / trips[0] + 2 * received_per_rtt(0.02, 20) / trips[1]
    assert updown_index(*goodput_by_direction(PAIR, AT)) == pytest.approx(up / down, rel=1e-12)


@pytest.mark.equation("hotspot", 27)
@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=8), st.floats(0.1, 10.0))
def test_jain_index_is_a_share_and_has_no_unit(goodputs, scale):
    index = jain_index(goodputs)
    assert 1 / len(goodputs) - 1e-12 <= index <= 1 + 1e-12
    assert jain_index([scale * x for x in goodputs]) == pytest.approx(index)


@pytest.mark.equation("hotspot", 27)
def test_jain_index_of_one_active_in_four():
    assert jain_index([7.0, 0.0, 0.0, 0.0]) == 0.25
    assert jain_index([3.0, 3.0]) == 1.0


def test_longer_segments_carry_more():
    small = StationLoad(downloads=(Connections(1, 42, mss=730),))
    at = solve([small, station(0, 1, 42)], 75)
    assert fairness_level(goodput([small, station(0, 1, 42)], at), 0, 1) == pytest.approx(0.5)
