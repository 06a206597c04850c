import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq

from lasthop.models.hotspot.lossless import (
    ap_queue,
    backlog,
    is_backlogged,
    solve_lossless,
    solve_void_rounds,
    station_queues,
)
from lasthop.models.hotspot.station import Connections, StationLoad

from .hotspot_station import station

counts = st.integers(0, 8)
windows = st.integers(1, 64)
betas = st.floats(0.5, 2.0)


def some_stations(beta, least=1):
    each = st.builds(station, counts, counts, windows, beta).filter(lambda s: s.active)
    return st.lists(each, min_size=least, max_size=6)


mixed = st.builds(
    StationLoad,
    st.lists(st.builds(Connections, st.integers(1, 4), windows, st.sampled_from([1, 2]))).map(
        tuple
    ),
    st.lists(st.builds(Connections, st.integers(1, 4), windows, st.sampled_from([1, 2]))).map(
        tuple
    ),
    betas,
).filter(lambda s: s.active)


@pytest.mark.equation("hotspot", 12)
def test_station_queues_as_printed():
    # Station with Nup = 3 uploads, Ndw = 2 downloads, window W = 20, beta = 1.2, and AP queue Qap =
    # 10
    up, down = station_queues(station(3, 2, 20, 1.2), 10.0)
    assert up == pytest.approx(60 - 3 / 4 * 12, rel=1e-14)
    assert down == pytest.approx(20 - 2 / 8 * 12, rel=1e-14)
    assert station_queues(station(3, 2, 20, 1.2), 100.0) == (0.0, 0.0)


@pytest.mark.equation("hotspot", 13)
def test_ap_queue_as_printed():
    stations = [station(3, 2, 20, 1.2), station(0, 1, 42)]
    up, down = station_queues(stations[0], 10.0)
    expected = (60 - up) / 2 + (40 - 2 * down) + (42 - 2 * (21 - 10))
    assert ap_queue(stations, 10.0) == pytest.approx(expected, rel=1e-14)


@pytest.mark.equation("hotspot", 4)
@given(some_stations(betas))
def test_root_balances_the_system(stations):
    at = solve_lossless(stations)
    assume(at is not None)
    assert ap_queue(stations, at.ap_queue) == pytest.approx(at.ap_queue, rel=1e-9)
    assert at.station_queues == tuple(sum(station_queues(s, at.ap_queue)) for s in stations)


@pytest.mark.equation("hotspot", 4)
@given(some_stations(betas))
def test_root_is_the_one_a_bracketing_solver_finds_from_above(stations):
    full = sum(s.packets_at_ap for s in stations)
    at = solve_lossless(stations)

    def residual(queue):
        return ap_queue(stations, queue) - queue

    if at is None:
        assert all(residual(full * k / 64) < 0 for k in range(1, 65))
    elif not at.neutral and residual(0.5 * at.ap_queue) > 1e-9:
        root = brentq(residual, 0.5 * at.ap_queue, 2 * full, xtol=1e-12, rtol=1e-14)
        assert at.ap_queue == pytest.approx(root, rel=1e-7)


@given(some_stations(betas))
def test_no_greater_root(stations):
    at = solve_lossless(stations)
    assume(at is not None)
    for factor in (1.001, 1.1, 2.0, 10.0):
        queue = factor * at.ap_queue
        assert ap_queue(stations, queue) < queue


@given(some_stations(betas))
def test_every_window_is_somewhere(stations):
    # Segments of uploads wait at the station, and their ACKs, one per two segments, at the AP.
    # Segments of downloads wait at the AP, and their ACKs, one per two segments, at the station.
    at = solve_lossless(stations)
    assume(at is not None)
    total = sum(c.segments for s in stations for c in s.uploads + s.downloads)
    counted = 0.0
    for s in stations:
        up, down = station_queues(s, at.ap_queue)
        downloads = sum(c.segments for c in s.downloads)
        at_ap = (s.upload_window - up) / 2 + (downloads - 2 * down)
        counted += up + 2 * (s.upload_window - up) / 2 + 2 * down + (downloads - 2 * down)
        assert at_ap >= -1e-9
    assert counted == pytest.approx(total, rel=1e-12)


@pytest.mark.equation("hotspot", 14)
@pytest.mark.equation("hotspot", 15)
@pytest.mark.equation("hotspot", 16)
@given(some_stations(st.just(1.0), least=2))
def test_closed_form_agrees_at_beta_1(stations):
    at = solve_lossless(stations)
    assume(at is not None)
    for index, this in enumerate(stations):
        queue = at.station_queues[index]
        uploads = sum(c.count for c in this.uploads)
        downloads = sum(c.count for c in this.downloads)
        if uploads > downloads:
            assert queue == pytest.approx(backlog(stations, index), rel=1e-9, abs=1e-7)
        else:
            assert queue == pytest.approx(0.0, abs=1e-7)
        if queue > 1e-6:
            assert is_backlogged(stations, index)
        elif not is_backlogged(stations, index):
            assert queue == pytest.approx(0.0, abs=1e-7)


@pytest.mark.equation("hotspot", 16)
def test_closed_form_worked_by_hand():
    # Station 1 has 6 uploads and station 2 has one download, all with windows of 10. The term gamma
    # of station 2 is 2 * 10 = 20, and Q1 = 60 - 20 = 40. The other 20 segments of station 1 are 10
    # ACKs at the AP, where 10 segments of station 2 wait as well.
    stations = [station(6, 0, 10), station(0, 1, 10)]
    at = solve_lossless(stations)
    assert is_backlogged(stations, 0)
    assert backlog(stations, 0) == 40.0
    assert at.station_queues == pytest.approx((40.0, 0.0), abs=1e-12)
    assert at.ap_queue == pytest.approx(20.0, rel=1e-12)


@pytest.mark.equation("hotspot", 16)
def test_closed_form_needs_more_uploads_than_downloads():
    with pytest.raises(ValueError, match="more uploads than downloads"):
        backlog([station(1, 1, 10), station(0, 1, 10)], 0)


@pytest.mark.parametrize(
    "stations",
    [[station(6, 0)], [station(1, 0, 42, 1.2)], [station(6, 0, 42, 0.99), station(1, 0, 42, 0.99)]],
)
def test_only_an_empty_ap_balances_uploads_that_the_stations_hold_back(stations):
    assert solve_lossless(stations) is None


@pytest.mark.equation("hotspot", "footnote 18")
def test_void_rounds_of_a_lone_upload_worked_by_hand():
    # The AP queue Q satisfies Q = (beta Q + 1) / 2 with beta = 1. One ACK, for two segments, is at
    # the AP.
    at = solve_void_rounds([station(1, 0, 42)])
    assert at.ap_queue == pytest.approx(1.0)
    assert at.station_queues == pytest.approx((40.0,))


@pytest.mark.equation("hotspot", "footnote 18")
@given(some_stations(betas))
def test_void_rounds_balance_with_one_more_packet_per_station(stations):
    at = solve_void_rounds(stations)
    total = 0.0
    for this, queue in zip(stations, at.station_queues, strict=True):
        sent = this.packets_at_station
        assert queue == pytest.approx(max(0.0, sent - this.beta * at.ap_queue - 1), abs=1e-9)
        total += this.packets_at_ap * (1 - queue / sent)
    assert at.ap_queue == pytest.approx(total, rel=1e-9)


def test_equal_upload_stations_balance_at_every_small_queue():
    at = solve_lossless([station(6, 0), station(1, 0)])
    assert at.neutral
    assert at.ap_queue == pytest.approx(42.0)
    assert at.station_queues == pytest.approx((210.0, 0.0))


def test_a_lone_download_waits_at_the_ap():
    at = solve_lossless([station(0, 1, 42)])
    assert (at.ap_queue, at.station_queues) == (42.0, (0.0,))


@given(st.lists(mixed, min_size=1, max_size=5))
def test_mixed_connections_balance_too(stations):
    # Unequal windows, and ACKs of uploads and of downloads at one station, extend the paper.
    at = solve_lossless(stations)
    assume(at is not None)
    assert ap_queue(stations, at.ap_queue) == pytest.approx(at.ap_queue, rel=1e-9)


@given(st.lists(mixed, min_size=1, max_size=5), st.floats(0.1, 0.9))
def test_a_wire_takes_its_packets_out_of_the_ap(stations, part):
    dry = solve_lossless(stations)
    assume(dry is not None)
    at = solve_lossless(stations, pipe=part * dry.ap_queue)
    assert at.ap_queue == pytest.approx((1 - part) * dry.ap_queue, rel=1e-9)
    assert at.station_queues == pytest.approx(dry.station_queues)
    assert ap_queue(stations, at.ap_queue, at.pipe) == pytest.approx(at.ap_queue, rel=1e-8)


@given(some_stations(betas), st.randoms())
def test_order_of_stations_does_not_matter(stations, random):
    shuffled = random.sample(stations, len(stations))
    at, other = solve_lossless(stations), solve_lossless(shuffled)
    assert (at is None) == (other is None)
    if at is not None and not (at.neutral or other.neutral):
        assert at.ap_queue == pytest.approx(other.ap_queue, rel=1e-9)


def test_a_cell_without_connections_is_refused():
    with pytest.raises(ValueError, match="no station"):
        solve_lossless([station()])
