"""The studies of paper 001 measure the values of their claims with the setup of the paper.

The runs have two replications of plain numbers, and all expected values are computed by hand.
Quantities that a measure must not read have other numbers.
"""

from math import exp
from types import SimpleNamespace

import numpy as np
import pytest

from lasthop.models.acsma import fluid, optimum
from lasthop.models.acsma.optimum import RENO
from lasthop.models.acsma.utility import AlphaFair
from lasthop.studies.acsma import network, settings, theory
from lasthop.studies.study import Quantity, Run

from .acsma_runs import (
    BEST,
    BEST_WORTH,
    RATES,
    SETS,
    TOPOLOGIES,
    WORTH,
    E,
    Four,
    a_net,
    measure,
    times,
    users,
)
from .made_up import Pair, expect

# -- the optimum -------------------------------------------------------------------------------


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_rates_of_the_optimum_are_those_of_its_own_prices(topology):
    rates = dict(zip("1234", BEST[topology], strict=True))
    # The price of a link is k^2 U'(x) for the utility U = -2 / x and k = 10.
    price = {link: 100 * 2 / rate**2 for link, rate in rates.items()}
    weight = {links: exp(200 * sum(price[link] for link in links)) for links in SETS[topology]}
    for link, rate in rates.items():
        part = sum(w for links, w in weight.items() if link in links) / sum(weight.values())
        assert 544 * part == pytest.approx(rate, rel=1e-7)
    assert network.best(topology, 200.0) == pytest.approx(BEST[topology], rel=1e-8)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_the_optimum_without_entropy_has_the_utility_worked_by_hand(topology):
    worth = sum(544 / rate for rate in network.best(topology))
    assert worth == pytest.approx(BEST_WORTH[topology], rel=1e-4)


def test_the_optimum_of_wires_is_that_of_their_prices():
    to_g, to_c, other = E.values()
    # In the cell of access point d, one frame is sent at a time: from a, from b, or to c.
    assert to_g + 2 * to_c == pytest.approx(544)
    # The wire f-g has 2 Mb/s. It carries 250 packets/s and loses the others.
    # The entropy has a small effect.
    lost = 1 - 250 / (to_g + other)
    assert 200 / other**2 == pytest.approx(lost, rel=1e-4)
    air = 200 / to_c**2 / 2  # over two hops
    assert 200 / to_g**2 == pytest.approx(air + lost, rel=1e-4)
    assert network.best("e") == pytest.approx(tuple(E.values()), rel=1e-4)


def test_a_gap_is_the_loss_of_utility_from_the_optimum():
    for topology in TOPOLOGIES:
        gap = network.gap(a_net(), topology)
        best = BEST_WORTH[topology]
        assert gap.samples == pytest.approx([best - WORTH[0], best - WORTH[1]], abs=1e-3)
        assert gap.predicted is None


def test_a_distance_is_that_of_the_farthest_mean_and_the_largest_is_per_run():
    ours = network.rates(a_net(((90, 130), (150, 170), (300, 300), (40, 60))))
    wanted = network.rates(a_net(((100, 100), (200, 200), (300, 340), (50, 50))))
    # The means of users 1 to 4 are 110, 160, 300 and 50.
    # The wanted values are 100, 200, 320 and 50.
    # User 2 is farthest: 50 and 30 below its wanted value in the two replications.
    assert network.distance(ours, wanted).samples == pytest.approx([0.25, 0.15])
    # In the first replication, user 2 is farthest from its wanted rate, by the fraction 1 / 4.
    # In the second replication, user 1 is farthest, by 0.3. User 4 has 0.2 in both replications.
    assert network.largest_distance(ours, wanted).samples == pytest.approx([0.25, 0.3])


def test_a_distance_is_relative_to_the_mean_and_the_largest_is_relative_to_each_run():
    ours, wanted = [Quantity(pair) for pair in network_pairs((90, 60), (60, 40))]
    # `distance` divides the differences 30 and 20 by 50, the mean of the wanted rates.
    # `largest_distance` divides them by the wanted rates of the replications, 60 and 40.
    assert network.distance([ours], [wanted]).samples == pytest.approx([0.6, 0.4])
    assert network.largest_distance([ours], [wanted]).samples == pytest.approx([0.5, 0.5])


def test_the_widest_range_is_that_of_the_flow_with_the_largest_mean_range():
    # Between the two settings, the flows differ by (10, 90), (40, 40) and (-5, 90).
    # Divided by the means 125, 120 and 121.25, these ranges are 0.4, 0.33 and 0.35 on average.
    some = [Quantity(np.array([100.0, 100.0]))] * 3
    others = [Quantity(np.array(pair, dtype=float)) for pair in ((110, 190), (140, 140), (95, 190))]
    assert settings._widest([some, others]).samples == pytest.approx([0.08, 0.72])


def network_pairs(*pairs: Pair):
    return [network.rates(a_net({"one": pair}))[0].samples for pair in pairs]


def test_the_widest_range_is_that_of_a_single_flow_over_settings():
    def setting(first: Pair, second: Pair) -> list[Quantity]:
        return network.rates(a_net({"one": first, "two": second}))

    widest = settings._widest(
        [
            setting((100, 110), (40, 60)),  # means of the two flows: 105 and 50
            setting((100, 90), (50, 50)),  # means of the two flows: 95 and 50
            setting((90, 110), (60, 80)),  # means of the two flows: 100 and 70
            setting((101, 99), (30, 30)),  # means of the two flows: 100 and 30
        ]
    )
    # The means of flow two in the four settings are 50, 50, 70 and 30, and their mean is 50.
    # The ranges of flow two in the two replications are 60 - 30 and 80 - 30.
    assert widest.samples == pytest.approx([0.6, 1.0])


# -- measures ----------------------------------------------------------------------------------


def test_growth_is_that_of_the_fastest_queue_in_each_run():
    def queues(*four: Pair) -> Run:
        return a_net(forward=four)

    early = queues((10, 20), (5, 5), (0, 1), (7, 7))
    vectors = ("even", "alone", "paired", "unequal")
    runs = {}
    for k, vector in enumerate(vectors, 1):
        runs[f"acsma-{vector}-0_95-1"] = early
        # In the first replication, the queue of link 2 grows by 20 k packets from 2000 to 4000 s.
        # In the second replication, the queue of link 4 grows by 40 k packets.
        # Queues of other links grow less, or become shorter.
        late = queues((1, 2), (5 + 20 * k, 6), (3, 9), (8, 7 + 40 * k))
        runs[f"acsma-{vector}-0_95-2"] = late
    runs["lcsma-even-0_95-1"] = runs["lcsma-even-0_3-1"] = early
    runs["lcsma-even-0_95-2"] = queues((4010, 20), (5, 5), (6000, 1), (7, 8007))
    runs["lcsma-even-0_3-2"] = queues((8, 12), (3, 5), (-1, 0), (6, 6))
    expect(
        measure("capacity", runs),
        growth_acsma_even=(0.01, 0.02),
        growth_acsma_alone=(0.02, 0.04),
        growth_acsma_paired=(0.03, 0.06),
        growth_acsma_unequal=(0.04, 0.08),
        growth_lcsma=(3, 4),  # 6000 and 8000 over 2000 s
        growth_lcsma_light=(-0.0005, 0),  # link 2 shrinks least, by 1 and by 0 packets
    )


def test_the_air_time_of_the_middle_link_is_4_2():
    [(name, quantity)] = measure("ideal", {}).items()
    assert name == "y_2"
    rho = 2.24  # line 309 of the paper
    # The active sets are one empty set, four sets of one link, and two sets of two links.
    assert quantity.predicted == pytest.approx(rho / (1 + 4 * rho + 2 * rho**2))


def test_figure_4_2_has_throughputs_of_both_kinds_of_access():
    runs = {
        "lcsma": a_net(RATES),
        "acsma": a_net(times(0.5, RATES)),
        "legacy": a_net(times(2, RATES)),
        "plain": a_net(times(3, RATES)),
    }
    expect(
        measure("fig4_2", runs),
        **users("lcsma", RATES),
        acsma_1=(68, 136),
        acsma_2=(34, 17),
        acsma_3=(136, 68),
        acsma_4=(272, 34),
    )


def test_figure_4_3_has_r_at_the_end():
    windows = ("0-20", "20-50", "50-100", "100-200")
    runs = {window: a_net() for window in windows}
    runs["400-500"] = a_net(r=((1, 2), (3, 4), (5, 6), (7, 8)))
    expect(
        measure("fig4_3", runs),
        aggressiveness_1=(0.001, 0.002),
        aggressiveness_2=(0.003, 0.004),
        aggressiveness_3=(0.005, 0.006),
        aggressiveness_4=(0.007, 0.008),
    )


def test_figure_b_1_has_r_over_that_of_appendix_b_and_throughputs_at_beta_800():
    equal = 1e3 * 1.8e-9 ** (1 / 3)  # (2 * 3e-5 * 3e-5)^(1/3), in thousandths
    runs = {name: a_net(times(2, RATES)) for name in ("100", "200", "400", "double", "theory")}
    # The round-trip times are chosen so that r / 3e-5 packets are in flight.
    # The throughputs of the first replication are 136, 68, 272 and 544 packets/s.
    # The throughputs of the second replication are 272, 34, 136 and 68 packets/s.
    waits: Four = ((1 / 136, 2 / 272), (0.5 / 68, 0.25 / 34), (3 / 272, 1 / 136), (1 / 544, 1 / 68))
    each = [(first * equal / 0.03, other * equal / 0.03) for first, other in waits]
    each[2] = (2 * each[2][0], each[2][1] / 4)
    runs["800"] = a_net(r=times(equal, ((1, 2), (0.5, 0.25), (3, 1), (1, 1))), rtt=each)
    expect(
        measure("figb_1", runs),
        aggressiveness_ratio_1=(1, 2),
        aggressiveness_ratio_2=(0.5, 0.25),
        aggressiveness_ratio_3=(3, 1),
        aggressiveness_ratio_4=(1, 1),
        **users("throughput", RATES),
        **users("rtt", each),
        rtt_ratio_1=(1, 1),
        rtt_ratio_2=(1, 1),
        rtt_ratio_3=(2, 0.25),
        rtt_ratio_4=(1, 1),
    )


def test_the_fluid_systems_are_those_of_mp_in_a_to_c_and_of_ep_in_e(monkeypatch):
    far = {
        ("a", "rtt"): 0.1,
        ("b", "rtt"): 0.3,
        ("c", "rtt"): 0.2,
        ("e", "rtt"): 0.4,
        ("a", "utility", "log"): 0.5,
        ("a", "utility", "reciprocal"): 0.6,
        ("a", "utility", "sqrt"): 0.7,
    }
    monkeypatch.setattr(theory, "rest_distance", lambda *asked: far[asked])
    measured = measure("fluid", {}) | measure("utilities", {})
    assert {name: quantity.predicted for name, quantity in measured.items()} == {
        "distance_mp": 0.3,
        "distance_ep": 0.4,
        "distance_log": 0.5,
        "distance_reciprocal": 0.6,
        "distance_sqrt": 0.7,
    }


@pytest.mark.parametrize(
    ("rule", "utility", "worth"),
    [
        ("rtt", "", RENO),
        ("utility", "log", AlphaFair(1, 0.01)),  # w log x
        ("utility", "reciprocal", AlphaFair(2, 1)),  # -w / x
        ("utility", "sqrt", AlphaFair(0.5, 1e-4)),  # 2 w sqrt(x)
    ],
)
def test_a_fluid_system_starts_from_three_rates_and_has_the_distance_of_the_worst(
    monkeypatch, rule, utility, worth
):
    wanted = np.array([300.0, 20.0, 280.0, 290.0])
    ends = {10: 1.02, 100: [1.0, 0.7, 1.1, 1.0], 400: 0.9}

    def best(net, k, beta):
        assert ({flow.utility for flow in net.flows}, net.service_rate_pps) == ({worth}, 600)
        assert (k, beta) == (10, 200)
        return SimpleNamespace(rates_pps=wanted)

    def settle(system, state):
        start = state[0]
        assert list(state[:4]) == [start] * 4
        assert list(state[4:]) == [1e-3] * 4
        assert (system.rule, system.rtt_s, system.per_packet) == (rule, 1.0, 3e-5)
        return SimpleNamespace(state=np.concatenate([wanted * ends.pop(start), state[4:]]))

    monkeypatch.setattr(optimum, "optimum", best)
    monkeypatch.setattr(fluid, "settle", settle)
    far = theory.rest_distance.__wrapped__("a", rule, utility)
    assert far == pytest.approx(0.3)
    assert ends == {}
