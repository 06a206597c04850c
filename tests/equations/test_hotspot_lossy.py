from math import exp, log

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import fsolve

from lasthop.models.hotspot.lossless import solve_lossless
from lasthop.models.hotspot.lossy import (
    ap_loss,
    solve,
    solve_lossy,
    station_queue,
    station_queue_of_uploads,
)
from lasthop.models.hotspot.padhye import sent_per_rtt

from .hotspot_station import station

cells = st.lists(
    st.builds(
        station, st.integers(0, 8), st.integers(0, 8), st.integers(1, 64), st.floats(0.5, 2.0)
    ).filter(lambda s: s.active),
    min_size=1,
    max_size=6,
)


@pytest.mark.equation("hotspot", 23)
def test_station_queue_as_printed():
    # Station with Nup = 3 uploads, Ndw = 2 downloads, window W = 42 and beta = 1.2. The AP buffer
    # is B = 75.
    nsr = sent_per_rtt(0.02, 42)
    expected = 3 * 42 + 0.5 * 2 * nsr * 0.98 - 1.2 * 75
    assert station_queue(station(3, 2, 42, 1.2), 0.02, 75) == pytest.approx(expected, rel=1e-14)


@pytest.mark.equation("hotspot", 22)
def test_station_queue_solves_the_quadratic_it_comes_from():
    this, p, buffer, beta = station(3, 2, 42, 1.2), 0.02, 75.0, 1.2
    q = station_queue(this, p, buffer)
    own = 2 * sent_per_rtt(p, 42) * (1 - p) / (buffer + q / beta)  # Eq. (19)
    assert q == pytest.approx(beta * 3 * 42 / (beta - own / 2) - buffer * beta, rel=1e-12)


@pytest.mark.equation("hotspot", 25)
@given(st.integers(1, 9), st.floats(0.0, 0.9))
def test_uploads_alone_need_no_approximation(uploads, p):
    this = station(uploads, 0, 42, 1.2)
    assert station_queue_of_uploads(this, 75) == pytest.approx(station_queue(this, p, 75))


@pytest.mark.equation("hotspot", 25)
def test_approximation_without_downloads_is_close_when_uploads_fill_the_ap():
    cell = [station(6, 1, 42, 1.2)] + [station(0, 1, 42, 1.2)] * 4
    at = solve_lossy(cell, 75)
    assert at.station_queues[0] == pytest.approx(station_queue_of_uploads(cell[0], 75), rel=0.03)


@pytest.mark.equation("hotspot", 24)
def test_ap_loss_as_printed():
    cell, p, buffer, beta = [station(3, 0, 42, 1.2), station(0, 1, 42, 1.2)], 0.02, 75.0, 1.2
    q = 3 * 42 - beta * buffer
    offered = 0.5 * 3 * 42 / (1 + q / (beta * buffer)) + sent_per_rtt(p, 42)
    assert ap_loss(cell, p, buffer) == pytest.approx(1 - buffer / offered, rel=1e-12)


@pytest.mark.equation("hotspot", 5)
@given(cells, st.integers(1, 200))
def test_solution_balances_the_system(cell, buffer):
    lossless = solve_lossless(cell)
    assume(lossless is not None and lossless.ap_queue >= buffer)
    at = solve_lossy(cell, buffer)
    assert ap_loss(cell, at.loss, buffer) == pytest.approx(at.loss, abs=1e-10)
    assert at.ap_queue == buffer
    for this, queue in zip(cell, at.station_queues, strict=True):
        assert queue == station_queue(this, at.loss, buffer)


@pytest.mark.equation("hotspot", 5)
def test_solution_is_the_one_of_the_whole_system_at_once():
    cell, buffer = [station(3, 0, 42, 1.2)] + [station(0, 1, 42, 1.2)] * 4, 75.0
    at = solve_lossy(cell, buffer)

    def residuals(x):
        p, queues = exp(x[0]), x[1:]
        offered = sum(
            (0.5 * s.upload_window + sum(c.count * sent_per_rtt(p, c.window) for c in s.downloads))
            / (1 + q / (s.beta * buffer))
            for s, q in zip(cell, queues, strict=True)
        )
        return [
            p - 1 + buffer / offered,
            *(q - station_queue(s, p, buffer) for s, q in zip(cell, queues, strict=True)),
        ]

    solution = fsolve(residuals, [log(0.02)] + [10.0] * 5, xtol=1e-12)
    assert at.loss == pytest.approx(exp(solution[0]), rel=1e-8)
    assert at.station_queues == pytest.approx(list(solution[1:]), abs=1e-6)


@given(cells, st.integers(1, 200))
def test_there_is_one_solution(cell, buffer):
    lossless = solve_lossless(cell)
    assume(lossless is not None and lossless.ap_queue >= buffer and not lossless.neutral)
    root = solve_lossy(cell, buffer).loss
    for k in range(1, 20):
        p = k / 20
        sign = ap_loss(cell, p, buffer) - p
        if abs(p - root) > 1e-9:
            assert (sign > 0) == (p < root)


@pytest.mark.equation("hotspot", 5)
@given(cells)
def test_systems_agree_where_they_meet(cell):
    lossless = solve_lossless(cell)
    assume(lossless is not None)
    buffer = lossless.ap_queue
    assert ap_loss(cell, 0.0, buffer) == pytest.approx(0.0, abs=1e-12)
    at = solve_lossy(cell, buffer)
    assert at.loss == pytest.approx(0.0, abs=1e-9)
    assert at.station_queues == pytest.approx(lossless.station_queues, rel=1e-6, abs=1e-6)


@given(cells, st.integers(1, 200))
def test_choice_follows_the_lossless_queue(cell, buffer):
    lossless, at = solve_lossless(cell), solve(cell, buffer)
    if lossless is None:
        assert at is None
    elif lossless.ap_queue < buffer:
        assert at == lossless
    else:
        assert not at.lossless
        assert at.ap_queue == buffer


def test_a_buffer_that_does_not_overflow_is_refused():
    with pytest.raises(ValueError, match="does not overflow"):
        solve_lossy([station(0, 1, 42)], 75)


@given(cells, st.integers(1, 100), st.integers(1, 100))
def test_a_wire_acts_as_buffer_that_never_overflows(cell, buffer, pipe):
    lossless = solve_lossless(cell)
    assume(lossless is not None and lossless.ap_queue >= buffer + pipe)
    wired, larger = solve(cell, buffer, pipe), solve(cell, buffer + pipe)
    assert wired.ap_queue == buffer
    assert wired.loss == larger.loss
    assert wired.station_queues == larger.station_queues
