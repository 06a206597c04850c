"""The studies of paper 002 measure the values of their claims.

The runs have two replications of plain numbers, and all expected values are computed by hand.
Quantities that a measure must not read have other numbers.
"""

import pytest

from lasthop.studies.hotspot import (
    beta,
    fig02,
    fig04,
    fig05,
    fig06,
    fig09,
    fig12,
    fig13,
    footnote_9,
    multirate,
    shared,
    two_stations,
    udp,
    windows,
)
from lasthop.studies.study import Run

from .hotspot_points import CONNECTIONS, WINDOWS
from .made_up import Pair, a_run, expect

ETA: dict[int, Pair] = {1: (2, 3), 2: (4, 5), 3: (6, 8), 4: (8, 9), 5: (9, 10), 6: (9.5, 11)}
"""Fairness levels by number of station 1's connections. [-]"""
QUEUE: dict[int, Pair] = {
    1: (1, 2),
    2: (3, 5),
    3: (30, 41),
    4: (70, 80),
    5: (115, 121),
    6: (150, 164),
}
"""Packets in the queue of station 1 by number of its connections. [packets]"""
SHAPE: dict[str, Pair] = {
    "queue_step_2": (2, 3),  # by hand: 3 - 1, 5 - 2
    "queue_step_3": (27, 36),  # by hand: 30 - 3, 41 - 5
    "queue_step_4": (40, 39),  # by hand: 70 - 30, 80 - 41
    "queue_step_5": (45, 41),  # by hand: 115 - 70, 121 - 80
    "queue_step_6": (35, 43),  # by hand: 150 - 115, 164 - 121
    "queue_growth": (40, 41),  # by hand: (150 - 30) / 3, (164 - 41) / 3
    "queue_straightness": (
        185 / 180,
        201 / 205,
    ),  # by hand: (70 + 115) / (30 + 150), (80 + 121) / (41 + 164)
}
OTHERS = (0.05, 0.1, 0.15, 0.1)
"""Goodput shares of the four other stations, 0.1 on average. [-]"""


def a_cell(
    eta: Pair, queue: Pair = (77, 78), total_mbps: Pair = (55, 66), ap: Pair = (71, 73)
) -> Run:
    """Return a run with this fairness level eta. The goodput share of station 1 is 0.1 eta; the
    other stations have 0.1 on average.
    """
    first = {
        "goodput_share": [0.1 * value for value in eta],
        "goodput_bps": (3.1e6, 3.7e6),
        "queue_packets": queue,
        "collision_rate": (0.3, 0.4),
    }
    stations = {"first": first}
    for k, share in enumerate(OTHERS, 1):
        stations[f"others-{k}"] = {
            "goodput_share": (share, share),
            "goodput_bps": (k * 1e5, k * 2e5),
            "queue_packets": (13, 17),
        }
    cell = {"goodput_bps": [1e6 * value for value in total_mbps], "updown_ratio": (0.7, 0.9)}
    queues = {"queue_packets": ap, "collision_rate": (0.2, 0.25)}
    return a_run(stations=stations, cells={"cell": cell}, aps={"ap": queues})


def by_connections() -> dict[str, Run]:
    return {str(x): a_cell(ETA[x], QUEUE[x], ap=(70 + x, 60 + x)) for x in CONNECTIONS}


def test_a_station_has_goodputs_with_one_and_with_two_downloads():
    stations = {
        "first": {"goodput_bps": (3.2e6, 3.4e6), "goodput_share": (0.6, 0.7)},
        "others-1": {"goodput_bps": (1.6e6, 1.5e6), "goodput_share": (0.4, 0.3)},
    }
    measured = two_stations.STUDY.measure({"one against two": a_run(stations=stations)})
    expect(measured, goodput_1=(1.6, 1.5), goodput_2=(3.2, 3.4))


def test_figure_2_has_the_four_levels_and_goodputs_with_and_without_the_slow_station():
    runs = {
        "up_down": a_cell((2, 3)),
        "down_down": a_cell((6, 5)),
        "up_up": a_cell((2.5, 2.4)),
        "multirate": a_cell((3, 10)),
    }
    expect(
        fig02.STUDY.measure(runs),
        eta_up_down=(2, 3),
        eta_down_down=(6, 5),
        eta_up_up=(2.5, 2.4),
        eta_multirate=(3, 10),
        eta_multirate_over_single=(0.5, 2),  # by hand: 3 / 6, 10 / 5
        **{
            f"goodput_{case}_{station}": pair
            for case in ("down_down", "multirate")
            for station, pair in {
                1: (3.1, 3.7),
                2: (0.1, 0.2),
                3: (0.2, 0.4),
                4: (0.3, 0.6),
                5: (0.4, 0.8),
            }.items()
        },
    )


def test_goodputs_of_figure_2_belong_to_the_case_in_their_name():
    runs = {case: a_cell((1, 1)) for case in ("up_down", "down_down", "up_up", "multirate")}
    first = dict(runs["multirate"].samples["stations"]["first"], goodput_bps=(0.5e6, 0.6e6))
    stations = {**runs["multirate"].samples["stations"], "first": first}
    measured = fig02.STUDY.measure({**runs, "multirate": a_run(stations=stations)})
    assert tuple(measured["goodput_multirate_1"].samples) == (0.5, 0.6)
    assert tuple(measured["goodput_down_down_1"].samples) == (3.1, 3.7)


def test_figure_5_has_levels_and_queue_of_station_1_and_how_they_grow():
    expect(
        fig05.STUDY.measure(by_connections()),
        **{f"eta_{x}": ETA[x] for x in CONNECTIONS},
        **{f"queue_{x}": QUEUE[x] for x in CONNECTIONS},
        rise_1_3=(4, 5),  # by hand: 6 - 2, 8 - 3
        rise_4_6=(1.5, 2),  # by hand: 9.5 - 8, 11 - 9
        **SHAPE,
    )


def test_figure_6_has_levels():
    expect(fig06.STUDY.measure(by_connections()), **{f"eta_{x}": ETA[x] for x in CONNECTIONS})


def test_figure_9_has_the_access_points_queue_too():
    expect(
        fig09.STUDY.measure(by_connections()),
        **{f"eta_{x}": ETA[x] for x in CONNECTIONS},
        **{f"queue_{x}": QUEUE[x] for x in CONNECTIONS},
        **{f"ap_queue_{x}": (70 + x, 60 + x) for x in CONNECTIONS},
        **SHAPE,
    )


@pytest.mark.parametrize("study", [multirate.FIG07, multirate.FIG10], ids=lambda study: study.name)
def test_figures_7_and_10_compare_the_slow_station_with_the_same_at_full_rate(study):
    runs = {f"slow-{x}": a_cell(ETA[x]) for x in CONNECTIONS}
    runs |= {f"fast-{x}": a_cell((4, 2 * x)) for x in CONNECTIONS}
    expect(
        study.measure(runs),
        **{f"eta_{x}": ETA[x] for x in CONNECTIONS},
        eta_ratio_1=(0.5, 1.5),  # by hand: 2 / 4, 3 / 2
        eta_ratio_2=(1, 1.25),  # by hand: 4 / 4, 5 / 4
        eta_ratio_3=(1.5, 8 / 6),
        eta_ratio_4=(2, 9 / 8),
        eta_ratio_5=(2.25, 1),  # by hand: 9 / 4, 10 / 10
        eta_ratio_6=(2.375, 11 / 12),
    )


def predicted(run: Run, eta: float) -> Run:
    """Return the run, with this fairness level as the prediction of the model."""
    shares = {name: {"goodput_share": 0.1} for name in run.items("stations")}
    return Run(run.samples, {"stations": {**shares, "first": {"goodput_share": 0.1 * eta}}})


def test_figure_8_has_levels_by_window_and_the_largest_error_of_the_model():
    # The model predicts 2.
    # The mean of the simulation is 1.6 for a window of 20, and 2.3 for a window of 36.
    special: dict[int, Pair] = {20: (1.4, 1.8), 36: (2.2, 2.4)}
    levels = {w: special.get(w, (1.9, 2.1)) for w in WINDOWS}
    expect(
        windows.FIG08.measure({str(w): predicted(a_cell(pair), 2) for w, pair in levels.items()}),
        **{f"eta_{w}": pair for w, pair in levels.items()},
        error_16_24=(0.3, 0.1),  # by hand: (2 - 1.4) / 2, (2 - 1.8) / 2
        error_elsewhere=(0.1, 0.2),  # by hand: (2.2 - 2) / 2, (2.4 - 2) / 2
    )


def test_without_a_prediction_there_is_no_error_of_the_model():
    measured = windows.FIG08.measure({str(w): a_cell((1, 2)) for w in WINDOWS})
    assert measured["error_16_24"].measured().simulated is None


def test_figure_11_has_queues_round_trips_and_losses_of_all_stations():
    runs = {}
    for w in WINDOWS:
        run = a_cell((w / 100, w / 50), queue=(w / 10, w / 5), total_mbps=(w, 5))
        stations = {**run.samples["stations"]}
        stations["others-3"] = {**stations["others-3"], "queue_packets": (18, 20)}
        flows = {
            f"{name}/up/1": {"rtt_s": (0.2, 0.2), "loss_probability": (0, 0)}
            for name in run.items("stations")
        }
        flows["first/up/1"] = {"rtt_s": (0.1, 0.3), "loss_probability": (0, 0)}
        flows["others-2/up/1"] = {"rtt_s": (0.2, 0.2), "loss_probability": (w / 1000, 0)}
        runs[str(w)] = a_run(**{**run.samples, "stations": stations, "flows": flows})
    expect(
        windows.FIG11.measure(runs),
        goodput=(195 / 9, 5),  # The sum of the nine windows is 195 packets.
        **{f"eta_{w}": (w / 100, w / 50) for w in WINDOWS},
        **{f"queue_{w}": (w / 10, w / 5) for w in WINDOWS},
        **{f"others_queue_{w}": (18, 20) for w in WINDOWS},
        **{f"rtt_ratio_{w}": (0.5, 1.5) for w in WINDOWS},
        **{f"segment_loss_{w}": (w / 1000, 0) for w in WINDOWS},
    )


def test_footnote_9_has_levels_without_and_with_the_bottleneck():
    runs = {str(w): a_cell((w / 100, w / 50)) for w in WINDOWS}
    runs |= {f"with-{w}": a_cell((1, w)) for w in WINDOWS}
    expect(
        footnote_9.STUDY.measure(runs),
        **{f"eta_{w}": (w / 100, w / 50) for w in WINDOWS},
        **{f"eta_vsb_{w}": (1, w) for w in WINDOWS},
    )


def test_beta_is_uplink_over_downlink_goodput_and_the_recipe_has_window_29():
    def run(cwmin: int) -> Run:
        flows = {
            "first/udp-up/1": {"goodput_bps": (cwmin * 1e5, cwmin * 1e5), "loss": (0.1, 0.2)},
            "first/udp-down/1": {"goodput_bps": (2e6, 4e6), "loss": (0.3, 0.4)},
        }
        return a_run(flows=flows, scenario={"stations": [{"cwmin": cwmin}]})

    measured = beta.STUDY.measure({str(cwmin): run(cwmin) for cwmin in range(24, 36)})
    worked = {f"cwmin_{cwmin}": (cwmin / 20, cwmin / 40) for cwmin in range(24, 36)}
    expect(measured, recipe=(1.45, 0.725), **worked)  # 2.9 Mb/s divided by 2 and by 4 Mb/s
    # The Markov chain gives 1.199 with the CWmin of the recipe.
    # It gives 1 if stations have the access point's CWmin, 34.
    assert measured["recipe"].predicted == pytest.approx(1.199, abs=5e-4)
    assert measured["cwmin_34"].predicted == pytest.approx(1.0)


def test_with_the_bottleneck_each_figure_has_levels_and_average_goodputs():
    def points(kind: str, figure: int, factor: float) -> dict[str, Run]:
        along = WINDOWS if figure in (8, 11) else CONNECTIONS
        return {
            f"{kind}-fig{figure:02d}-{x}": a_cell(
                (figure + x / 100, figure - x / 100),
                total_mbps=(factor * (figure + x), factor * figure),
            )
            for x in along
        }

    figures = (5, 6, 7, 8, 9, 10, 11)
    runs: dict[str, Run] = {}
    for figure in figures:
        runs |= points("with", figure, 1.0) | points("without", figure, 2.0)
    levels = {
        f"eta_fig{figure:02d}_{x}": (figure + x / 100, figure - x / 100)
        for figure in figures
        for x in (WINDOWS if figure in (8, 11) else CONNECTIONS)
    }
    expect(
        shared.STUDY.measure(runs),
        **levels,
        with_fig05=(8.5, 5),  # 5 plus the mean of 1 to 6, which is 3.5; and 5
        with_fig06=(9.5, 6),
        with_fig07=(10.5, 7),
        with_fig08=(8 + 195 / 9, 8),  # The sum of the nine windows is 195 packets.
        with_fig09=(12.5, 9),
        with_fig11=(11 + 195 / 9, 11),
        without_fig05=(17, 10),  # twice the value with the bottleneck
        without_fig06=(19, 12),
        without_fig07=(21, 14),
        without_fig08=(16 + 390 / 9, 16),
        without_fig09=(25, 18),
    )


def test_figure_4_has_the_mean_rate_of_each_phase():
    def run(*mbps: float) -> Run:
        link = {
            "capacity_bps": [1e6 * value for value in mbps],
            "goodput_bps": (2.2e6, 2.3e6),
            "ping_rtt_p95_s": (0.05, 0.06),
        }
        return a_run(links={"vsb": link})

    runs = {"idle": run(6, 5.9), "one": run(5.4, 5.3), "two": run(2.4, 2.5), "after": run(5.2, 5.1)}
    expect(
        fig04.STUDY.measure(runs),
        capacity_idle=(6, 5.9),
        capacity_one=(5.4, 5.3),
        capacity_two=(2.4, 2.5),
        capacity_after=(5.2, 5.1),
    )


def two(first: Pair, other: Pair, first_share: Pair, other_share: Pair) -> Run:
    """Return a run of station 1 and another station, with goodputs in Mb/s."""
    stations = {
        name: {"goodput_bps": [1e6 * value for value in goodput], "goodput_share": share}
        for name, goodput, share in (
            ("first", first, first_share),
            ("others-1", other, other_share),
        )
    }
    return a_run(stations=stations)


def test_figure_12_has_goodputs_before_and_the_level_after():
    runs = {
        "before": two((4, 3.8), (1, 1.2), (0.8, 0.76), (0.2, 0.24)),
        "after": two((2.5, 2.4), (2.6, 2.3), (0.4, 0.6), (0.5, 0.4)),
    }
    expect(
        fig12.STUDY.measure(runs),
        goodput_four_before=(4, 3.8),
        goodput_one_before=(1, 1.2),
        eta_after=(0.8, 1.5),  # by hand: 0.4 / 0.5, 0.6 / 0.4
    )


def test_figures_13_and_14_have_ratios_of_air_times_flows_and_directions():
    def run(first: Pair, other: Pair, updown: Pair) -> Run:
        stations = {
            "first": {"goodput_bps": first, "goodput_share": (0.3, 0.4)},
            "others-1": {"goodput_bps": other, "goodput_share": (0.1, 0.2)},
            "others-2": {"goodput_bps": (9e6, 9e6), "goodput_share": (0.1, 0.2)},
        }
        return a_run(stations=stations, cells={"cell": {"updown_ratio": updown}})

    runs = {
        "airtime": run((1e6, 3e6), (2e6, 2e6), (3, 4)),
        "rate": run((7e6, 7e6), (1e6, 1e6), (5, 6)),
        "flow": run((4e6, 8e6), (2e6, 1e6), (7, 8)),
        "direction": run((1e6, 1e6), (1e6, 1e6), (0.9, 1.1)),
    }
    # The air times are in microseconds.
    # A data exchange has a preamble of 192 us, 1536 B, SIFS of 10 us and a MAC ACK of 192 + 56 us.
    # Half of the exchange of a TCP ACK of 76 B is added, because ACKs are delayed.
    slow = 192 + 8 * 1536 / 2 + 10 + 248 + (192 + 8 * 76 / 2 + 10 + 248) / 2
    fast = 192 + 8 * 1536 / 11 + 10 + 248 + (192 + 8 * 76 / 11 + 10 + 248) / 2
    expect(
        fig13.STUDY.measure(runs),
        airtime_ratio=(0.5 * slow / fast, 1.5 * slow / fast),  # goodputs 1 / 2, 3 / 2
        airtime_ratio_by_rates=(7 * slow / fast, 7 * slow / fast),  # by hand: 7 / 1
        flow_ratio=(0.5, 2),  # by hand: (4 / 4) / 2, (8 / 4) / 1
        updown_ratio=(0.9, 1.1),
    )


def test_with_datagrams_goodput_is_that_of_both_tcp_stations():
    def run(first: Pair, other: Pair) -> Run:
        stations = {
            "first": {"goodput_bps": first, "goodput_share": (0.9, 0.8)},
            "others-1": {"goodput_bps": other, "goodput_share": (0.1, 0.3)},
            "senders-1": {"goodput_bps": (3e6, 3e6), "goodput_share": (0.4, 0.5)},
        }
        return a_run(stations=stations)

    runs = {
        "estimated": run((1e6, 1.2e6), (2e6, 0.8e6)),
        "plain": run((0.1e6, 0.2e6), (0.3e6, 0.5e6)),
        "none": run((5e6, 5e6), (4e6, 4e6)),
    }
    expect(
        udp.STUDY.measure(runs),
        tcp_goodput_estimated=(3, 2),  # by hand: 1 + 2, 1.2 + 0.8
        tcp_goodput_plain=(0.4, 0.7),  # by hand: 0.1 + 0.3, 0.2 + 0.5
        eta=(0.5, 1.5),  # by hand: 1 / 2, 1.2 / 0.8
    )
