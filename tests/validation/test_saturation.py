"""Saturated cells, compared with the fixed points of Bianchi's model and of the model with frozen
counters.

Every run has five replications of 60 s and a fixed seed. The half width of its 95 % interval is
asserted, so that noise never conceals an error.
"""

import pytest

import lasthop as lh
from lasthop.models.dcf import bianchi, freezing
from lasthop.models.dcf.predict import contending, senders_of
from lasthop.models.dcf.saturation import Saturation


def simulate(phy, stations, **cell):
    return lh.simulate(
        {
            "name": "saturated",
            "duration": "60 s",
            "warmup": "1 s",
            "replications": 5,
            "seed": 1,
            "cell": {"phy": phy, **cell},
            "station": stations,
        }
    )


def contenders(result):
    """Return the contenders of a result, its slot time [s] and EIFS [s]."""
    scenario = result.scenario.typed
    return contending(scenario, [sender.category for sender in senders_of(scenario)])


def solve(model, result) -> Saturation:
    return model.solve(*contenders(result))


def goodput(result) -> float:
    """Return the goodput of the cell, accurate to 0.7 % or better. [bit/s]"""
    cell = result.cells.iloc[0]
    assert cell.goodput_bps_ci95 < 0.007 * cell.goodput_bps
    return float(cell.goodput_bps)


@pytest.mark.parametrize("phy", ["802.11b", "802.11g"])
@pytest.mark.parametrize("stations", [5, 10, 20, 50])
def test_saturated_cell_is_bianchis_within_two_per_cent(phy, stations):
    result = simulate(phy, {"s": {"count": stations, "udp_up": "greedy"}})
    assert goodput(result) == pytest.approx(sum(solve(bianchi, result).goodput_bps), rel=0.02)


@pytest.mark.parametrize("phy", ["802.11b", "802.11g"])
@pytest.mark.parametrize("stations", [5, 10, 20, 50])
def test_the_freezing_rule_explains_the_rest_within_one_per_cent(phy, stations):
    result = simulate(phy, {"s": {"count": stations, "udp_up": "greedy"}})
    theory = solve(freezing, result)
    assert goodput(result) == pytest.approx(sum(theory.goodput_bps), rel=0.01)
    failures = result.stations["collision_rate"].mean()
    assert failures == pytest.approx(theory.failure_prob[0], abs=0.005)


def test_the_effect_of_the_freezing_rule_shows():
    # The backoff counters in Bianchi's model also count busy slots.
    # With CWmin 15 and five stations, his model therefore has 1.5 % more goodput.
    result = simulate("802.11g", {"s": {"count": 5, "udp_up": "greedy"}})
    half_width = result.cells.iloc[0].goodput_bps_ci95
    without = sum(solve(bianchi, result).goodput_bps)
    with_rule = sum(solve(freezing, result).goodput_bps)
    assert without - goodput(result) > 0.01 * without + half_width
    assert abs(with_rule - goodput(result)) < 0.005 * without


def test_a_single_station_sends_at_the_closed_rate():
    # A single station has no collisions, and a mean backoff of 15.5 slots of 20 us.
    result = simulate("802.11b", {"s": {"udp_up": "greedy"}})
    [node], _, _ = contenders(result)
    rate = 1 / (15.5 * 20e-6 + node.success_s)
    assert goodput(result) == pytest.approx(rate * 8 * 1472, rel=0.002)


CELLS = {
    "RTS before every frame": (
        "802.11b",
        {"s": {"count": 20, "udp_up": "greedy"}},
        {"rts_threshold": "500 B"},
    ),
    "RTS before every OFDM frame": (
        "802.11g",
        {"s": {"count": 10, "udp_up": "greedy"}},
        {"rts_threshold": "500 B"},
    ),
    "long preamble": ("802.11g-long", {"s": {"count": 10, "udp_up": "greedy"}}, {}),
    "channel errors": (
        "802.11g",
        {"s": {"count": 5, "udp_up": "greedy", "error_up": 0.3, "attempts_short": 3}},
        {},
    ),
    "small windows, four attempts": (
        "802.11g",
        {"s": {"count": 10, "udp_up": "greedy", "cwmin": 7, "cwmax": 31, "attempts_short": 4}},
        {},
    ),
    "two windows": (
        "802.11b",
        {
            "narrow": {"count": 5, "udp_up": "greedy", "cwmin": 15},
            "wide": {"count": 5, "udp_up": "greedy", "cwmin": 31},
        },
        {},
    ),
    "downlink too": (
        "802.11b",
        {"s": {"count": 4, "udp_up": "greedy", "udp_down": "greedy"}},
        {"ap": {"cwmin": 15}},
    ),
}


@pytest.mark.parametrize("name", CELLS)
def test_variants_of_the_cell_are_within_one_per_cent(name):
    phy, stations, cell = CELLS[name]
    result = simulate(phy, stations, **cell)
    assert goodput(result) == pytest.approx(sum(solve(freezing, result).goodput_bps), rel=0.01)


def test_discards_at_the_attempt_limit():
    # With four attempts and CWmax 31, one packet in six is given up.
    result = simulate(*CELLS["small windows, four attempts"][:2])
    theory = solve(freezing, result).discard_prob[0]
    assert theory > 0.15
    assert result.stations["discard_probability"].mean() == pytest.approx(theory, rel=0.02)


def test_a_narrower_window_gets_the_share_of_the_theory():
    result = simulate(*CELLS["two windows"][:2])
    theory = solve(freezing, result).goodput_bps
    per_station = result.stations["goodput_bps"]
    ratio = per_station.iloc[:5].mean() / per_station.iloc[5:].mean()
    assert ratio == pytest.approx(theory[0] / theory[-1], rel=0.02)


def test_recipe_for_unequal_chances_gives_beta():
    # One station has greedy UDP in both directions.
    # The station's CWmin is 29 and the AP's CWmin is 34, which gives paper 002's beta of 1.2.
    station = {"laptop": {"udp_up": "greedy", "udp_down": "greedy", "cwmin": 29}}
    result = simulate("802.11b", station, ap={"cwmin": 34})
    up, down = result.flows["goodput_bps"]
    assert up / down == pytest.approx(1.2, rel=0.01)
    theory_up, theory_down = solve(freezing, result).goodput_bps
    assert up / down == pytest.approx(theory_up / theory_down, rel=0.01)
