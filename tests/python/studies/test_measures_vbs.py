"""The studies of paper 000 measure the values of their claims.

The runs have two replications of plain numbers, and all expected values are computed by hand.
Quantities that a measure must not read have other numbers.
"""

from functools import cache

import pytest

from lasthop.models.vbs import PAPER, predict
from lasthop.scenario.scenario import Scenario
from lasthop.studies.study import OutsideRegimeError, Quantity, Run

from .made_up import Pair, a_run, expect
from .vbs_points import ERRORS, LIMITS, SOME, STUDY

FALLBACK = [(kind, error) for kind in ("snr_fixed", "snr_arf", "any_arf") for error in ERRORS[1:]]

HIGH: dict[str, Pair] = {"0": (2, 3), "0_1": (3, 4), "0_2": (4, 5), "0_3": (6, 9)}
LOW: dict[str, Pair] = {"0": (2, 2), "0_1": (2, 2), "0_2": (2, 1), "0_3": (1.5, 1)}
"""Goodputs of class 1 (the sum of two stations) and of class 2, by the error probability of class
2. [Mb/s]
"""
RATIO: dict[str, Pair] = {"0": (1, 1.5), "0_1": (1.5, 2), "0_2": (2, 5), "0_3": (4, 9)}
"""Ratio of the goodput of class 1 to that of class 2, by the error probability of class 2 and in
two replications. By hand: 2 / 2, 3 / 2; 3 / 2, 4 / 2; 4 / 2, 5 / 1; 6 / 1.5, 9 / 1. [-]
"""


def a_cell(
    high: Pair = (2, 3),
    low: Pair = (1, 1),
    *,
    total: Pair = (11, 12),
    jain: Pair = (0.9, 0.8),
    names: tuple[str, str] = ("high", "low"),
    queue: dict[str, Pair] | None = None,
    rates: tuple[Pair, Pair] | None = None,
    windows: tuple[Pair, Pair] = ((30, 32), (8, 10)),
) -> Run:
    """Return a run of two classes of two stations each, with these goodputs per class [Mb/s].

    Discard probabilities are a tenth of the failure rates `rates`. The windows of a class are 1
    above and 1 below the mean.
    """
    stations, flows = {}, {}
    for k, (name, goodput) in enumerate(zip(names, (high, low), strict=True)):
        for number, part in ((1, 0.25), (2, 0.75)):
            stations[f"{name}-{number}"] = {
                "goodput_bps": [part * 1e6 * value for value in goodput],
                "goodput_share": (0.2, 0.3),
            }
            if rates is not None:
                stations[f"{name}-{number}"] |= {
                    "downlink_failure_rate": [2 * part * value for value in rates[k]],
                    "downlink_discard_probability": [0.2 * part * value for value in rates[k]],
                    "frame_failure_rate": (0.77, 0.78),
                }
            off = 4 * (part - 0.5)
            flows[f"{name}-{number}/down/1"] = {
                "cwnd_packets": [value + off for value in windows[k]],
                "cwnd_max_packets": [value + 10 + off for value in windows[k]],
                "goodput_bps": (5e5, 6e5),
            }
    cell = {
        "goodput_bps": [1e6 * value for value in total],
        "jain": jain,
        "active_stations": (3, 4),
    }
    ap = {"frame_failure_rate": (0.1, 0.2), "discard_probability": (0.01, 0.02)}
    full = {
        "occupancy_packets": (91, 92),
        "drop_probability": (0.05, 0.06),
        "empty_fraction": (0.2, 0.3),
        "occupancy_error_packets": (5, 6),
        "settling_s": (7, 8),
    }
    return a_run(
        stations=stations,
        flows=flows,
        cells={"cell": cell},
        aps={"ap": ap},
        queues={"ap": full | (queue or {}), "wire": dict.fromkeys(full, (1.5, 2.5))},
    )


def measure(name: str, runs: dict[str, Run]) -> dict[str, Quantity]:
    return dict(STUDY[name].measure(runs))


def test_figures_2_to_4_have_queue_ratios_and_windows():
    four = {error: a_cell(HIGH[error], LOW[error]) for error in ERRORS}
    expect(measure("fig02", four), occupancy=(91, 92))
    expect(measure("fig03", four), **{f"ratio_{error}": RATIO[error] for error in ERRORS})
    other = {**four, "70ms": a_cell(windows=((1, 1), (2, 2)))}
    expect(measure("fig04", other), cwnd_high=(30, 32), cwnd_low=(8, 10))


def test_occupancy_and_windows_are_those_at_an_error_of_0_3():
    runs = {error: a_cell(queue={"occupancy_packets": (50, 51)}) for error in ERRORS}
    runs["0_3"] = a_cell(queue={"occupancy_packets": (93, 94)}, windows=((20, 22), (5, 6)))
    expect(measure("fig02", runs), occupancy=(93, 94))
    expect(measure("fig04", runs), cwnd_high=(20, 22), cwnd_low=(5, 6))
    expect(measure("fig12", runs), cwnd_high=(20, 22), cwnd_low=(5, 6), cwnd_high_max=(30, 32))


def test_figure_7_has_time_and_accuracy_of_all_tolerances():
    def run(time: Pair, error: Pair) -> Run:
        return a_cell(queue={"settling_s": time, "occupancy_error_packets": error})

    runs = {
        "printed": run((90, 95), (5, 6)),
        "small": run((40, 50), (4, 3)),
        "medium": run((2, 3), (1, 2)),
        "large": run((10, 12), (9, 8)),
    }
    expect(
        measure("fig07", runs),
        time_printed_tol=(90, 95),
        time_small_tol=(40, 50),
        time_medium_tol=(2, 3),
        time_large_tol=(10, 12),
        error_printed_tol=(5, 6),
        error_small_tol=(4, 3),
        error_medium_tol=(1, 2),
        error_large_tol=(9, 8),
    )


def test_figure_8_has_the_total_goodput_and_jains_index_at_both_ends():
    runs = {f"plain-{count}": a_cell(total=(count, 2 * count)) for count in (2, 4, 6, 8, 10)}
    runs |= {f"{kind}-{count}": a_cell() for kind in ("errors", "window") for count in (2, 10)}
    expect(
        measure("fig08", runs),
        aggregate_2=(2, 4),
        aggregate_10=(10, 20),
        jain_2=(0.9, 0.8),
        jain_10=(0.9, 0.8),
    )


def with_rates() -> dict[str, Run]:
    """Return runs with these failure rates of both classes. The runs without errors have no failure
    rates per class.
    """
    return {
        "0": a_cell(),
        "0_15": a_cell(rates=((0.12, 0.22), (0.25, 0.3))),
        "0_3": a_cell(rates=((0.08, 0.1), (0.55, 0.5))),
    }


def test_figure_9_has_the_growth_of_failures_of_class_2_and_their_ratio_in_class_1():
    expect(
        measure("fig09", with_rates()),
        # Without errors, the failure rates of all frames in the two replications are 0.1 and 0.2.
        # From p_w = 0 to 0.15, the failure rates of class 2 grow by 0.15 and 0.1.
        # From p_w = 0.15 to 0.3, they grow by 0.3 and 0.2.
        growth_ratio_2=(2, 2),
        ratio_1=(0.8, 0.5),  # by hand: 0.08 / 0.1, 0.1 / 0.2
    )


def test_figure_10_has_discards_of_both_classes_their_changes_and_the_stated_attempts():
    runs = with_rates()
    for k, error in enumerate(SOME, 1):
        runs[f"8-data-{error}"] = a_cell(rates=((0.9, 0.8), (0.01 * k, 0.02 * k)))
        runs |= {f"{other}-{error}": a_cell() for other in ("4-data", "4-acks", "8-acks")}
    expect(
        measure("fig10", runs),
        discard_2_0_15=(0.025, 0.03),  # a tenth of the failure rates
        discard_2_0_3=(0.055, 0.05),
        discard_1_0=(0.01, 0.02),  # discard probability of all frames of the access point
        discard_1_0_3=(0.008, 0.01),
        change_1=(-0.002, -0.01),  # by hand: 0.008 - 0.01, 0.01 - 0.02
        change_2=(0.045, 0.03),  # by hand: 0.055 - 0.01, 0.05 - 0.02
        stated_discard_2_0_1=(0.001, 0.002),
        stated_discard_2_0_2=(0.002, 0.004),
        stated_discard_2_0_3=(0.003, 0.006),
    )


def of_table_ii(error: float) -> dict:
    """Return a scenario with two classes of five downloads in the cell of table II, with 4
    attempts. The settings do not come from the study, so that errors in the study are found.
    """
    return {
        "duration": "200 s",
        "cell": {
            "phy": "802.11g-long",
            "llc": "0 B",
            "ap_queue": 100,
            "attempts_short": 4,
            "attempts_long": 4,
        },
        "tcp": {"congestion": "compound", "window": 45, "delayed_ack": False, "handshake": False},
        "station": {
            "high": {"count": 5, "download": 1},
            "low": {"count": 5, "download": 1, "error_down": error},
        },
    }


@cache
def papers_model(error: float) -> dict:
    """Return the prediction of the paper's corrected model at an error probability of class 2."""
    return predict(Scenario(of_table_ii(error)).typed, PAPER)


def test_figure_11_has_goodputs_of_the_classes_their_ratio_and_the_model_of_the_paper():
    runs = {error: a_cell(HIGH[error], LOW[error]) for error in ERRORS}
    runs |= {error: a_cell((9, 9), (8, 8)) for error in ("0_05", "0_15", "0_25")}
    runs |= {f"{kind}-{error}": a_cell(HIGH[error], LOW[error]) for kind, error in FALLBACK}
    measured = measure("fig11", runs)
    expect(
        measured,
        **{f"ratio_{error}": RATIO[error] for error in ERRORS},
        **{f"ratio_{kind}_{error}": RATIO[error] for kind, error in FALLBACK},
        **{f"goodput_1_{error}": HIGH[error] for error in ERRORS},
        **{f"goodput_2_{error}": LOW[error] for error in ERRORS},
        **{f"papers_goodput_1_{error}": HIGH[error] for error in ERRORS},
        **{f"papers_goodput_2_{error}": LOW[error] for error in ERRORS},
    )
    for number, name in ((1, "high"), (2, "low")):
        # Goodputs of five equal stations in Mb/s.
        each = [
            station["goodput_bps"]["mean"]
            for station in papers_model(0.3)["stations"]
            if station["name"] in [f"{name}-{k}" for k in (1, 2, 3, 4, 5)]
        ]
        assert len(each) == 5
        assert measured[f"papers_goodput_{number}_0_3"].predicted == pytest.approx(5e-6 * each[0])
        assert measured[f"goodput_{number}_0_3"].predicted is None  # these runs have no prediction


def test_figure_13_has_the_loss_of_the_buffer_and_the_model_of_the_paper():
    losses: dict[str, Pair] = {
        "0": (0.04, 0.05),
        "0_1": (0.03, 0.04),
        "0_2": (0.02, 0.03),
        "0_3": (0.01, 0.02),
    }
    runs = {error: a_cell(queue={"drop_probability": pair}) for error, pair in losses.items()}
    measured = measure("fig13", runs)
    expect(
        measured,
        **{f"loss_{error}": pair for error, pair in losses.items()},
        **{f"papers_loss_{error}": pair for error, pair in losses.items()},
    )
    [queue] = papers_model(0.2)["queues"]
    assert measured["papers_loss_0_2"].predicted == pytest.approx(queue["drop_probability"]["mean"])
    assert measured["loss_0_2"].predicted is None


def test_figure_14_has_length_and_emptiness_with_errors_of_one_class_and_of_all():
    runs = {
        "two_classes": a_cell(queue={"occupancy_packets": (60, 61), "empty_fraction": (0, 0.1)}),
        "all_0_3": a_cell(queue={"occupancy_packets": (58, 57), "empty_fraction": (0.2, 0)}),
        "partition": a_cell(queue={"occupancy_packets": (51, 50), "empty_fraction": (0, 0)}),
        "partition_all_0_3": a_cell(
            queue={"occupancy_packets": (49, 48), "empty_fraction": (0.3, 0)}
        ),
        "regulated": a_cell(),
    }
    expect(
        measure("fig14", runs),
        occupancy_two_classes=(60, 61),
        occupancy_all_0_3=(58, 57),
        empty_two_classes=(0, 0.1),
        empty_all_0_3=(0.2, 0),
        occupancy_partition=(51, 50),
        occupancy_partition_all_0_3=(49, 48),
        empty_partition=(0, 0),
        empty_partition_all_0_3=(0.3, 0),
    )


def test_figure_15_has_ratio_fair_rate_jains_index_and_the_ratio_of_totals():
    runs = {}
    for limit, more in (("", 0), ("stated-", 1)):
        for k, error in enumerate(ERRORS):
            for law in ("vbs", "partition"):
                shared = a_cell(
                    HIGH[error],
                    LOW[error],
                    total=(5 * (k + more) + (law == "partition"), 10),
                    jain=(1 - k / 10, 1 - k / 20),
                )
                runs[f"{limit}{law}-{error}"] = shared
            runs[f"{limit}plain-{error}"] = a_cell((7, 7), (1, 1), total=(10, 8))
    values = measure("fig15", runs)
    assert len(values) == 2 * 2 * 3 * 4
    some = (
        *("ratio_0_1", "ratio_stated_0_2", "ratio_partition_0_3", "ratio_stated_partition_0_1"),
        *("aggregate_ratio_0_1", "aggregate_ratio_stated_0_1", "aggregate_ratio_partition_0_1"),
        *("fair_rate_0_1", "fair_rate_stated_0_3", "jain_0_1", "jain_stated_0_3"),
    )
    expect(
        {name: values[name] for name in some},
        ratio_0_1=RATIO["0_1"],
        ratio_stated_0_2=RATIO["0_2"],
        ratio_partition_0_3=RATIO["0_3"],
        ratio_stated_partition_0_1=RATIO["0_1"],
        aggregate_ratio_0_1=(0.5, 1.25),  # by hand: 5 / 10, 10 / 8
        aggregate_ratio_stated_0_1=(1, 1.25),
        aggregate_ratio_partition_0_1=(0.6, 1.25),
        fair_rate_0_1=(0.5, 1),  # a tenth of the total, for ten stations
        fair_rate_stated_0_3=(2, 1),
        jain_0_1=(0.9, 0.95),
        jain_stated_0_3=(0.7, 0.85),
    )


UP_DOWN = ("up", "down")


def test_figure_16_has_goodputs_without_shares_and_the_gap_with_shares():
    runs = {}
    for k, error in enumerate(ERRORS):
        for limit in LIMITS:
            more = k + 2 * (limit == "eight")
            lossless = {"drop_probability": (0, 0)}
            runs[f"plain-{limit}-{error}"] = a_cell(
                (4 + more, 5 + more), (1 + k, 1 + 2 * k), names=UP_DOWN, queue=lossless
            )
            runs[f"vbs-{limit}-{error}"] = a_cell((3, 3 + more), (2, 4), names=UP_DOWN)
            for law in ("regulated", "partition"):
                runs[f"{law}-{limit}-{error}"] = a_cell(names=UP_DOWN)
    values = measure("fig16", runs)
    assert len(values) == 2 * (3 * 4 + 2 * 3)
    some = (
        *("up_four_0", "up_eight_0_3", "down_four_0_2", "updown_four_0_1", "updown_eight_0_3"),
        *("ratio_vbs_four_0_1", "gap_vbs_four_0_1", "gap_vbs_eight_0_3"),
    )
    expect(
        {name: values[name] for name in some},
        up_four_0=(4, 5),
        up_eight_0_3=(9, 10),
        down_four_0_2=(3, 5),
        updown_four_0_1=(2.5, 2),  # by hand: 5 / 2, 6 / 3
        updown_eight_0_3=(2.25, 10 / 7),  # by hand: 9 / 4, 10 / 7
        ratio_vbs_four_0_1=(1.5, 1),  # by hand: 3 / 2, 4 / 4
        gap_vbs_four_0_1=(0.5, 0),
        gap_vbs_eight_0_3=(0.5, 1),  # by hand: 3 / 2, 8 / 4
    )
    dropping = {
        **runs,
        "plain-four-0": a_cell(names=UP_DOWN, queue={"drop_probability": (0, 1e-6)}),
    }
    with pytest.raises(OutsideRegimeError, match="vbs-fig16: 450 packets are no large buffer"):
        STUDY["fig16"].values(dropping)


def test_losses_at_the_buffer_and_on_the_channel_are_read_as_up_over_down():
    runs = {}
    for limit in LIMITS:
        for k, error in enumerate(("0", "0_2")):
            for room in (50, 100, 150, 225, 300, 450):
                lost = {"drop_probability": (0.1, 0.1) if room < 300 else (0, 0)}
                runs[f"{limit}-{error}-{room}"] = a_cell(
                    (room / 100, 6), (1 + k, 2), names=UP_DOWN, queue=lost
                )
    values = measure("opposite", runs)
    assert len(values) == 24
    some = ("updown_four_0_50", "updown_eight_0_2_450")
    expect(
        {name: values[name] for name in some},
        updown_four_0_50=(0.5, 3),  # by hand: 0.5 / 1, 6 / 2
        updown_eight_0_2_450=(2.25, 3),  # by hand: 4.5 / 2, 6 / 2
    )
    with pytest.raises(OutsideRegimeError, match="50 packets are enough"):
        STUDY["opposite"].values({**runs, "four-0-50": runs["four-0-450"]})
    with pytest.raises(OutsideRegimeError, match="450 packets are too few"):
        STUDY["opposite"].values({**runs, "four-0-450": runs["four-0-50"]})


def test_figure_17_has_losses_by_buffer_and_totals_relative_to_100_packets():
    runs = {}
    for buffer in (50, 100, 150):
        plain = a_cell((buffer / 10, 7), (2, 3), names=UP_DOWN, total=(buffer / 50, 200 / buffer))
        runs |= {f"plain-{buffer}": plain, f"regulated-{buffer}": a_cell(names=UP_DOWN)}
        runs[f"partition-{buffer}"] = a_cell(names=UP_DOWN)
        runs[f"vbs-{buffer}"] = a_cell((3, 6), (2, buffer / 25), names=UP_DOWN, total=(77, 78))
    expect(
        measure("fig17", runs),
        up_50=(5, 7),
        up_100=(10, 7),
        up_150=(15, 7),
        down_50=(2, 3),
        down_100=(2, 3),
        down_150=(2, 3),
        ratio_vbs_50=(1.5, 3),  # by hand: 3 / 2, 6 / 2
        ratio_vbs_100=(1.5, 1.5),
        ratio_vbs_150=(1.5, 1),
        total_ratio_50=(0.5, 2),  # by hand: 1 / 2, 4 / 2
        total_ratio_100=(1, 1),
        total_ratio_150=(1.5, 2 / 3),
    )


def test_figure_18_has_the_ratio_from_30_s_after_each_change():
    runs = {}
    for change in (0, 100, 200):
        runs[f"vbs-{change + 30}-{change + 100}"] = a_cell((2 + change / 100, 4), (2, 4))
        for law in ("regulated", "partition"):
            runs[f"{law}-{change + 30}-{change + 100}"] = a_cell((9, 9), (1, 1))
        for begin in (0, 5, 10, 15):
            runs[f"vbs-{change + begin}-{change + begin + 5}"] = a_cell((8, 8), (1, 1))
    expect(measure("fig18", runs), ratio_1=(1, 1), ratio_2=(1.5, 1), ratio_3=(2, 1))


def test_sensors_have_the_part_of_commands_that_arrives():
    def run(first: Pair, second: Pair) -> Run:
        flows: dict[str, dict[str, Pair]] = {"high-1/down/1": {"report_delivery": (0.1, 0.1)}}
        for number, delivered in ((1, first), (2, second)):
            flows[f"sensor-{number}/sensor-down/1"] = {
                "report_delivery": delivered,
                "report_delay_s": (0.4, 0.4),
            }
            flows[f"sensor-{number}/sensor-up/1"] = {
                "report_delivery": (0.3, 0.2),
                "report_delay_s": (0.5, 0.5),
            }
        return a_run(flows=flows)

    runs = {
        "downloads-drop_tail": run((0.6, 0.8), (0.8, 0.9)),
        "downloads-vbs": run((1, 0.9), (0.9, 0.9)),
        "downloads-regulated": run((0.5, 0.5), (0.5, 0.5)),
        "mixed-drop_tail": run((0.5, 0.3), (0.7, 0.4)),
        "mixed-vbs": run((1, 1), (1, 0.8)),
        "mixed-regulated": run((0.2, 0.2), (0.2, 0.2)),
    }
    expect(
        measure("sensor", runs),
        delivered_drop_tail=(0.7, 0.85),  # means over both sensors
        delivered_vbs=(0.95, 0.9),
        delivered_mixed_drop_tail=(0.6, 0.35),
        delivered_mixed_vbs=(1, 0.9),
    )


def test_devices_that_contend_have_their_goodputs():
    runs = {
        f"{kind}{count}": a_run(
            cells={"cell": {"active_stations": (1 + count / 20, shift), "jain": (0.9, 0.9)}}
        )
        for kind, shift in (("", 1.4), ("equal-", 9), ("dense-", 8))
        for count in (2, 5, 10, 20)
    }
    expect(
        measure("contenders", runs),
        active_2=(1.1, 1.4),
        active_5=(1.25, 1.4),
        active_10=(1.5, 1.4),
        active_20=(2, 1.4),
    )
