"""Curves of the model in the hot-spot paper's figures 5 to 11: AP buffer 75, beta 1.2."""

import pytest

from lasthop.models.hotspot.fairness import fairness_level, goodput
from lasthop.models.hotspot.lossy import solve

from .hotspot_station import station

BUFFER, BETA = 75, 1.2


def against_four(first, other):
    cell = [station(*first, BETA)] + [station(*other, BETA)] * 4
    at = solve(cell, BUFFER)
    return fairness_level(goodput(cell, at), 0, 1), at


@pytest.mark.equation("hotspot", 3)
@pytest.mark.parametrize(
    ("uploads", "eta"), [(1, 3.21), (2, 10.53), (3, 12.38), (4, 12.38), (6, 12.38), (16, 12.38)]
)
def test_figure_5_uploads_against_a_download(uploads, eta):
    level, _ = against_four((uploads, 0, 42), (0, 1, 42))
    assert level == pytest.approx(eta, abs=0.005)


def test_figure_5_the_uplink_buffer_fills_from_three_uploads_on():
    queues = [against_four((x, 0, 42), (0, 1, 42))[1].station_queues[0] for x in range(1, 7)]
    assert queues == pytest.approx([0, 0, 36, 78, 120, 162])


@pytest.mark.parametrize("downloads", range(1, 7))
def test_figures_6_and_7_each_download_gets_the_same(downloads):
    level, at = against_four((0, downloads, 42), (0, 1, 42))
    assert level == pytest.approx(downloads, rel=1e-12)
    assert at.station_queues == (0.0,) * 5


def test_figure_8_small_windows_limit_a_download_and_large_ones_do_not():
    levels = [against_four((0, 1, w), (0, 1, 42))[0] for w in (6, 12, 16, 20, 24, 30, 36, 42)]
    assert levels[:4] == pytest.approx([0.339, 0.663, 0.838, 0.970], abs=0.0006)
    assert levels[4:] == pytest.approx([1.0] * 4, rel=1e-12)


@pytest.mark.parametrize(("uploads", "eta"), [(1, 1.0), (2, 2.0), (3, 90 / 42), (6, 90 / 42)])
def test_figures_9_and_10_uploads_reach_the_asymptote(uploads, eta):
    level, at = against_four((uploads, 0, 42), (1, 0, 42))
    assert level == pytest.approx(eta, rel=1e-12)
    assert at.ap_queue == BUFFER
    assert at.station_queues[0] == pytest.approx(max(0.0, 42 * uploads - 90))


@pytest.mark.parametrize("window", [6, 12, 24, 36, 42])
def test_figure_11_uploads_share_by_window_although_the_ap_loses_acks(window):
    level, at = against_four((1, 0, window), (1, 0, 42))
    assert level == pytest.approx(window / 42, rel=1e-12)
    assert 0.13 < at.loss < 0.29
