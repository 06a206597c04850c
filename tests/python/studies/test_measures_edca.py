"""The studies of paper 003 measure the values of their claims.

The runs have two replications of plain numbers, and all expected values are computed by hand.
Quantities that a measure must not read have other numbers.
"""

from math import log2, nan

import numpy as np
import pytest

from lasthop.studies.edca import (
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

from .edca_points import (
    AP_TXOPS,
    CWMINS,
    DELAYS_MS,
    DELAYS_US,
    LOSSES,
    NEAR,
    PIFS_AP_TXOPS,
    PIFS_STATION_TXOPS,
    RECEIVE_WINDOWS,
    STATION_TXOPS,
    WAYS,
)
from .made_up import Pair, a_run, expect


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
    # The values of `fall_down` are (4 - 3) / 4 and (5 - 2) / 5.
    # The values of `fall_up` are (4 - 1) / 4 and (4 - 3) / 4.
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
"""Throughputs by CWmin of the access point. A tuple has one value for each CWmin of the stations.
[Mb/s]
"""
OF_AP = {3: (0.9, 0.1, 0.4, 0.3, 0.2, 0.1, 0.8), 7: (0.95, 0.9, 0.2, 0.3, 0.35, 0.1, 0.7)}
OF_STATION = {3: (0.9, 0.2, 0.3, 0.5, 0.2, 0.1, 0.8), 7: (0.95, 0.9, 0.45, 0.3, 0.2, 0.1, 0.7)}
OF_AP[15] = OF_STATION[15] = (0.97, 0.96, 0.9, 0.1, 0.15, 0.25, 0.6)
"""Collision rates of the access point and of the stations, by CWmin of the access point. A tuple
has one value for each CWmin of the stations. [-]
"""
OTHER = (0.11, 0.12, 0.13, 0.14, 0.16, 0.17, 0.18)
ACTIVE: dict[int, tuple[tuple[float, ...], tuple[float, ...]]] = {
    3: ((1, 2, 6.3, 7, 7, 7, 7), (1, 1, 1, 6.3, 7, 7, 7)),
    7: ((0.5, 1, 2, 6.3, 7, 7, 7), (0.4, 1, 2, 3, 6.3, 7, 7)),
    15: ((0.2, 0.5, 1, 2, 6.3, 7, 7), (0.1, 0.4, 1, 2, 3, 6.3, 7)),
}
"""Mean numbers of active stations. The key is the CWmin of the access point. Each replication has
a tuple with one value for each CWmin of the stations. The limit of 95 % of seven stations is 6.65,
in the middle between 6.3 and 7.
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
        # Each curve shows the throughput at one CWmin of the AP, which is the number in the key.
        # On the horizontal axis is the CWmin of the stations, from the CWmin of the AP on.
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
        # `collision_*_peak_*` is the largest value of a curve without its first and last values.
        collision_ap_peak_3=(0.4, 0.41),
        collision_station_peak_3=(0.5, 0.51),
        collision_ap_peak_7=(0.35, 0.36),
        collision_station_peak_7=(0.45, 0.46),
        collision_ap_peak_15=(0.25, 0.26),
        collision_station_peak_15=(0.25, 0.26),
        # Each CWmin of saturation is in the middle between two simulated values of CWmin.
        # The scale is log2(CWmin + 1): the middle between 15 and 31 is 2^4.5 - 1.
        saturation_3=(2**4.5 - 1, 2**5.5 - 1),
        saturation_7=(2**5.5 - 1, 2**6.5 - 1),
        saturation_15=(2**6.5 - 1, 2**7.5 - 1),
        best_pair=(9, 9.25),  # at CWmin 31 of the AP and 7 of the stations
        best_equal=(8.5, 8.75),  # at CWmin 31 of all nodes
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
        # At a TXOP limit of 1 at the stations, throughputs depend on the TXOP limit of the AP.
        # They are from 1.01 to 1.08 in the first replication, and from 2.1 to 2.8 in the second.
        spread_over_ap_limit_down=(0.07 / 1.01, 0.7 / 2.1),
        spread_over_ap_limit_up=(0.14 / 1.02, 0.7 / 3.1),
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
        ((1, 2, 6.64, 6.66, 7, 7, 7), 2**4.5 - 1),  # midway between 15 and 31 by log2(CWmin + 1)
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
                # `retained` is read at a delay of 100 ms, or of 200 ms if the window is 12.
                f"retained_{case}": (0.4, 0.7) if window == 4 else (0.1, 0.4),
                # `knee_delay` is the interpolated delay at which the curve has fallen to 0.95.
                # In the first replication, 0.95 is at 3/8 of the distance from 0.98 to 0.9.
                # In the second, 0.95 is at a third of the distance from 0.955 to 0.94.
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
                # Without the offset `lift`, the values are (3 - 1) / 3 and (4 - 2) / 4.
                # The offset is added to all throughputs, so that it changes only the denominators.
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
            f"best_pair_{window}": (8 + off, 8),  # at CWmin 7 of the AP and 63 of the stations
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
