"""The studies of paper 001 measure the values of their claims with the setup of the paper.

Runs have two replications and plain numbers, and every answer is worked by hand. Runs also have
quantities that a measure must not read, with numbers that differ from the answers.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from math import exp, sqrt
from types import SimpleNamespace

import numpy as np
import pytest

from lasthop.models.acsma import fluid, optimum
from lasthop.models.acsma.optimum import RENO
from lasthop.models.acsma.utility import AlphaFair
from lasthop.studies.acsma import STUDIES, costs, network, settings, theory
from lasthop.studies.study import Quantity, Run

from .made_up import Pair, a_run, every, expect, normalised, only

STUDY = {study.name: study for study in STUDIES}
SIMULATED = [study.name for study in STUDIES if study.points]
USERS = (1, 2, 3, 4)
TOPOLOGIES = ("a", "b", "c")
CURES = ("hack", "nack")
VARIANTS = ("theory", "slots", "silences", "patient", "opened", "smooth", "delayed")

Four = Sequence[Pair]
"""A quantity of four users or links."""

RATES: Four = ((136, 272), (68, 34), (272, 136), (544, 68))
"""Throughputs that divide C, 544. [packets/s]"""
WORTH: Pair = (4 + 8 + 2 + 1, 2 + 16 + 4 + 8)
"""Sum of C over them."""

BEST_WORTH = {"a": 6 + 2 * sqrt(5), "b": 4 + 2 * sqrt(3), "c": 6 + 4 * sqrt(2)}
"""Sum of C over the rates of the optimum without entropy.

Link 2 of a has a part t of the time, link 1 the rest and 3 and 4 half of that each: 1 / t +
5 / (1 - t) is least at t = 1 / (1 + sqrt 5), where it is (1 + sqrt 5)^2. In b link 1 has t and the
three others the rest: 1 / t + 3 / (1 - t), (1 + sqrt 3)^2. In c 1 and 4 have t and 2 and 3 half of
the rest each: 2 / t + 4 / (1 - t), (2 + sqrt 2)^2.
"""

BEST = {
    "a": (260.352485, 139.343602, 177.429298, 177.429298),
    "b": (140.108456, 260.006137, 260.006137, 260.006137),
    "c": (195.769843, 139.644368, 139.644368, 195.769843),
}
"""Rates of the optimum with entropy at beta = 200 and k = 10, checked by a test. [packets/s]"""

SETS = {
    # line 303 of the text
    "a": ("", "1", "2", "3", "4", "13", "14"),
    # "link 1 starves and links 2, 3 and 4 obtain the whole portion of channel access" (694)
    "b": ("", "1", "2", "3", "4", "23", "24", "34", "234"),
    # "links 2 and 3 starve, link 1 and link 4 get the half of the channel bandwidth" (694)
    "c": ("", "1", "2", "3", "4", "14"),
}
"""Links that can send simultaneously."""


def a_net(
    rates: Four | Mapping[str, Pair] = RATES,
    *,
    r: Four = ((8, 8), (9, 9), (10, 10), (11, 11)),
    connections: Four = ((21, 22), (23, 24), (25, 26), (27, 28)),
    forward: Four = ((31, 32),) * 4,
    back: Four = ((33, 34),) * 4,
    loss: Four = ((0.7, 0.8),) * 4,
    again: Four = ((51, 52),) * 4,
    opened: Four = ((61, 62),) * 4,
    closed: Four = ((63, 64),) * 4,
    rtt: Four = ((0.1, 0.2),) * 4,
) -> Run:
    """Return a run of four links and users [packets/s], or of flows with these names.

    Aggressiveness is in thousandths.
    """
    if isinstance(rates, Mapping):
        return a_run(flows={name: _flow(pair) for name, pair in rates.items()})
    flows = {}
    for k, user in enumerate(USERS):
        flows[f"user-{user}"] = _flow(rates[k]) | {
            "connections": connections[k],
            "loss_probability": loss[k],
            "retransmissions": again[k],
            "connections_opened": opened[k],
            "connections_closed": closed[k],
            "rtt_s": rtt[k],
        }
    links, queues = {}, {}
    for k, link in enumerate(USERS):
        for name, queue in ((f"{link}", forward), (f"{link}/back", back)):
            queues[name] = {"occupancy_packets": queue[k], "drop_probability": (0.3, 0.4)}
            links[name] = {"aggressiveness": (0.2, 0.3), "airtime_fraction": (0.1, 0.2)}
        links[f"{link}"]["aggressiveness"] = [1e-3 * value for value in r[k]]
    return a_run(flows=flows, links=links, queues=queues)


def _flow(pair: Pair) -> dict[str, Sequence[float]]:
    return {
        "goodput_bps": [8000 * value for value in pair],  # 1000 bytes
        "offered_bps": (7e6, 8e6),
        "rtt_s": (0.1, 0.2),
    }


def total(*parts: Pair) -> Pair:
    """Return a sum in both replications."""
    first, second = (sum(each) for each in zip(*parts, strict=True))
    return first, second


def times(factor: float, rates: Four) -> Four:
    """Return the rates times the factor."""
    return [(factor * first, factor * other) for first, other in rates]


def measure(name: str, runs: Mapping[str, Run]) -> dict[str, Quantity]:
    return dict(STUDY[name].measure(runs))


def users(prefix: str, four: Four) -> dict[str, Pair]:
    return {f"{prefix}_{user}": pair for user, pair in zip(USERS, four, strict=True)}


# -- the optimum -------------------------------------------------------------------------------


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_rates_of_the_optimum_are_those_of_its_own_prices(topology):
    rates = dict(zip("1234", BEST[topology], strict=True))
    # k^2 U'(x) of U = -2 / x, with k = 10
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


E = {"a-to-g": 120.828215, "b-to-c": 211.585892, "i-to-g": 132.071531}
"""Rates of the optimum of topology e without entropy. [packets/s]"""


def test_the_optimum_of_wires_is_that_of_their_prices():
    to_g, to_c, other = E.values()
    # one frame at a time in the cell of d: from a, from b, or to c
    assert to_g + 2 * to_c == pytest.approx(544)
    # of 2 Mb/s f-g carries 250 packets/s and loses the rest; an entropy of little weight is left
    lost = 1 - 250 / (to_g + other)
    assert 200 / other**2 == pytest.approx(lost, rel=1e-4)
    air = 200 / to_c**2 / 2  # two hops
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
    # means are 110 for 100, 160 for 200, 300 for 320, 50 for 50: user 2, 50 and 30 below
    assert network.distance(ours, wanted).samples == pytest.approx([0.25, 0.15])
    # users 2, 1 / 4, and 1, 0.3; of user 4 it is 0.2 in both
    assert network.largest_distance(ours, wanted).samples == pytest.approx([0.25, 0.3])


def test_a_distance_is_relative_to_the_mean_and_the_largest_is_relative_to_each_run():
    ours, wanted = [Quantity(pair) for pair in network_pairs((90, 60), (60, 40))]
    # relative to the mean of 50: 30 and 20; in each run 90 / 60 and 60 / 40
    assert network.distance([ours], [wanted]).samples == pytest.approx([0.6, 0.4])
    assert network.largest_distance([ours], [wanted]).samples == pytest.approx([0.5, 0.5])


def test_the_widest_range_is_that_of_the_flow_with_the_largest_mean_range():
    # ranges (10, 90), (40, 40) and (-5, 90) over means of 125, 120 and 121.25: 0.4, 0.33 and 0.35
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
            setting((100, 110), (40, 60)),  # means 105 and 50
            setting((100, 90), (50, 50)),  # 95 and 50
            setting((90, 110), (60, 80)),  # 100 and 70
            setting((101, 99), (30, 30)),  # 100 and 30
        ]
    )
    # flow two: from 30 to 70 with a mean of 50; 60 - 30 and 80 - 30
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
        # from 2000 s to 4000 s link 2 gains 20 k, then link 4 40 k; others less, or lose
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
        growth_lcsma_light=(-0.0005, 0),  # the smallest loss: 1 packet; link 2 loses none
    )


def test_the_air_time_of_the_middle_link_is_4_2():
    [(name, quantity)] = measure("ideal", {}).items()
    assert name == "y_2"
    rho = 2.24  # 309
    # of the sets: none, four of one link, two of two
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
    # times after which 136, 68, 272 and 544 packets/s, 272, 34, 136 and 68, are r / 3e-5 packets
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


def test_figure_6_2_has_gaps_totals_and_distances_from_the_optimum():
    plain = dict(zip(TOPOLOGIES, (1, 0.5, 0.25), strict=True))
    treated: dict[str, Four] = {
        "hack": ((272, 272), (136, 272), (136, 136), (136, 136)),
        "nack": ((136, 272), (272, 136), (136, 136), (68, 136)),
    }
    runs = {}
    for topology, factor in plain.items():
        runs[f"lcsma-{topology}"] = a_net(times(factor, RATES))
        runs |= {f"{scheme}-{topology}": a_net(rates) for scheme, rates in treated.items()}
        for other in ("plain", "room", "light", "larger"):
            runs[f"{other}-{topology}"] = a_net(times(7, RATES))
    measured = measure("fig6_2", runs)
    worked: dict[str, Pair] = {}
    for topology, factor in plain.items():
        best, worth = BEST[topology], BEST_WORTH[topology]
        worked |= users(f"lcsma_{topology}", times(factor, RATES))
        worked |= {
            # 136 + 68 + 272 + 544, 272 + 34 + 136 + 68
            f"total_lcsma_{topology}": (1020 * factor, 510 * factor),
            f"total_hack_{topology}": (680, 816),
            f"total_nack_{topology}": (612, 680),
        }
        gaps: dict[str, Pair] = {
            "lcsma": (worth - 15 / factor, worth - 30 / factor),
            "hack": (worth - 14, worth - 12),  # 2 + 4 + 4 + 4, 2 + 2 + 4 + 4
            "nack": (worth - 18, worth - 14),  # 4 + 2 + 4 + 8, 2 + 4 + 4 + 4
        }
        for scheme, gap in gaps.items():
            assert measured.pop(f"gap_{scheme}_{topology}").samples == pytest.approx(gap, abs=1e-3)
        for scheme, rates in treated.items():
            each = zip(rates, best, strict=True)
            off = [(first / rate - 1, other / rate - 1) for (first, other), rate in each]
            worked |= users(f"off_{scheme}_{topology}", off)
    worked |= {
        # user 3 below and user 2 above; user 1 nearly twice and user 1 again; user 1 and user 2
        "largest_distance_a": (1 - 136 / BEST["a"][2], 272 / BEST["a"][1] - 1),
        "largest_distance_b": (272 / BEST["b"][0] - 1, 272 / BEST["b"][0] - 1),
        "largest_distance_c": (272 / BEST["c"][0] - 1, 272 / BEST["c"][1] - 1),
    }
    expect(measured, **worked)


def test_figure_6_3_has_drift_of_r_and_numbers_of_connections():
    counts: Four = ((5, 6), (20, 21), (7, 8), (9, 9.5))
    runs = {
        "hack-whole": a_net(connections=counts),
        "hack-1": a_net(r=((1, 2), (2, 2), (3, 2), (4, 2))),  # means 2.5 and 2
        "hack-2": a_net(r=((2, 1), (2, 1), (3, 3), (4, 1))),  # 2.75 and 1.5
        "nack-whole": a_net(connections=times(2, counts)),
        "nack-1": a_net(r=((4, 1),) * 4),
        "nack-2": a_net(r=((3, 1), (3, 1), (3, 1), (3, 3))),  # 3 and 1.5
        "light": a_net(),
        **{variant: a_net() for variant in VARIANTS},
    }
    expect(
        measure("fig6_3", runs),
        drift_hack=(0.1, 0.25),  # 2.75 / 2.5, 1.5 / 2
        drift_nack=(0.25, 0.5),  # 3 / 4, 1.5 / 1
        **users("connections_hack", counts),
        connections_nack_1=(10, 12),
        connections_nack_2=(40, 42),
        connections_nack_3=(14, 16),
        connections_nack_4=(18, 19),
    )


def test_section_6_1_7_has_r_and_retransmissions_per_second():
    runs = {variant: a_net() for variant in VARIANTS}
    runs["nack"] = a_net(
        r=((3.7, 3.8), (9.4, 9.5), (4.5, 4.6), (4.9, 5)),
        again=((400, 800), (600, 560), (280, 320), (0, 100)),
    )
    expect(
        measure("fig6_4", runs),
        aggressiveness_1=(0.0037, 0.0038),
        aggressiveness_2=(0.0094, 0.0095),
        aggressiveness_3=(0.0045, 0.0046),
        aggressiveness_4=(0.0049, 0.005),
        retransmissions_1=(1, 2),  # in 400 s
        retransmissions_2=(1.5, 1.4),
        retransmissions_3=(0.7, 0.8),
        retransmissions_4=(0, 0.25),
    )


def test_figure_6_5_has_totals_by_units_and_the_queues_back_over_those_forward():
    waits: Four = ((1, 2), (3, 4), (5, 6), (7, 8))
    counts: Four = ((1, 2), (100, 90), (3, 4), (5, 6))
    runs = {
        "packets": a_net(forward=((4, 8),) * 4, back=((1, 1), (3, 3), (2, 2), (2, 2))),
        "bytes": a_net(
            times(0.5, RATES),
            r=((50, 300), (150, 900), (100, 600), (100, 600)),  # means 0.1 and 0.6
            forward=((1, 4), (2, 4), (3, 4), (4, 4)),  # means 2.5 and 4
            back=((20, 2), (30, 2), (20, 2), (80, 2)),  # 37.5 and 2
            connections=counts,
            rtt=waits,
        ),
        "packets-light": a_net(),
        "bytes-light": a_net(),
        **{f"{unit}-{v}": a_net() for v in VARIANTS for unit in ("packets", "bytes")},
    }
    expect(
        measure("fig6_5", runs),
        total_packets=(1020, 510),
        total_bytes=(510, 255),
        queue_ratio=(15, 0.5),
        queue_ratio_packets=(0.5, 0.25),  # 2 / 4, 2 / 8
        r_ratio=(2, 0.5),  # those of links back are 0.2 and 0.3
        connections=(100, 90),
        **users("rtt_bytes", waits),
        **users("rtt_packets", ((0.1, 0.2),) * 4),
        **users("connections_bytes", counts),
        **users("connections_packets", ((21, 22), (23, 24), (25, 26), (27, 28))),
    )


def test_figure_6_9_has_totals_with_and_without_dummy_packets():
    runs = {
        "hack-plain": a_net(),
        "hack-dummy": a_net(times(0.5, RATES)),
        "nack-plain": a_net(times(2, RATES)),
        "nack-dummy": a_net(times(0.25, RATES)),
    }
    expect(
        measure("fig6_9", runs),
        hack_plain=(1020, 510),
        hack_dummy=(510, 255),
        nack_plain=(2040, 1020),
        nack_dummy=(255, 127.5),
    )


def test_figure_6_10_has_distances_from_k_14_losses_and_connections():
    runs = {
        "14": a_net(((100, 100), (200, 200), (400, 400), (50, 50))),
        "44_7": a_net(
            ((110, 120), (100, 80), (400, 400), (50, 50)),
            loss=((0.5, 0.2), (0.2, 0.5), (0, 0.2), (0.2, 0)),
        ),
        "28_3": a_net(((100, 100), (202, 206), (400, 404), (50, 50))),
        "20": a_net(
            ((100, 100), (200, 200), (388, 380), (50, 51)),
            loss=((0.2, 0), (0, 0.2), (0.2, 0.5), (0.5, 0.5)),
        ),
        "10": a_net(((96, 92), (200, 200), (400, 400), (50, 50))),
        "5": a_net(
            ((100, 100), (200, 200), (400, 400), (60, 80)),
            connections=((1, 1.5), (4, 3), (1, 2), (1, 1)),
        ),
    }
    expect(
        measure("fig6_10", runs),
        distance_44_7=(0.5, 0.6),  # user 2
        distance_28_3=(0.01, 0.03),  # user 2
        distance_20=(0.03, 0.05),  # user 3
        distance_10=(0.04, 0.08),  # user 1
        distance_5=(0.2, 0.6),  # user 4
        largest_distance_44_7=(0.5, 0.6),
        largest_distance_28_3=(0.01, 0.03),
        largest_distance_20=(0.03, 0.05),
        largest_distance_10=(0.04, 0.08),
        largest_distance_5=(0.2, 0.6),
        # user 1: 100, 100, 100 and 94 at k of 28.3, 20, 14 and 10, whose mean is 98.5; user 3's
        # are 402, 384, 400 and 400
        distance_all=(4 / 98.5, 8 / 98.5),
        losses_44_7_1=(110, 30),  # as many as arrive, 0.2 / 0.8 of 120
        losses_44_7_2=(25, 80),
        losses_44_7_3=(0, 100),
        losses_44_7_4=(12.5, 0),
        losses_20_1=(25, 0),
        losses_20_2=(0, 50),
        losses_20_3=(97, 380),
        losses_20_4=(50, 51),
        connections_5_1=(1, 1.5),
        connections_5_2=(4, 3),
        connections_5_3=(1, 2),
        connections_5_4=(1, 1),
    )


def silent_run(*four: str) -> Run:
    """Return a run with throughputs of users every half second from 100 s on.

    Each bin is a letter, or a dot without throughput. Before 100 s no user has throughput.
    """
    early = "....."
    stamps = [100 + 0.5 * (k + 1 - len(early)) for k in range(len(early) + len(four[0]))]
    tracks = []
    for user, bins in zip(USERS, four, strict=True):
        values = [0.0 if letter == "." else 8e5 for letter in early + bins]
        tracks += [
            {"list": "flows", "name": f"user-{user}", "quantity": "goodput_bps", "values": values},
            {"list": "flows", "name": f"user-{user}", "quantity": "rtt_s", "values": [0.0] * 99},
        ]
    return Run({}, series={"time_s": stamps, "tracks": tracks})


def test_figure_6_11_has_totals_gaps_and_silences():
    runs = {"200": a_net(), "1000": a_net(times(2, RATES)), "1800": a_net(times(0.5, RATES))}
    every_bin = ("xxxxxxxx",) * 3
    seen = {
        "xxxxxxxx": 0,
        "x..xxxxx": 1,  # one silence of a second
        "..xxxx.x": (1 + 0.25) / 1.5,  # a second and half a second
        "xxxxx...": 1.5,
        "........": 4,
        "x.x.x.x.": 0.5,
        "....x...": (4 + 2.25) / 3.5,  # two seconds and one and a half
        ".xxxxxxx": 0.5,
        "x......x": 3,
    }
    shown = [*seen, "xx....xx"]
    for seed, bins in enumerate(shown, 1):
        runs[f"silence-{seed}"] = silent_run(bins, *every_bin)
    # the last with another user's of half a second, and with two seconds
    runs["silence-10"] = silent_run("xx....xx", *every_bin[1:], "xxxxxx.x")
    measured = measure("fig6_11", runs)
    for beta, worth in ((200, (15, 30)), (1000, (7.5, 15)), (1800, (30, 60))):
        gap = [BEST_WORTH["a"] - value for value in worth]
        assert measured.pop(f"gap_{beta}").samples == pytest.approx(gap, abs=1e-3)
    expect(
        measured,
        total_200=(1020, 510),
        total_1000=(2040, 1020),
        total_1800=(510, 255),
        starvation_1800=(*seen.values(), (4 + 0.25) / 2.5),
    )


def test_figure_6_12_has_totals_gaps_and_the_mean_number_of_connections():
    counts: Four = ((4, 5), (12, 13), (6, 7), (10, 11))  # means 8 and 9
    runs = {
        f"{k}": a_net(times(factor, RATES), connections=times(factor, counts))
        for k, factor in ((10, 1), (15, 0.5), (20, 2))
    }
    measured = measure("fig6_12", runs)
    for k, worth in ((10, (15, 30)), (15, (30, 60)), (20, (7.5, 15))):
        gap = [BEST_WORTH["a"] - value for value in worth]
        assert measured.pop(f"gap_{k}").samples == pytest.approx(gap, abs=1e-3)
    expect(
        measured,
        total_10=(1020, 510),
        total_15=(510, 255),
        total_20=(2040, 1020),
        connections_10=(8, 9),
        connections_15=(4, 4.5),
        connections_20=(16, 18),
    )


def test_table_6_5_has_efficiency_and_overhead_of_each_user():
    runs = {
        "nack": a_net(
            # sent in 400 s at 14 us each, a packet/s takes 5.6 ms
            ((7.55, 22.65), (43, 86), (100, 100), (10, 20)),
            # 418 and 12 us: 100 opened and 40 closed take 42.28 ms, 560 and 560 240.8 ms
            opened=((100, 100), (560, 560), (0, 1000), (0, 0)),
            closed=((40, 40), (560, 560), (0, 1000), (0, 0)),
        ),
        "light": a_net(),
    }
    expect(
        measure("table6_5", runs),
        efficiency_1=(0.5, 0.75),  # 42.28 ms, 126.84 ms next to 42.28 ms
        efficiency_2=(0.5, 2 / 3),  # 240.8 ms, 481.6 ms next to 240.8 ms
        efficiency_3=(1, 56 / 99),  # 560 ms next to nothing, and 430 ms
        efficiency_4=(1, 1),
        overhead_1=(0.5, 0.25),
        overhead_2=(0.5, 1 / 3),
        overhead_3=(0, 43 / 99),
        overhead_4=(0, 0),
    )


def test_figure_6_14_has_the_middle_flow_the_others_and_the_optimum():
    runs = {
        "lcsma": a_net({"upper": (150, 160), "middle": (5, 6), "lower": (170, 180)}),
        "hack": a_net({"upper": (7, 7), "middle": (8, 8), "lower": (9, 9)}),
        "nack": a_net({"upper": (120, 130), "middle": (56.332, 112.665), "lower": (1, 2)}),
    }
    measured = measure("fig6_14", runs)
    # middle and others take t and 1 - t, in halves: 2 / t + 4 / (1 - t) is least at 1 / (1 + sqrt
    # 2), where the middle flow gets half of that of 544
    best = 272 / (1 + sqrt(2))
    away = measured.pop("distance_middle").samples
    assert away == pytest.approx([1 - 56.332 / best, 1 - 112.665 / best], abs=1e-4)
    assert away == pytest.approx([0.5, 0.0], abs=1e-4)
    expect(measured, lcsma_middle=(5, 6), lcsma_others=(160, 170), scheme_middle=(56.332, 112.665))


def test_figure_6_15_has_gaps_to_the_optimum_of_e():
    names = list(E)
    runs = {
        name: a_net(dict(zip(names, rates, strict=True)))
        for name, rates in {
            "nack": ((136, 68), (272, 136), (136, 544)),  # worth 4 + 2 + 4, 8 + 4 + 1
            "lcsma": ((34, 136), (544, 272), (272, 136)),  # 16 + 1 + 2, 4 + 2 + 4
            "hack": ((1, 1), (2, 2), (3, 3)),
        }.items()
    }
    measured = measure("fig6_15", runs)
    flows = {name: measured.pop(f"lcsma_{name}") for name in ("a_to_g", "b_to_c", "i_to_g")}
    expect(flows, a_to_g=(34, 136), b_to_c=(544, 272), i_to_g=(272, 136))
    assert set(measured) == {"gap_scheme", "gap_lcsma"}
    best = sum(544 / rate for rate in E.values())
    assert measured["gap_scheme"].samples == pytest.approx([best - 10, best - 13], abs=1e-3)
    assert measured["gap_lcsma"].samples == pytest.approx([best - 19, best - 10], abs=1e-3)
    assert best == pytest.approx(11.1923, abs=1e-4)


def test_with_a_long_first_timeout_the_user_that_is_farthest_from_the_optimum_is_shown():
    runs = {f"{v}-nack-{t}": a_net() for v in VARIANTS for t in TOPOLOGIES}
    for topology, best in BEST.items():
        rates: Four = [
            (0.9 * rate, 1.3 * rate) if user == 2 else (rate, 0.95 * rate)
            for user, rate in zip(USERS, best, strict=True)
        ]
        runs[f"patient-nack-{topology}"] = a_net(rates)
    runs["patient-nack-b"] = a_net([(0.8 * rate, 0.9 * rate) for rate in BEST["b"]])
    measured = {
        name: quantity
        for name, quantity in STUDY["fig6_2"].shown(runs).items()
        if name.startswith("farthest")
    }
    expect(
        measured,
        farthest_patient_nack_a=(-0.1, 0.3),  # user 2 has more than the optimum on average
        farthest_patient_nack_b=(0.2, 0.1),  # less
        farthest_patient_nack_c=(-0.1, 0.3),
    )


def test_costs_are_those_of_the_stored_measurement(monkeypatch):
    rounds = {
        "socket_s": [1e-6, 3e-6],
        "handshake_s": [4e-5, 5e-5],
        "packet_s": [5e-6, 6e-6],
        "close_s": [7e-6, 8e-6],
        "socket_elapsed_s": [9, 9],
        "memory_threads_mb": [2.3, 2.5],
        "memory_one_thread_mb": [0.1, 0.2],
    }
    monkeypatch.setattr(costs, "measured_costs", lambda: {"rounds": rounds})
    expect(
        measure("costs", {}),
        socket_s=(1e-6, 3e-6),
        handshake_s=(4e-5, 5e-5),
        packet_s=(5e-6, 6e-6),
        close_s=(7e-6, 8e-6),
        open_s=(4.1e-5, 5.3e-5),
        memory_threads_mb=(2.3, 2.5),
        memory_one_thread_mb=(0.1, 0.2),
    )


# -- setup -------------------------------------------------------------------------------------


@cache
def scenarios(name: str) -> dict[str, Mapping]:
    return normalised(STUDY[name])


CHAPTER_4 = ("fig4_2", "fig4_3", "figb_1")
KS = {"44_7": 44.7, "28_3": 28.3, "20": 20, "14": 14, "10": 10, "5": 5}
BETAS = {"44_7": 10, "28_3": 25, "20": 50, "14": 102, "10": 200, "5": 800}
"""Settings of figure 6.10: with 44.7 goes 10, with 5 800 (770), and k^2 beta is 20000 (768)."""


PAYLOAD = {"tcp": "mss_bytes", "udp": "payload_bytes"}
"""The key of the payload. Datagrams have 40 bytes more in it, where TCP has its header."""


def is_legacy(name: str, point: str) -> bool:
    """Return whether links run L-CSMA."""
    return point.startswith(("lcsma", "plain", "room", "legacy")) and name != "fig6_9"


def variant_of(point: str) -> str | None:
    return next((variant for variant in VARIANTS if variant in point.split("-")), None)


def one_connection(name: str, point: str) -> bool:
    """Return whether users have a single connection, as with L-CSMA and in chapter 4."""
    return name in CHAPTER_4 or is_legacy(name, point)


@pytest.mark.parametrize("name", SIMULATED)
def test_packets_are_of_1000_bytes_over_links_without_errors(name):
    for point, tree in scenarios(name).items():
        flows, links = tree["csma"]["flows"], tree["csma"]["links"]
        # "packet payload is 1000 bytes" (296, 319, 857)
        kind, wanted = ("udp", 1040) if name == "capacity" else ("tcp", 1000)
        sizes = every([flow[kind] for flow in flows], PAYLOAD[kind])
        assert sizes == {wanted}, point
        assert every([flow[kind] for flow in flows], "header_bytes") == {40}
        # "zero channel losses" (690)
        assert every(links, "error") == {0}
        assert every(links, "r") == {None}
        # "All topologies consist of four links, with each link carrying a single user data flow"
        if name not in ("fig6_14", "fig6_15"):
            assert [flow["route"] for flow in flows] == [["1"], ["2"], ["3"], ["4"]]


@pytest.mark.parametrize("name", [name for name in SIMULATED if name != "capacity"])
def test_connections_are_of_reno(name):
    """ "TCP Reno over Adaptive CSMA" (3)."""
    for point, tree in STUDY[name].points.items():
        kind = variant_of(point)
        assert tree["tcp"] == {
            "congestion": "reno",
            "window": 1000,
            "delayed_ack": kind == "delayed",
            "handshake": kind == "opened",
            "initial_rto": "30 s" if kind == "patient" else "3 s",
            "mss": "1000 B",
        }, point


@pytest.mark.parametrize("name", [name for name in SIMULATED if name != "capacity"])
def test_k_is_10_unless_it_is_swept(name):
    for point, tree in scenarios(name).items():
        csma = tree["csma"]
        if one_connection(name, point):
            # "Each link carries a single TCP Reno session" (319)
            assert only(csma, "connections", "k_per_s") == {"connections": "one", "k_per_s": None}
            continue
        # "By default, 1) k ... is 10" (690); "k = 10, k = 15, and k = 20" (813)
        wanted = KS[point] if name == "fig6_10" else 10
        if name == "fig6_12":
            wanted = float(point.partition("-")[0])
        if point.startswith("larger"):
            # windows of Reno are 1.31 / sqrt p, not sqrt(2 / p)
            wanted = 10 * sqrt(2) / 1.31
        assert csma["k_per_s"] == pytest.approx(wanted), point
        # "we update the connection number every 5 seconds" (690)
        assert csma["connections"] == "rtt"
        assert csma["connections_interval_s"] == 5
        # n_s is not smoothed, except in the comparison of smoothing
        if "smooth" not in point:
            assert csma["smoothing"] == 0, point
        nearest = name == "fig6_2" and point == "nack-smooth"
        assert csma["rounding"] == ("nearest" if nearest else "down")


SMOOTHED = {
    "fig6_2": {"nack-smooth": 0.9, **{f"smooth-{cure}-{t}": 0.5 for cure in CURES for t in "abc"}},
    "fig6_3": {"smooth": 0.5},
    "fig6_4": {"smooth": 0.5},
    "fig6_11": {f"{beta}-smooth": 0.5 for beta in (200, 1000, 1800)},
    "fig6_12": {f"{k}-smooth": 0.5 for k in (10, 15, 20)},
    # nine parts in ten of both, and the variant
    "fig6_14": {"hack-smoother": 0.9, "nack-smoother": 0.9, "nack-smooth": 0.5},
    "fig6_15": {"hack-smoother": 0.9, "nack-smoother": 0.9, "nack-smooth": 0.5},
}
"""Weight of the past for smoothed numbers of connections; 0.5 is "the average of the current
and last value" (712)."""


@pytest.mark.parametrize("name", SMOOTHED)
def test_numbers_of_connections_are_smoothed_by_these_weights(name):
    weights = {point: tree["csma"]["smoothing"] for point, tree in scenarios(name).items()}
    assert {point: weight for point, weight in weights.items() if weight} == SMOOTHED[name]


def stated_beta(name: str, point: str) -> float:
    if name in ("fig4_2", "fig4_3"):
        return 800  # 319
    if name == "fig6_11":
        return 1800 if point.startswith("silence-") else float(point.partition("-")[0])  # 794
    if name == "fig6_10":
        return BETAS[point]
    if name == "figb_1":
        # "The simulation topology and setup are the same as that in Fig. 4.1" (945)
        return float(point) if point.isdigit() else 800
    return 200  # 690, 804


@pytest.mark.parametrize("name", SIMULATED)
def test_beta_is_200_and_800_in_chapter_4_unless_it_is_swept(name):
    for point, tree in scenarios(name).items():
        if not is_legacy(name, point):
            # whole numbers but for k^2 beta, which is 20000 with all of its digits
            assert tree["csma"]["beta"] == pytest.approx(stated_beta(name, point), rel=2e-3), point
    if name == "fig6_10":
        for tree in scenarios(name).values():
            assert tree["csma"]["k_per_s"] ** 2 * tree["csma"]["beta"] == pytest.approx(20000)


@pytest.mark.parametrize("name", SIMULATED)
def test_r_is_read_every_second_and_every_two_in_chapter_4(name):
    """Step times interval are 0.1 (690) and 0.05 times 2 (319): for a packet r is the same."""
    for point, tree in scenarios(name).items():
        csma = tree["csma"]
        if is_legacy(name, point):
            continue
        assert csma["access"] == "adaptive", point
        assert csma["r_interval_s"] == (2 if name in CHAPTER_4 else 1), point
        assert csma["r_per_packet"] == (6e-5 if point == "double" else 3e-5), point
        # "we set the upper bound for r to be r_max = 0.01" (321)
        assert csma["r_max"] == (0.01 if name in ("fig4_2", "fig4_3") else None), point
        # "Discards tail packet with probability min(r, 1)" (521), not before chapter 5
        assert csma["aqm"] is (name not in ("fig4_2", "fig4_3", "capacity")), point
        # "the first queue length measurement methods", packets (596)
        assert csma["queue_unit"] == ("bytes" if point.startswith("bytes") else "packets"), point
        dummy = point.endswith(("dummy", "True"))
        assert csma["dummy"] is dummy, point
        assert csma["queue_packets"] == (1_000_000 if name == "capacity" else 1000)


@pytest.mark.parametrize("name", SIMULATED)
def test_legacy_links_are_of_802_11_or_of_idealised_backoff(name):
    for point, tree in scenarios(name).items():
        if not is_legacy(name, point):
            continue
        csma = tree["csma"]
        # (4.1), at rho = 2.24 (309) unless stated otherwise
        ideal = point == "legacy" or name == "capacity"
        assert csma["access"] == ("legacy" if ideal else "dcf"), point
        assert only(csma, "aqm", "dummy") == {"aqm": False, "dummy": False}
        room = 1_000_000 if name == "capacity" else 1000 if point.startswith("room") else 50
        assert csma["queue_packets"] == room, point
        if ideal:
            continue
        # a link that reads its neighbours' frames does not wait for EIFS
        reads = point.startswith("plain") or name in ("fig6_14", "fig6_15")
        assert csma["dcf"] == {
            "slot_s": 20e-6,
            "difs_s": 50e-6,
            "eifs_s": 50e-6 if reads else 364e-6,
            "cwmin": 31,
            "cwmax": 1023,
        }, point


def is_hack(name: str, point: str) -> bool:
    """Return whether TCP ACKs return immediately: in chapter 4, the theorem and named points."""
    if name in CHAPTER_4:
        return point not in ("lcsma", "plain")
    return name == "capacity" or "hack" in point or point.startswith("larger")


@pytest.mark.parametrize("name", SIMULATED)
def test_acks_return_immediately_or_contend_in_exchanges_of_these_lengths(name):
    for point, tree in scenarios(name).items():
        csma = tree["csma"]
        now = only(csma, "acks", "service_rate_pps", "overhead_s")
        if is_hack(name, point):
            # "TCP ACK is sent back instantaneously" (592), "fixed maximum ... r_max" (321)
            continuous = name == "capacity" or variant_of(point) == "theory" or point == "legacy"
            rate, overhead = 600 if continuous else 559, 0
        else:
            light = "light" in point
            rate, overhead = (650, 0) if light else (811, 0.476e-3)
        assert now == {
            "acks": "priority" if is_hack(name, point) else "contend",
            "service_rate_pps": rate,
            "overhead_s": pytest.approx(overhead),
        }, point


def test_rates_of_exchanges_are_those_of_1000_bytes_at_11_mbps():
    """ "data rate is 11Mbps" (690). [us]"""
    data, ack, difs = 476 + 8 * 1040 / 11, 476 + 8 * 40 / 11, 50
    assert 1e6 / data == pytest.approx(811, abs=1)
    assert 1e6 / (data + difs + ack) == pytest.approx(559, abs=1)
    assert 1e6 / (difs + data + difs + ack) == pytest.approx(network.C_PPS, abs=1)


@pytest.mark.parametrize("name", SIMULATED)
def test_links_wait_as_in_the_802_11_module(name):
    for point, tree in scenarios(name).items():
        if is_legacy(name, point):
            continue
        kind = variant_of(point)
        near = name in ("fig6_14", "fig6_15")  # where links share nodes
        slot, difs, eifs = 20e-6, 50e-6, 50e-6 if near else 364e-6
        if kind == "theory" or name == "capacity":
            slot, difs, eifs = None, 0.0, 0.0
        elif kind == "slots":
            difs, eifs = 0.0, 0.0
        elif kind == "silences":
            slot = None
        assert tree["csma"]["pace"] == {"slot_s": slot, "difs_s": difs, "eifs_s": eifs}, point


def conflicts_of(tree) -> set[frozenset[str]]:
    return {
        frozenset((link["name"], other))
        for link in tree["csma"]["links"]
        for other in link["conflicts"]
    }


@pytest.mark.parametrize("name", [name for name in SIMULATED if name not in ("fig6_14", "fig6_15")])
def test_links_that_can_send_simultaneously_are_those_of_the_topology(name):
    for point, tree in scenarios(name).items():
        topology = point[-1] if name == "fig6_2" and point[-2:-1] == "-" else "a"
        unlike = conflicts_of(tree)
        sets = [
            "".join(some)
            for count in range(5)
            for some in combinations("1234", count)
            if not any(frozenset(pair) in unlike for pair in combinations(some, 2))
        ]
        assert sets == list(SETS[topology]), point


def test_topology_d_has_six_links_and_three_flows_of_two_hops():
    """ "a nine-node wireless network with six links", "three user flows" (866)."""
    for tree in scenarios("fig6_14").values():
        assert [flow["name"] for flow in tree["csma"]["links"]] == ["1", "2", "3", "4", "5", "6"]
        routes = {link["name"]: link["route"] for link in tree["csma"]["flows"]}
        assert routes == {"upper": ["1", "2"], "middle": ["3", "4"], "lower": ["5", "6"]}
        # links of the middle flow wait for all others, and outer links only for the middle flow
        unlike = conflicts_of(tree)
        assert all(frozenset((mine, outer)) in unlike for mine in "34" for outer in "1256")
        assert not any(frozenset((first, other)) in unlike for first in "12" for other in "56")
        assert {frozenset("12"), frozenset("34"), frozenset("56")} <= unlike


def test_topology_e_has_two_access_points_and_a_wire_of_2_mbps():
    for tree in scenarios("fig6_15").values():
        # "paths are from node a to node g, node b to node c and node i to g" (878)
        ends = [
            (route[0].partition("-")[0], route[-1].partition("-")[2])
            for route in (link["route"] for link in tree["csma"]["flows"])
        ]
        assert ends == [("a", "g"), ("b", "c"), ("i", "g")]
        # "a, b and c are associated with AP d while ... i is associated with AP h" (878)
        assert [link["name"] for link in tree["csma"]["links"]] == ["a-d", "b-d", "d-c", "i-h"]
        assert conflicts_of(tree) == {
            frozenset(pair) for pair in combinations(("a-d", "b-d", "d-c"), 2)
        }
        # "f-to-g has the link capacity of 2Mb and other wired links ... 20 Mb" (878)
        wires = {
            flow["name"]: flow["rate_bps"] for flow in tree["links"] if "/" not in flow["name"]
        }
        assert wires == {"d-e": 20e6, "h-e": 20e6, "e-f": 20e6, "f-g": 2e6}
        assert every(tree["links"], "loss") == {0}


SECONDS = {
    "capacity": {"1": (2000, 3000), "2": (4000, 5000)},
    "fig6_3": {"1": (250, 375), "2": (375, 500)},
}


@pytest.mark.parametrize("name", SIMULATED)
def test_runs_take_500_s_and_the_first_100_s_are_left_out(name):
    for point, tree in scenarios(name).items():
        length = SECONDS.get(name, {}).get(point.rpartition("-")[2], (100, 500))
        if name == "fig4_3":
            begin, end = map(int, point.split("-"))
            length = begin, end
        assert (tree["warmup_s"], tree["duration_s"]) == length, point
        recorded = point.startswith("silence-")
        repeated = 10 if name == "capacity" else 1 if recorded else 30
        assert tree["replications"] == repeated, point
        # silences are seen in bins of half a second, in ten runs
        assert tree["record"]["series_interval_s"] == (0.5 if recorded else None)
        assert tree["seed"] == (int(point.rpartition("-")[2]) if recorded else 1)


def test_arrivals_are_these_parts_of_the_time():
    """Schedules are link 2, 1 with 3, and 1 with 4, of the capacity of 600 packets/s."""
    vectors = {
        "even": (0.6, 0.4, 0.3, 0.3),
        "alone": (0.3, 0.7, 0.15, 0.15),
        "paired": (0.9, 0.1, 0.45, 0.45),
        "unequal": (0.7, 0.3, 0.6, 0.1),
    }
    points = STUDY["capacity"].points
    wanted = [f"acsma-{vector}-0_95" for vector in vectors]
    wanted += ["lcsma-even-0_95", "lcsma-even-0_3"]
    assert list(points) == [f"{stem}-{part}" for stem in wanted for part in (1, 2)]
    for point, tree in points.items():
        _, vector, load, _ = point.split("-")
        for user, part in zip(USERS, vectors[vector], strict=True):
            udp = tree["flow"][f"user-{user}"]["udp"]
            rate = float(load.replace("_", ".")) * part * 600 * 8000
            assert float(udp["rate"].removesuffix(" bps")) == pytest.approx(rate)
            assert only(udp, "packet", "header", "arrivals") == {
                "packet": "1040 B",
                "header": "40 B",
                "arrivals": "poisson",
            }


def test_points_of_every_study_are_these():
    schemes = ("lcsma", *CURES)
    suffixes = ("", *(f"-{variant}" for variant in VARIANTS))
    wanted = {
        "fig4_2": ["lcsma", "acsma", "legacy", "plain"],
        "fig4_3": ["0-20", "20-50", "50-100", "100-200", "400-500"],
        "fig6_2": [
            *(f"{kind}-{t}" for kind in schemes for t in TOPOLOGIES),
            *(f"{kind}-{t}" for kind in ("plain", "room", "light", "larger") for t in TOPOLOGIES),
            *(f"{v}-{kind}-{t}" for v in VARIANTS for kind in CURES for t in TOPOLOGIES),
            "nack-smooth",
        ],
        "fig6_3": [
            *(f"{kind}-{part}" for kind in CURES for part in ("whole", "1", "2")),
            *VARIANTS,
            "light",
        ],
        "fig6_4": ["nack", *VARIANTS],
        "fig6_5": [
            *("packets", "packets-light", "bytes", "bytes-light"),
            *(f"{unit}-{kind}" for kind in ("dummy", *VARIANTS) for unit in ("packets", "bytes")),
        ],
        "fig6_10": ["44_7", "28_3", "20", "14", "10", "5"],
        "fig6_11": [
            *(f"{beta}{kind}" for beta in (200, 1000, 1800) for kind in suffixes),
            *(f"silence-{seed}" for seed in range(1, 11)),
        ],
        "fig6_12": [f"{k}{kind}" for k in (10, 15, 20) for kind in suffixes],
        "table6_5": ["nack", "light"],
        "figb_1": ["100", "200", "400", "800", "double", "theory"],
    }
    for name, points in wanted.items():
        assert list(scenarios(name)) == points, name
