"""Curves of the paper's figures 5 to 9, compared with the statements of its text."""

from functools import cache
from itertools import pairwise

import pytest

from lasthop.models.access import Access
from lasthop.models.edca.options import Options
from lasthop.models.edca.solve import solve as solve_afresh

CWMIN = [3, 7, 15, 31, 63, 127, 255]
"""CWmin values of the paper: 2^n - 1 for n from 2 to 8."""
PIFS = Access(0, 0, aifsn=1)
MIXED = Options(ap_queue="mixed")
solve = cache(solve_afresh)
"""Several curves have cells in common. Therefore solutions are cached."""


def mbps(solution):
    return solution.goodput_bps / 1e6


def test_figure_5a_download_is_446_at_31_and_best_with_456_at_15(cell):
    goodput = {cwmin: mbps(solve(cell(7, 4, cwmin, cwmin))) for cwmin in CWMIN}
    assert goodput[31] == pytest.approx(4.46, abs=0.005)  # number in the text of the paper
    assert max(goodput, key=goodput.__getitem__) == 15
    assert goodput[15] == pytest.approx(4.56, abs=0.01)  # "about 4.56" in the text of the paper


def test_figure_5a_upload_falls_faster_towards_small_windows(cell):
    down = [mbps(solve(cell(7, 4, cwmin, cwmin))) for cwmin in CWMIN[:3]]
    up = [mbps(solve(cell(7, 4, cwmin, cwmin, uploads=7))) for cwmin in CWMIN[:3]]
    assert up[0] / up[2] < down[0] / down[2] < 1.0


def test_figure_5b_a_station_collides_more_often_than_the_ap(cell):
    for cwmin in CWMIN:
        solution = solve(cell(7, 4, cwmin, cwmin))
        assert solution.station_collision_rate > solution.ap_collision_rate


def test_figure_5c_few_stations_are_active_whatever_cwmin(cell):
    for uploads, most in ((0, 1.4), (7, 1.8)):
        active = [solve(cell(7, 4, c, c, uploads=uploads)).active_stations for c in CWMIN]
        assert 1.0 < min(active) < max(active) < most


@pytest.mark.parametrize(("uploads", "most"), [(0, 1.0), (7, 1.1)])  # the figure is for downloads
def test_figure_6_ap_window_above_the_stations(cell, uploads, most):
    apart = solve(cell(7, 4, 31, 7, uploads=uploads))
    equal = solve(cell(7, 4, 3, 3, uploads=uploads))
    assert apart.goodput_bps > equal.goodput_bps
    for ap in CWMIN[1:]:
        active = [
            solve(cell(7, 4, ap, station, uploads=uploads)).active_stations
            for station in CWMIN
            if station < ap
        ]
        assert all(a < b for a, b in pairwise(active))
        assert max(active) < most


def test_figure_6c_ap_window_below_the_stations_saturates_them(cell):
    def saturated_from(ap):
        return next(c for c in CWMIN if solve(cell(7, 4, ap, c)).active_stations > 6.99)

    assert saturated_from(3) == 31
    assert saturated_from(7) == 63
    assert saturated_from(15) == 255


def turns(values):
    """Return the directions of a curve: +1 for rising, -1 for falling. Successive equal directions
    are joined.
    """
    steps = [1 if b > a else -1 for a, b in pairwise(values)]
    return [steps[0], *(b for a, b in pairwise(steps) if a != b)]


def test_figure_6a_throughput_falls_rises_and_falls_for_small_ap_windows(cell):
    for ap in (3, 7):
        assert turns([mbps(solve(cell(7, 4, ap, c))) for c in CWMIN]) == [-1, 1, -1]
    for ap in (63, 127, 255):
        assert turns([mbps(solve(cell(7, 4, ap, c))) for c in CWMIN]) == [-1]


def test_figure_6b_collisions_rise_and_fall_with_the_stations_window(cell):
    for ap in (3, 7, 15):
        solution = [solve(cell(7, 4, ap, c)) for c in CWMIN]
        assert turns([each.station_collision_rate for each in solution]) == [1, -1]
        assert turns([each.ap_collision_rate for each in solution]) == [1, -1]


def test_figure_6a_best_pair_beats_the_best_equal_window(cell):
    pairs = {(a, s): mbps(solve(cell(7, 4, a, s))) for a in CWMIN for s in CWMIN}
    best = max(pairs, key=pairs.__getitem__)
    assert best == (15, 3)
    assert pairs[best] == pytest.approx(4.769, abs=1e-3)
    assert pairs[best] > 1.04 * max(pairs[c, c] for c in CWMIN)


def test_figure_7_txop_limits(cell):
    def goodput(ap, station):
        return mbps(solve(cell(7, 4, ap_txop=ap, station_txop=station), MIXED))

    limits = range(1, 5)
    for fixed in limits:
        assert all(goodput(a, fixed) < goodput(b, fixed) for a, b in pairwise(limits))
        assert all(goodput(fixed, a) < goodput(fixed, b) for a, b in pairwise(limits))
    # With a small TXOP limit of the AP, the limit of the stations has almost no effect. With a
    # large limit of the AP, it has an effect.
    assert goodput(1, 4) / goodput(1, 1) == pytest.approx(1.007, abs=1e-3)
    assert goodput(8, 4) / goodput(8, 1) == pytest.approx(1.066, abs=1e-3)


def test_figure_8_pifs_beats_every_pair_where_stations_collide_in_a_fifth(cell):
    solution = {cwmin: solve(cell(7, 4, PIFS, cwmin)) for cwmin in range(7, 128)}
    best = max(solution, key=lambda cwmin: solution[cwmin].goodput_bps)
    assert best == 41
    assert mbps(solution[best]) == pytest.approx(5.068, abs=1e-3)
    assert solution[best].station_collision_rate == pytest.approx(0.2, abs=0.01)
    assert mbps(solution[best]) > 1.05 * max(
        mbps(solve(cell(7, 4, a, s))) for a in CWMIN for s in CWMIN
    )


@pytest.mark.parametrize("uploads", [0, 7])
def test_figure_9_ap_limit_hardly_matters_with_pifs_and_the_stations_does(cell, uploads):
    def goodput(ap, station):
        nodes = Access(0, 0, 1, txop_packets=ap), Access(31, txop_packets=station)
        return mbps(solve(cell(7, 4, *nodes, uploads=uploads), MIXED))

    for station in range(1, 5):
        curve = [goodput(ap, station) for ap in range(1, 5)]
        assert max(curve) < 1.01 * min(curve)
    assert all(goodput(4, a) < goodput(4, b) for a, b in pairwise(range(1, 5)))
    without = max(mbps(solve(cell(7, 4, PIFS, c, uploads=uploads))) for c in CWMIN)
    assert goodput(4, 4) > without


def test_aggregate_hardly_depends_on_the_number_of_stations_or_the_window(cell):
    by_stations = [mbps(solve(cell(n))) for n in (2, 7, 20, 100)]
    by_window = [mbps(solve(cell(7, w))) for w in (1, 4, 12, 42)]
    for curve in (by_stations, by_window):
        assert max(curve) < 1.003 * min(curve)
