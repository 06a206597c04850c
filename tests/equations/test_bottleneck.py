"""Shares of a bottleneck, compared with a second algorithm that raises all rates simultaneously in
small steps.
"""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lasthop.models.bottleneck.shares import Party, filled, of_flows, shared

CAPACITY_BPS = 12e6
STEPS = 2_000


def raised(capacity_bps: float, demands: list[float], weights: list[float]) -> list[float]:
    """Return shares by small steps. In each step, rates below their demands grow in proportion to
    their weights.
    """
    got = [0.0] * len(demands)
    step = capacity_bps / STEPS
    while True:
        hungry = [k for k, demand in enumerate(demands) if got[k] < demand]
        left = capacity_bps - sum(got)
        if not hungry or left <= 1e-9 * capacity_bps:
            return got
        weight = sum(weights[k] for k in hungry)
        for k in hungry:
            got[k] = min(demands[k], got[k] + min(step, left) * weights[k] / weight)


rates = st.one_of(st.just(inf), st.floats(1e3, 20e6))
shares = st.floats(0.01, 100.0)


@settings(max_examples=40)
@given(st.lists(st.tuples(rates, shares), min_size=1, max_size=6))
def test_shares_are_those_of_rates_that_grow_together(parties: list[tuple[float, float]]) -> None:
    demands, weights = [each[0] for each in parties], [each[1] for each in parties]
    filled_bps = filled(CAPACITY_BPS, demands, weights)
    assert filled_bps == pytest.approx(
        raised(CAPACITY_BPS, demands, weights), rel=1e-3, abs=2 * CAPACITY_BPS / STEPS
    )
    assert sum(filled_bps) == pytest.approx(min(CAPACITY_BPS, sum(demands)))


def test_a_group_of_nine_gets_one_share_and_its_largest_rate_at_most() -> None:
    nine, single = Party(1.0, inf, [inf] * 9), Party(1.0, inf, [inf])
    assert shared(CAPACITY_BPS, [nine, single]) == [pytest.approx([6e6 / 9] * 9), [6e6]]
    capped = Party(1.0, 3e6, [inf] * 9)
    assert shared(CAPACITY_BPS, [capped, single]) == [pytest.approx([3e6 / 9] * 9), [9e6]]


def test_the_unused_share_of_a_station_goes_to_its_group_first() -> None:
    group, single = Party(2.0, inf, [1e6, inf]), Party(1.0, inf, [inf])
    assert shared(CAPACITY_BPS, [group, single]) == [[1e6, 7e6], [4e6]]


def test_datagrams_do_not_slow_down_and_tcp_has_the_rest() -> None:
    assert of_flows(5e6, [inf, 1e6, inf]) == [2e6, 1e6, 2e6]
    assert of_flows(1e6, [inf, 1.5e6, 0.5e6]) == [0.0, 0.75e6, 0.25e6]
