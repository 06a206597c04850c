"""The studies of paper 003 measure the values of their claims with the setup of the paper.

The runs have two replications of plain numbers, and all expected values are computed by hand.
Quantities that a measure must not read have other numbers.
"""

import re
from functools import cache
from math import log2, nan

import numpy as np
import pytest

from lasthop.studies.edca import (
    STUDIES,
    fig05,
    fig06,
    fig07,
    fig08,
    fig09,
    fig10,
    fig12,
    receive_windows,
    stations,
)
from lasthop.studies.study import Run

from .made_up import Pair, a_run, every, expect, normalised, only

WAYS = ("down", "up")
CWMINS = (3, 7, 15, 31, 63, 127, 255)
"""CWmin of the paper's sweeps: "{2^n - 1 | 2 <= n <= 8}" (line 380 of the text)."""
AP_TXOPS, STATION_TXOPS = (1, 2, 4, 8, 16, 28), (1, 2, 4)
PIFS_AP_TXOPS, PIFS_STATION_TXOPS = (1, 2, 3, 4, 8), (1, 2, 3, 4)
NEAR = (23, 27, 31, 35, 39, 47, 55, 63)
DELAYS_MS = (0, 10, 20, 30, 40, 50, 60, 80, 100, 125, 150, 200)
LOSSES = (1, 10, 50)
COUNTS = (1, 2, 4, 7, 14, 28)
RECEIVE_WINDOWS = (2, 8, 12)


def a_cell(
    mbps: Pair, active: Pair = (1.3, 1.4), ap: Pair = (0.61, 0.62), station: Pair = (0.71, 0.72)
) -> Run:
    """Return a run with this throughput. The collision rates of its two stations are 0.02 above and
    0.02 below the mean.
    """
    low, high = ([value + off for value in station] for off in (-0.02, 0.02))
    cell = {
        "goodput_bps": [1e6 * value for value in mbps],
        "active_stations": active,
        "collision_rate": (0.81, 0.82),
    }
    return a_run(
        cells={"cell": cell},
        aps={"ap": {"collision_rate": ap, "queue_packets": (20, 21)}},
        stations={
            "station-1": {"collision_rate": low, "goodput_bps": (7e5, 8e5)},
            "station-2": {"collision_rate": high, "goodput_bps": (7e5, 8e5)},
        },
    )


# -- measures ----------------------------------------------------------------------------------


def test_figure_5_has_all_readings_by_window_and_the_fall_from_15_to_3():
    goodputs: dict[str, dict[int, Pair]] = {
        "down": {3: (3, 2), 7: (3.5, 3.6), 15: (4, 5), 31: (4.4, 4.5), 63: (4.2, 4.3)},
        "up": {3: (1, 3), 7: (2, 2.2), 15: (4, 4), 31: (4.1, 4.2), 63: (3.9, 4)},
    }
    for way in WAYS:
        goodputs[way] |= {127: (3.3, 3.4), 255: (3.1, 3.2)}
    shift = {"down": 0.0, "up": 0.5}
    runs = {
        f"{way}-{cwmin}": a_cell(
            pair,
            active=(shift[way] + cwmin / 100, shift[way] + cwmin / 50),
            ap=(shift[way] / 5 + cwmin / 1000, shift[way] / 5 + cwmin / 2000),
            station=(shift[way] / 2 + cwmin / 1000, shift[way] / 2 + cwmin / 2000),
        )
        for way in WAYS
        for cwmin, pair in goodputs[way].items()
    }
    worked: dict[str, Pair] = {"fall_down": (0.25, 0.6), "fall_up": (0.75, 0.25)}
    # The values of `fall_down` are (4 - 3) / 4 and (5 - 2) / 5, those of `fall_up` (4 - 1) / 4 and
    # (4 - 3) / 4.
    for cwmin in CWMINS:
        worked |= {
            f"down_{cwmin}": goodputs["down"][cwmin],
            f"up_{cwmin}": goodputs["up"][cwmin],
            f"active_down_{cwmin}": (cwmin / 100, cwmin / 50),
            f"active_up_{cwmin}": (0.5 + cwmin / 100, 0.5 + cwmin / 50),
            f"collision_ap_down_{cwmin}": (cwmin / 1000, cwmin / 2000),
            f"collision_ap_up_{cwmin}": (0.1 + cwmin / 1000, 0.1 + cwmin / 2000),
            f"collision_station_down_{cwmin}": (cwmin / 1000, cwmin / 2000),
            f"collision_station_up_{cwmin}": (0.25 + cwmin / 1000, 0.25 + cwmin / 2000),
        }
    expect(fig05.STUDY.measure(runs), **worked)


GOODPUTS = {
    3: (5, 7, 3, 4.5, 6, 5.5, 2),
    7: (0.4, 6, 4, 5, 8, 7, 3),
    15: (0.3, 0.6, 7, 3.5, 5, 4, 1),
    31: (0.2, 9, 0.7, 8.5, 1.1, 1.2, 1.3),
    63: (0.1, 0.2, 0.3, 0.4, 8.4, 1.4, 1.5),
    127: (0.1, 0.2, 0.3, 0.4, 0.5, 8.3, 1.6),
    255: (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 8.2),
}
"""Throughputs by CWmin of the access point and, within a tuple, of the stations. [Mb/s]"""
OF_AP = {3: (0.9, 0.1, 0.4, 0.3, 0.2, 0.1, 0.8), 7: (0.95, 0.9, 0.2, 0.3, 0.35, 0.1, 0.7)}
OF_STATION = {3: (0.9, 0.2, 0.3, 0.5, 0.2, 0.1, 0.8), 7: (0.95, 0.9, 0.45, 0.3, 0.2, 0.1, 0.7)}
OF_AP[15] = OF_STATION[15] = (0.97, 0.96, 0.9, 0.1, 0.15, 0.25, 0.6)
"""Collision rates of the access point and of the stations, by CWmin of the AP and, within a tuple,
of the stations. [-]
"""
OTHER = (0.11, 0.12, 0.13, 0.14, 0.16, 0.17, 0.18)
ACTIVE: dict[int, tuple[tuple[float, ...], tuple[float, ...]]] = {
    3: ((1, 2, 6.3, 7, 7, 7, 7), (1, 1, 1, 6.3, 7, 7, 7)),
    7: ((0.5, 1, 2, 6.3, 7, 7, 7), (0.4, 1, 2, 3, 6.3, 7, 7)),
    15: ((0.2, 0.5, 1, 2, 6.3, 7, 7), (0.1, 0.4, 1, 2, 3, 6.3, 7)),
}
"""Active stations in both replications, by CWmin of the AP and, within a tuple, of the stations. 95
% of seven stations is 6.65, in the middle between 6.3 and 7.
"""


@pytest.mark.parametrize(
    ("study", "way", "lead"),
    [(fig06.STUDY, "down", ""), (fig06.UP_STUDY, "up", "up-")],
    ids=("downloads", "uploads"),
)
def test_figure_6_has_all_readings_and_the_shape_of_the_curves(study, way, lead):
    runs, worked = {}, {}
    for ap in CWMINS:
        first, second = ACTIVE.get(ap, ((0.5,) * 7, (0.6,) * 7))
        for k, station in enumerate(CWMINS):
            mbps = GOODPUTS[ap][k], GOODPUTS[ap][k] + 0.25
            rates = [table.get(ap, OTHER)[k] for table in (OF_AP, OF_STATION)]
            at_ap, at_station = ((rate, rate + 0.01) for rate in rates)
            active = first[k], second[k]
            runs[f"{lead}{ap}-{station}"] = a_cell(mbps, active, at_ap, at_station)
            worked |= {
                f"{way}_{ap}_{station}": mbps,
                f"collision_ap_{ap}_{station}": at_ap,
                f"collision_station_{ap}_{station}": at_station,
                f"active_{ap}_{station}": active,
            }
    expect(
        study.measure(runs),
        **worked,
        # A curve has the CWmin of the stations on its abscissa and begins at the AP's CWmin.
        start_3=(5, 5.25),
        dip_3=(3, 3.25),
        peak_3=(6, 6.25),
        end_3=(2, 2.25),
        start_7=(6, 6.25),
        dip_7=(4, 4.25),
        peak_7=(8, 8.25),
        end_7=(3, 3.25),
        start_15=(7, 7.25),
        dip_15=(3.5, 3.75),
        peak_15=(5, 5.25),
        end_15=(1, 1.25),
        # largest value between the first and the last value
        collision_ap_peak_3=(0.4, 0.41),
        collision_station_peak_3=(0.5, 0.51),
        collision_ap_peak_7=(0.35, 0.36),
        collision_station_peak_7=(0.45, 0.46),
        collision_ap_peak_15=(0.25, 0.26),
        collision_station_peak_15=(0.25, 0.26),
        # These values are in the middle between 15 and 31, 31 and 63, and so on, on the scale of
        # log2(CWmin + 1).
        saturation_3=(2**4.5 - 1, 2**5.5 - 1),
        saturation_7=(2**5.5 - 1, 2**6.5 - 1),
        saturation_15=(2**6.5 - 1, 2**7.5 - 1),
        best_pair=(9, 9.25),  # at CWmin (31, 7)
        best_equal=(8.5, 8.75),  # at CWmin (31, 31)
    )


def test_figure_7_has_throughput_by_limits_and_the_gain_of_the_stations_limit():
    factor = {"fifo": 1, "mixed": 2}
    goodputs = {
        (order, ap, station): (factor[order] * ap + station / 10, factor[order] * ap + station / 5)
        for order in factor
        for ap in AP_TXOPS
        for station in STATION_TXOPS
    }
    runs = {f"{order}-{ap}-{sta}": a_cell(pair) for (order, ap, sta), pair in goodputs.items()}
    expect(
        fig07.STUDY.measure(runs),
        **{f"{order}_{ap}_{sta}": pair for (order, ap, sta), pair in goodputs.items()},
        fifo_gain_station_at_ap_1=(1.4 / 1.1, 1.5),  # by hand: 1.8 / 1.2
        mixed_gain_station_at_ap_1=(2.4 / 2.1, 2.8 / 2.2),
        fifo_gain_station_at_ap_2=(2.4 / 2.1, 2.8 / 2.2),
        mixed_gain_station_at_ap_2=(4.4 / 4.1, 4.8 / 4.2),
        best_down=(28.4, 28.8),  # only with a FIFO, at TXOP limits (28, 4)
    )


def test_figure_8_has_the_best_windows_and_collisions_at_the_top_of_a_parabola():
    runs = {}
    for cwmin in {*CWMINS, *NEAR}:
        e = log2(cwmin + 1)
        top = (5 - (e - 5.3) ** 2, 5 - (e - 5) ** 2)
        far = (cwmin / 100, cwmin / 200)
        runs[f"down-{cwmin}"] = a_cell(top if cwmin in NEAR else far, station=(e / 10, e / 20))
        runs[f"up-{cwmin}"] = a_cell((cwmin / 150, cwmin / 300))
    expect(
        fig08.STUDY.measure(runs),
        down_3=(0.03, 0.015),
        down_7=(0.07, 0.035),
        down_15=(0.15, 0.075),
        down_31=(4.91, 5),  # 5 - 0.3^2, and the maximum
        down_63=(4.51, 4),  # by hand: 5 - 0.7^2, 5 - 1
        down_127=(1.27, 0.635),
        down_255=(2.55, 1.275),
        **{f"up_{cwmin}": (cwmin / 150, cwmin / 300) for cwmin in CWMINS},
        best_down=(4.91, 5),
        best_up=(1.7, 0.85),  # by hand: 255 / 150, 255 / 300
        cwmin_at_best=(2**5.3 - 1, 31),  # at the exponents 5.3 and 5
        collision_at_best=(0.53, 0.25),  # by hand: 5.3 / 10, 5 / 20
    )


def test_figure_9_has_the_best_and_the_spread_over_the_access_points_limit():
    def goodput(way: str, ap: int, station: int) -> Pair:
        if way == "down":
            return station + ap / 100, 2 * station + ap / 10
        return station + ap / 50, 3 * station + ap / 10

    runs = {
        f"{way}-{ap}-{station}": a_cell(goodput(way, ap, station))
        for way in WAYS
        for ap in PIFS_AP_TXOPS
        for station in PIFS_STATION_TXOPS
    }
    expect(
        fig09.STUDY.measure(runs),
        station_limit_1_down=(1.01, 2.1),
        station_limit_2_down=(2.01, 4.1),
        station_limit_3_down=(3.01, 6.1),
        station_limit_4_down=(4.01, 8.1),
        station_limit_1_up=(1.02, 3.1),
        station_limit_2_up=(2.02, 6.1),
        station_limit_3_up=(3.02, 9.1),
        station_limit_4_up=(4.02, 12.1),
        best_down=(4.08, 8.8),  # at TXOP limits (8, 4)
        best_up=(4.16, 12.8),
        # With a TXOP limit of 1 at the stations, values are from 1.01 to 1.08, and from 2.1 to 2.8.
        spread_over_ap_limit_down=(0.07 / 1.01, 0.7 / 2.1),
        spread_over_ap_limit_up=(0.14 / 1.02, 0.7 / 3.1),
    )


DELAYS_US = (
    *(0, 50, 100, 150, 200, 250, 280, 300, 304, 306, 307, 308, 309, 310, 312, 316, 320, 325),
    *(330, 340, 350, 360, 380, 400, 450, 500, 550, 600, 650, 700, 800, 900, 1000),
)


def test_figure_10_has_the_bump_and_how_far_it_is_from_the_analysis():
    special: dict[int, Pair] = {
        0: (4, 5),
        300: (4.1, 4.2),
        308: (4.4, 5.5),
        309: (4.3, 6),
        500: (3.5, 4.5),
        600: (4.2, 4.6),
    }
    runs = {}
    for delay in DELAYS_US:
        run = a_cell(special.get(delay, (4, 4.5)))
        prediction = {"cells": {"cell": {"goodput_bps": 4e6, "active_stations": 1.1}}}
        runs[f"{delay}us"] = Run(run.samples, prediction)
    measured = fig10.STUDY.measure(runs)
    expect(
        measured,
        deviation=(0.125, 0.5),  # 3.5 and 6, compared with 4 in the analysis
        spread=(0.125, 0.2),  # 3.5 and 6, compared with 4 and 5 without delay
        before_bump=(4.1, 4.2),
        bump=(4.4, 5.5),
        after_bump=(4.2, 4.6),
        bump_delay=(308, 309),
    )
    assert {quantity.predicted for quantity in measured.values()} == {None}


@pytest.mark.parametrize(
    ("active", "window"),
    [
        ((1, 2, 6.65, 7, 7, 7, 7), 15),  # 95 % of seven stations, at a CWmin of the sweep
        ((1, 2, 6.64, 6.66, 7, 7, 7), 2**4.5 - 1),  # midway, by log2(CWmin + 1)
        ((1, 2, 3, 4, 5, 6, 6.5), nan),  # The stations are never saturated.
        ((6.8, 7, 7, 7, 7, 7, 7), nan),  # The stations are saturated before the sweep begins.
    ],
)
def test_saturation_is_where_95_per_cent_of_the_stations_are_active(active, window):
    cwmin = fig06.saturation(np.array(active, dtype=float))
    assert cwmin == pytest.approx(window, nan_ok=True)


def test_figure_12_has_start_flat_part_knee_and_end_of_every_curve():
    curves = (
        (1, 1, 0.98, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1),
        (1, 0.99, 0.97, 0.96, 0.955, 0.94, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4),
    )
    runs, worked = {}, {}
    for window in (4, 12):
        for loss in LOSSES:
            level = 10 * window + loss
            for delay, *parts in zip(DELAYS_MS, *curves, strict=True):
                point = f"w{window}-loss{loss}-{delay}ms"
                runs[point] = a_cell((level * parts[0], level * parts[1]))
                runs[f"{point}-short-rto"] = a_cell((delay + 1, delay + 2))
            case = f"w{window}_loss_{loss}"
            worked |= {
                f"start_{case}": (level, level),
                f"end_{case}": (0.1 * level, 0.4 * level),  # at a delay of 200 ms
                f"flat_{case}": (0.98, 0.97),  # at a delay of 20 ms
                # The delay is 100 ms, or 200 ms with a window of 12.
                f"retained_{case}": (0.4, 0.7) if window == 4 else (0.1, 0.4),
                # 0.95 is at 3/8 of the distance from 0.98 to 0.9, and at a third of the distance
                # from 0.955 to 0.94.
                f"knee_delay_{case}": (23.75, 43 + 1 / 3),
            }
    expect(fig12.STUDY.measure(runs), **worked)


def test_throughput_is_relative_to_that_of_seven_stations():
    goodputs: dict[int, Pair] = {
        1: (3, 5),
        2: (4.5, 4.8),
        4: (5, 4),
        7: (6, 8),
        14: (6.6, 7.2),
        28: (9, 2),
    }
    runs = {f"down-{count}": a_cell(pair) for count, pair in goodputs.items()}
    runs |= {f"up-{count}": a_cell((pair[0] + 1, 4)) for count, pair in goodputs.items()}
    expect(
        stations.STUDY.measure(runs),
        ratio_down_1=(0.5, 0.625),  # by hand: 3 / 6, 5 / 8
        ratio_down_2=(0.75, 0.6),
        ratio_down_4=(5 / 6, 0.5),
        ratio_down_7=(1, 1),
        ratio_down_14=(1.1, 0.9),
        ratio_down_28=(1.5, 0.25),
        ratio_up_1=(4 / 7, 1),
        ratio_up_2=(5.5 / 7, 1),
        ratio_up_4=(6 / 7, 1),
        ratio_up_7=(1, 1),
        ratio_up_14=(7.6 / 7, 1),
        ratio_up_28=(10 / 7, 1),
        spread_down=(1.2, 2),  # ratios of 7 to 4 stations: 6 / 5, 8 / 4
        spread_up=(10 / 5.5, 1),  # ratio of 28 to 2 stations
    )


def test_other_windows_have_the_readings_and_curves_of_figures_5_to_9():
    runs, worked = {}, {}
    for window in RECEIVE_WINDOWS:
        off = window / 100
        for way in WAYS:
            lift = off + (way == "up")
            for k, cwmin in enumerate(CWMINS):
                mbps = k + 1 + lift, k + 2 + lift
                runs[f"{way}-w{window}-{cwmin}"] = a_cell(mbps, (k + off, 2 * k), (k, 2), (k, 3))
                worked |= {
                    f"{way}_{window}_{cwmin}": mbps,
                    f"collision_ap_{way}_{window}_{cwmin}": (k, 2),
                    f"collision_station_{way}_{window}_{cwmin}": (k, 3),
                }
            worked |= {
                # The values are (3 - 1) / 3 and (4 - 2) / 4. The offset of the line is added to the
                # denominators.
                f"fall_{way}_{window}": (2 / (3 + lift), 2 / (4 + lift)),
                f"active_most_{way}_{window}": (6 + off, 12),  # at CWmin 255
            }
        for ap in (3, 7, 15):
            for k, station in enumerate(CWMINS):
                rates = [table[ap][k] for table in (OF_AP, OF_STATION)]
                at_ap, at_station = ((rate, rate + off) for rate in rates)
                active = ACTIVE[ap][0][k], ACTIVE[ap][1][k]
                mbps = GOODPUTS[ap][k] + off, GOODPUTS[ap][k]
                runs[f"down-w{window}-{ap}-{station}"] = a_cell(mbps, active, at_ap, at_station)
                worked[f"active_{window}_{ap}_{station}"] = active
        for ap in (31, 63, 127, 255):
            runs[f"down-w{window}-{ap}-7"] = a_cell((0.2, 0.3), (1 / ap, off))
            worked[f"active_{window}_{ap}_7"] = (1 / ap, off)
        for ap, (start, dip, peak, end) in {
            3: (5, 3, 6, 2),
            7: (6, 4, 8, 3),
            15: (7, 3.5, 5, 1),
        }.items():
            named = {"start": start, "dip": dip, "peak": peak, "end": end}
            worked |= {
                f"{name}_{window}_{ap}": (value + off, value) for name, value in named.items()
            }
        for ap, at_ap, at_station in (
            (3, (0.9, 0.4, 0.8), (0.9, 0.5, 0.8)),
            (7, (0.9, 0.35, 0.7), (0.9, 0.45, 0.7)),
            (15, (0.9, 0.25, 0.6), (0.9, 0.25, 0.6)),
        ):
            for node, rates in (("ap", at_ap), ("station", at_station)):
                for name, rate in zip(("start", "peak", "end"), rates, strict=True):
                    worked[f"collision_{node}_{name}_{window}_{ap}"] = (rate, rate + off)
        worked |= {
            f"saturation_{window}_3": (2**4.5 - 1, 2**5.5 - 1),
            f"saturation_{window}_7": (2**5.5 - 1, 2**6.5 - 1),
            f"saturation_{window}_15": (2**6.5 - 1, 2**7.5 - 1),
            f"best_equal_{window}": (7 + off, 8 + off),  # at CWmin 255
            f"best_pair_{window}": (8 + off, 8),  # at CWmin (7, 63)
            f"best_pifs_{window}": (9, 10),
        }
        for cwmin in CWMINS:
            runs[f"down-w{window}-pifs-{cwmin}"] = a_cell((9, 10) if cwmin == 63 else (1, 11))
        for limit in (1, 2):
            runs[f"down-w{window}-txop-{limit}"] = a_cell((limit, window))
            runs[f"down-w{window}-pifs-limit-{limit}"] = a_cell((window, limit))
            worked[f"txop_{window}_{limit}"] = (limit, window)
            worked[f"pifs_limit_{limit}_{window}"] = (window, limit)
    expect(receive_windows.STUDY.measure(runs), **worked)


# -- setup -------------------------------------------------------------------------------------

NAMES = [study.name for study in STUDIES]


@cache
def scenarios(name: str) -> dict[str, dict]:
    [study] = [candidate for candidate in STUDIES if candidate.name == name]
    return normalised(study)


ACCESS = ("aifsn", "cwmin", "cwmax", "txop_packets")
PIFS = {"aifsn": 1, "cwmin": 0, "cwmax": 0}
"""PIFS access of the access point: "AIFSN[AC] = 1, CWmin[AC] = 0, and CWmax[AC] = 0" (353)."""


@pytest.mark.parametrize("name", NAMES)
def test_every_scenario_is_of_table_2(name):
    for point, tree in scenarios(name).items():
        cell = only(tree["cell"], "phy", "slot_s", "sifs_s", "preamble_s", "mac_header_bytes")
        assert cell == {
            "phy": "802.11b",  # line 380 of the paper
            "slot_s": 20e-6,  # line 387 of the paper
            "sifs_s": 10e-6,  # line 388 of the paper
            "preamble_s": 192e-6,  # line 392 of the paper: "PHY Overhead"
            "mac_header_bytes": 30,  # line 394 of the paper
        }
        assert tree["cell"]["llc_bytes"] == 8  # SNAP header (396)
        assert tree["cell"]["ap"]["control_rate_bps"] == 2e6  # rate of MAC ACKs (391)
        assert every(tree["stations"], "rate_bps") == {11e6}
        assert every(tree["stations"], "control_rate_bps") == {2e6}
        # Assumption A1: "large enough to avoid buffer overflow" (90). 28 stations have 4 packets
        # each.
        assert tree["cell"]["ap"]["queue_packets"] == 1000
        assert every(tree["stations"], "queue_packets") == {1000}
        assert (tree["duration_s"], tree["replications"], tree["seed"]) == (200, 30, 1), point


@pytest.mark.parametrize("name", NAMES)
def test_every_connection_is_of_new_reno_with_immediate_acks(name):
    for point, tree in scenarios(name).items():
        ways = every(tree["flows"], "direction")
        assert ways == {"up" if point.startswith("up") else "down"}, point
        assert [station["station"] for station in tree["flows"]] == [
            flow["name"] for flow in tree["stations"]
        ]
        settings = [flow["tcp"] for flow in tree["flows"]]
        assert every(settings, "congestion") == {"newreno"}  # line 380 of the paper
        assert every(settings, "delayed_ack") == {False}  # assumption A2 (91)
        assert every(settings, "handshake") == {False}
        assert every(settings, "mss_bytes") == {1460}  # line 395 of the paper
        assert every(settings, "header_bytes") == {40}
        match = re.search(r"\bw(\d+)-", point)
        assert every(settings, "window_packets") == {int(match[1]) if match else 4}, (
            point
        )  # line 380 of the paper
        count = int(point.partition("-")[2]) if name == "stations" else 7
        assert len(tree["stations"]) == count  # line 380: "seven stations"


@pytest.mark.parametrize("name", NAMES)
def test_timeouts_are_a_second_unless_a_cause_is_isolated(name):
    for point, tree in scenarios(name).items():
        [tcp] = {(flow["tcp"]["min_rto_s"], flow["tcp"]["initial_rto_s"]) for flow in tree["flows"]}
        hasty = point.endswith("-short-rto") or point.startswith("hasty")
        fixed = point.endswith("-fixed")
        assert tcp == ((20, 20) if fixed else (0.2, 1) if hasty else (1, 1)), point


def access(tree) -> tuple[dict, dict]:
    """Return access parameters of the access point and of the equal stations."""
    mine, *others = [only(station, *ACCESS) for station in tree["stations"]]
    assert all(other == mine for other in others)
    return only(tree["cell"]["ap"], *ACCESS), mine


def edca(cwmin: int, txop: int = 1, cwmax: int = 1023) -> dict:
    """Return access parameters with AIFS 50 us, which is SIFS and two slots (388), and CWmax 1023
    (389).
    """
    return {"aifsn": 2, "cwmin": cwmin, "cwmax": cwmax, "txop_packets": txop}


def test_figure_5_has_the_same_window_at_all_stations():
    trees = scenarios("fig05")
    swept = {f"{way}-{cwmin}": cwmin for way in WAYS for cwmin in CWMINS}
    small = {f"{way}-{cwmin}": cwmin for way in WAYS for cwmin in (3, 7, 15)}
    for point, cwmin in swept.items():
        assert access(trees[point]) == (edca(cwmin), edca(cwmin))
    for point, cwmin in small.items():
        assert access(trees[f"{point}-short-rto"]) == (edca(cwmin), edca(cwmin))
        fixed = trees[f"{point}-fixed"]
        assert access(fixed) == (edca(cwmin, cwmax=cwmin), edca(cwmin, cwmax=cwmin))
        assert fixed["cell"]["ap"]["attempts_short"] == 255
        assert every(fixed["stations"], "attempts_short") == {255}
    for way in WAYS:
        assert access(trees[f"{way}-63-fixed"]) == (edca(63, cwmax=63), edca(63, cwmax=63))
    assert len(trees) == len(swept) + 2 * len(small) + 2


@pytest.mark.parametrize(("name", "lead"), [("fig06", ""), ("fig06_up", "up-")])
def test_figure_6_has_every_pair_of_windows(name, lead):
    trees = scenarios(name)
    for ap in CWMINS:
        for station in CWMINS:
            assert access(trees[f"{lead}{ap}-{station}"]) == (edca(ap), edca(station))
    for station in CWMINS:
        wanted = edca(3, cwmax=3), edca(station, cwmax=station)
        assert access(trees[f"{lead}3-{station}-fixed"]) == wanted
    extra = {"down-15-7"} & set(trees)  # Runs with uploads also have downloads for comparison.
    assert len(trees) == 49 + 7 + len(extra)
    assert all(access(trees[point]) == (edca(15), edca(7)) for point in extra)


def test_figure_7_has_limits_at_window_31_and_both_orders_of_the_queue():
    """Paper, line 447: "CWmin is set to 31 for both the AP and stations"."""
    trees = scenarios("fig07")
    for order in ("fifo", "mixed"):
        for ap in AP_TXOPS:
            for station in STATION_TXOPS:
                tree = trees[f"{order}-{ap}-{station}"]
                assert access(tree) == (edca(31, ap), edca(31, station))
                assert tree["cell"]["ap"]["queue_order"] == order
    assert len(trees) == 36


def test_figure_8_has_pifs_access_and_windows_around_the_optimum():
    trees = scenarios("fig08")
    for way in WAYS:
        for cwmin in {*CWMINS, *NEAR}:
            ap, station = access(trees[f"{way}-{cwmin}"])
            assert ap == {**PIFS, "txop_packets": 1}
            assert station == edca(cwmin)
    assert len(trees) == 26


def test_figure_9_has_pifs_access_with_limits():
    """Paper, line 462: "the AP uses PIFS Access, stations use CWmin = 31"."""
    trees = scenarios("fig09")
    for way in WAYS:
        for ap in PIFS_AP_TXOPS:
            for station in PIFS_STATION_TXOPS:
                settings = access(trees[f"{way}-{ap}-{station}"])
                assert settings == ({**PIFS, "txop_packets": ap}, edca(31, station))
    for ap in (1, 4, 8):
        assert access(trees[f"hasty-pifs-{ap}"]) == ({**PIFS, "txop_packets": ap}, edca(31, 4))
    contended = {"contended": 8, **{f"hasty-contended-{ap}": ap for ap in (4, 8, 16, 28)}}
    for point, ap in contended.items():
        assert access(trees[point]) == (edca(31, ap), edca(31, 4))
        assert trees[point]["cell"]["ap"]["queue_order"] == "fifo"
    assert len(trees) == 40 + 3 + 5


def test_other_windows_have_the_access_of_the_figures():
    """Paper, line 413: "the 12-packet ... window ... other receive window sizes"."""
    trees = scenarios("windows")
    for w in RECEIVE_WINDOWS:
        for cwmin in CWMINS:
            for way in WAYS:
                assert access(trees[f"{way}-w{w}-{cwmin}"]) == (edca(cwmin), edca(cwmin))
            pifs = {**PIFS, "txop_packets": 1}
            assert access(trees[f"down-w{w}-pifs-{cwmin}"]) == (pifs, edca(cwmin))
            for ap in (3, 7, 15):
                assert access(trees[f"down-w{w}-{ap}-{cwmin}"]) == (edca(ap), edca(cwmin))
        for ap in (31, 63, 127, 255):
            assert access(trees[f"down-w{w}-{ap}-7"]) == (edca(ap), edca(7))
        for limit in (1, 2):
            own = edca(31, limit)
            assert access(trees[f"down-w{w}-txop-{limit}"]) == (own, own)
            limited = access(trees[f"down-w{w}-pifs-limit-{limit}"])
            assert limited == ({**PIFS, "txop_packets": 1}, own)
        for cwmin in (3, 7, 127, 255):
            wanted = edca(3, cwmax=3), edca(cwmin, cwmax=cwmin)
            assert access(trees[f"down-w{w}-3-{cwmin}-fixed"]) == wanted
    assert len(trees) == 3 * (14 + 21 + 4 + 7 + 2 + 2 + 4)


def test_figure_10_has_delays_up_to_a_millisecond():
    trees = scenarios("fig10")
    assert list(trees) == [f"{delay}us" for delay in DELAYS_US]
    for delay in DELAYS_US:
        [ack_s] = {flow["tcp"]["ack_processing_s"] for flow in trees[f"{delay}us"]["flows"]}
        assert ack_s == pytest.approx(delay * 1e-6)
        assert access(trees[f"{delay}us"]) == (edca(31), edca(31))


def test_figure_12_has_half_of_the_round_trip_in_each_direction_and_the_loss_of_the_wire():
    """Paper, line 495: "wireline delay (from 0 to 200 ms) and ... loss rate (from 0.1% to 5%)"."""
    trees = scenarios("fig12")
    for window in (4, 12):
        for loss in LOSSES:
            for delay in DELAYS_MS:
                for ending in ("", "-short-rto"):
                    tree = trees[f"w{window}-loss{loss}-{delay}ms{ending}"]
                    assert tree["wire"]["delay_s"] == pytest.approx(delay / 2000)
                    assert tree["wire"]["loss"] == pytest.approx(loss / 1000)
                    assert access(tree) == (edca(31), edca(31))
    assert only(trees["analysis"]["wire"], "delay_s", "loss") == {"delay_s": 0, "loss": 0}
    assert len(trees) == 1 + 2 * 3 * 12 * 2


@pytest.mark.parametrize("name", [name for name in NAMES if name != "fig12"])
def test_the_wire_has_no_effect_in_other_figures(name):
    """Paper, line 382: "no packet loss, and no wireline delay"."""
    for tree in scenarios(name).values():
        assert only(tree["wire"], "rate_bps", "delay_s", "loss") == {
            "rate_bps": None,
            "delay_s": 0,
            "loss": 0,
        }


def test_numbers_of_stations_are_1_to_28_with_the_access_of_the_paper():
    trees = scenarios("stations")
    assert set(trees) == {f"{way}-{count}" for way in WAYS for count in COUNTS}
    for tree in trees.values():
        assert access(tree) == (edca(31), edca(31))
