"""Stations at unequal rates: the closed form of the performance anomaly, compared with ten
replications of 60 s.
"""

import pytest

import lasthop as lh
from lasthop.models.dcf import anomaly
from lasthop.models.dcf.predict import contending, senders_of


def simulate(*rates_mbps):
    stations = {
        f"s{number}": {"rate": f"{rate} Mbps", "udp_up": "greedy"}
        for number, rate in enumerate(rates_mbps)
    }
    return lh.simulate(
        {
            "name": "anomaly",
            "duration": "60 s",
            "warmup": "1 s",
            "replications": 10,
            "seed": 1,
            "cell": {"phy": "802.11b"},
            "station": stations,
        }
    )


def closed_form_bps(scenario) -> float:
    known = scenario.typed
    categories = [sender.category for sender in senders_of(known)]
    return anomaly.goodput_bps(*contending(known, categories))[0]


@pytest.mark.parametrize("rates_mbps", [(11, 2), (11, 1), (11, 5.5, 2)])
def test_every_station_gets_the_closed_form_within_two_per_cent(rates_mbps):
    result = simulate(*rates_mbps)
    expected = closed_form_bps(result.scenario)
    assert (result.stations["goodput_bps_ci95"] < 0.015 * expected).all()
    assert result.stations["goodput_bps"].to_list() == pytest.approx(
        [expected] * len(rates_mbps), rel=0.02
    )


def test_a_slow_station_costs_the_fast_one_more_than_half_of_its_goodput():
    alone = simulate(11, 11).stations["goodput_bps"]["s0"]
    with_slow = simulate(11, 2).stations["goodput_bps"]["s0"]
    assert with_slow < 0.45 * alone
