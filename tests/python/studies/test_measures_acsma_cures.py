"""The studies of chapter 6 of paper 001 measure the values of their claims.

The runs have two replications of plain numbers, and all expected values are computed by hand.
"""

from math import sqrt

import pytest

from lasthop.studies.acsma import costs
from lasthop.studies.study import Run

from .acsma_runs import (
    BEST,
    BEST_WORTH,
    RATES,
    STUDY,
    TOPOLOGIES,
    USERS,
    VARIANTS,
    E,
    Four,
    a_net,
    measure,
    times,
    users,
)
from .made_up import Pair, expect


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
            # The total throughputs are 136 + 68 + 272 + 544 and 272 + 34 + 136 + 68 packets/s.
            f"total_lcsma_{topology}": (1020 * factor, 510 * factor),
            f"total_hack_{topology}": (680, 816),
            f"total_nack_{topology}": (612, 680),
        }
        gaps: dict[str, Pair] = {
            "lcsma": (worth - 15 / factor, worth - 30 / factor),
            "hack": (worth - 14, worth - 12),  # by hand: 2 + 4 + 4 + 4, 2 + 2 + 4 + 4
            "nack": (worth - 18, worth - 14),  # by hand: 4 + 2 + 4 + 8, 2 + 4 + 4 + 4
        }
        for scheme, gap in gaps.items():
            assert measured.pop(f"gap_{scheme}_{topology}").samples == pytest.approx(gap, abs=1e-3)
        for scheme, rates in treated.items():
            each = zip(rates, best, strict=True)
            off = [(first / rate - 1, other / rate - 1) for (first, other), rate in each]
            worked |= users(f"off_{scheme}_{topology}", off)
    worked |= {
        # In topology a, user 3 is farthest in the first replication, below its wanted rate.
        # In the second replication user 2 is farthest, above its wanted rate.
        # In topology b, user 1 has nearly twice its wanted rate in both replications.
        # In topology c, user 1 is farthest in one replication and user 2 in the other.
        "largest_distance_a": (1 - 136 / BEST["a"][2], 272 / BEST["a"][1] - 1),
        "largest_distance_b": (272 / BEST["b"][0] - 1, 272 / BEST["b"][0] - 1),
        "largest_distance_c": (272 / BEST["c"][0] - 1, 272 / BEST["c"][1] - 1),
    }
    expect(measured, **worked)


def test_figure_6_3_has_drift_of_r_and_numbers_of_connections():
    counts: Four = ((5, 6), (20, 21), (7, 8), (9, 9.5))
    runs = {
        "hack-whole": a_net(connections=counts),
        "hack-1": a_net(r=((1, 2), (2, 2), (3, 2), (4, 2))),  # mean r: 2.5 and 2 thousandths
        "hack-2": a_net(r=((2, 1), (2, 1), (3, 3), (4, 1))),  # mean r: 2.75 and 1.5 thousandths
        "nack-whole": a_net(connections=times(2, counts)),
        "nack-1": a_net(r=((4, 1),) * 4),
        "nack-2": a_net(r=((3, 1), (3, 1), (3, 1), (3, 3))),  # mean r: 3 and 1.5 thousandths
        "light": a_net(),
        **{variant: a_net() for variant in VARIANTS},
    }
    expect(
        measure("fig6_3", runs),
        drift_hack=(0.1, 0.25),  # by hand: 2.75 / 2.5, 1.5 / 2
        drift_nack=(0.25, 0.5),  # by hand: 3 / 4, 1.5 / 1
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
        retransmissions_1=(1, 2),  # in the 400 s after the warm-up
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
            r=((50, 300), (150, 900), (100, 600), (100, 600)),  # mean r: 0.1 and 0.6
            forward=((1, 4), (2, 4), (3, 4), (4, 4)),  # mean queues: 2.5 and 4
            back=((20, 2), (30, 2), (20, 2), (80, 2)),  # mean queues: 37.5 and 2
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
        queue_ratio_packets=(0.5, 0.25),  # by hand: 2 / 4, 2 / 8
        r_ratio=(2, 0.5),  # The mean r of the reverse links is 0.2 and 0.3.
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
        distance_44_7=(0.5, 0.6),  # user 2 is farthest
        distance_28_3=(0.01, 0.03),  # user 2 is farthest
        distance_20=(0.03, 0.05),  # user 3 is farthest
        distance_10=(0.04, 0.08),  # user 1 is farthest
        distance_5=(0.2, 0.6),  # user 4 is farthest
        largest_distance_44_7=(0.5, 0.6),
        largest_distance_28_3=(0.01, 0.03),
        largest_distance_20=(0.03, 0.05),
        largest_distance_10=(0.04, 0.08),
        largest_distance_5=(0.2, 0.6),
        # For k of 28.3, 20, 14 and 10, user 1 has 100, 100, 100 and 94 packets/s: 98.5 on average.
        # User 3 has 402, 384, 400 and 400 packets/s.
        distance_all=(4 / 98.5, 8 / 98.5),
        losses_44_7_1=(110, 30),  # as many losses as deliveries; 0.2 / 0.8 of 120 deliveries
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
    """Return a run with the throughputs of four users every half second, from 100 s on.

    Each bin is a letter, or a dot if the user has no throughput. Before 100 s no user has
    throughput.
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
        "x..xxxxx": 1,  # one interval of a second
        "..xxxx.x": (1 + 0.25) / 1.5,  # intervals of a second and half a second
        "xxxxx...": 1.5,
        "........": 4,
        "x.x.x.x.": 0.5,
        "....x...": (4 + 2.25) / 3.5,  # intervals of two seconds and 1.5 seconds
        ".xxxxxxx": 0.5,
        "x......x": 3,
    }
    shown = [*seen, "xx....xx"]
    for seed, bins in enumerate(shown, 1):
        runs[f"silence-{seed}"] = silent_run(bins, *every_bin)
    # In the last run, user 1 has an interval of two seconds without throughput.
    # Another user has an interval of half a second without throughput.
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
    counts: Four = ((4, 5), (12, 13), (6, 7), (10, 11))  # mean numbers: 8 and 9
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
            # In 400 s, one packet/s takes 5.6 ms of CPU time at 14 us per packet.
            ((7.55, 22.65), (43, 86), (100, 100), (10, 20)),
            # Opening a connection takes 418 us of CPU time, and closing a connection takes 12 us.
            # Therefore 100 opened and 40 closed connections take 42.28 ms.
            # 560 opened and 560 closed connections take 240.8 ms.
            opened=((100, 100), (560, 560), (0, 1000), (0, 0)),
            closed=((40, 40), (560, 560), (0, 1000), (0, 0)),
        ),
        "light": a_net(),
    }
    expect(
        measure("table6_5", runs),
        efficiency_1=(0.5, 0.75),  # 42.28 ms and 126.84 ms, compared with 42.28 ms
        efficiency_2=(0.5, 2 / 3),  # 240.8 ms and 481.6 ms, compared with 240.8 ms
        efficiency_3=(1, 56 / 99),  # 560 ms, compared with 0 ms and 430 ms
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
    # The links of the middle flow are active for a fraction t of the time, half of t each.
    # The links of the other flows are active for 1 - t.
    # The optimum is the minimum of 2 / t + 4 / (1 - t), which is at t = 1 / (1 + sqrt 2).
    # At the optimum, the middle flow gets half of t times 544 packets/s.
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
            "nack": ((136, 68), (272, 136), (136, 544)),  # sums 4 + 2 + 4 and 8 + 4 + 1
            "lcsma": ((34, 136), (544, 272), (272, 136)),  # sums 16 + 1 + 2 and 4 + 2 + 4
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
        farthest_patient_nack_a=(-0.1, 0.3),  # user 2 is above the optimum on average
        farthest_patient_nack_b=(0.2, 0.1),  # user 2 is below the optimum
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
