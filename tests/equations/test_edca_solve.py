from dataclasses import replace
from math import comb, factorial
from time import process_time

import pytest

from lasthop.models.access import Access
from lasthop.models.dcf import bianchi
from lasthop.models.dcf.saturation import Contender
from lasthop.models.edca.cell import Cell, Connection, Packet, StationTraffic
from lasthop.models.edca.options import PAPER, Options
from lasthop.models.edca.solve import solve

DATA, ACK = 1310.545454e-6, 248.727272e-6
EXCHANGE = 10e-6 + 248e-6
PIFS = Access(0, 0, aifsn=1)


@pytest.mark.equation("edca", 20)
@pytest.mark.equation("edca", 21)
@pytest.mark.equation("edca", 22)
def test_one_station_with_window_one_by_hand(cell):
    # The AP and the station send alternately, each after half of its window on average. The AP and
    # the station never contend with each other.
    solution = solve(cell(1, 1, 15, 31))
    down = 50e-6 + 20e-6 * 7.5 + DATA + EXCHANGE
    up = 50e-6 + 20e-6 * 15.5 + ACK + EXCHANGE
    assert solution.goodput_bps == pytest.approx(8 * 1460 / (down + up), rel=1e-6)
    assert solution.active_stations == pytest.approx(up / (down + up), rel=1e-6)
    assert solution.station_queue == pytest.approx(solution.active_stations)
    assert solution.ap_queue == pytest.approx(1 - solution.active_stations)
    assert solution.ap_collision_rate == solution.station_collision_rate == 0.0


@pytest.mark.parametrize(("ap_txop", "station_txop"), [(1, 1), (2, 1), (3, 2), (10, 10)])
@pytest.mark.parametrize("solver", ["full", "lumped"])
def test_as_many_packets_up_as_down(cell, ap_txop, station_txop, solver):
    here = cell(5, 4, 15, 31, uploads=2, ap_txop=ap_txop, station_txop=station_txop)
    solution = solve(here, Options(solver=solver, ap_queue="mixed"))
    assert solution.goodput_bps == pytest.approx(solution.packet_rate * 8 * 1460, rel=1e-12)
    queued = solution.ap_queue + 5 * solution.station_queue
    assert queued == pytest.approx(20)


@pytest.mark.equation("edca", 11)
@pytest.mark.equation("edca", 12)
@pytest.mark.parametrize("uploads", [0, 3, 7])
def test_solvers_agree_for_equal_parameters(cell, uploads):
    here = cell(uploads=uploads)
    product = solve(here)
    assert product.solver == "product"
    for solver in ("full", "lumped"):
        other = solve(here, Options(solver=solver))
        assert other.goodput_bps == pytest.approx(product.goodput_bps, rel=1e-11)
        assert other.active_stations == pytest.approx(product.active_stations, rel=1e-11)
        assert other.ap_collision_rate == pytest.approx(product.ap_collision_rate, rel=1e-11)
        assert other.station_queue == pytest.approx(product.station_queue, rel=1e-11)


@pytest.mark.parametrize("stations", [2, 7])
def test_the_state_at_a_success_is_no_time_average(cell, stations):
    """For every CWmin, the mean number of active stations at a success differs from the time
    average. The expected mean is computed by hand for windows of one packet, where n active
    stations have n packets.
    """
    alike = [solve(cell(stations, 1, cwmin, cwmin)) for cwmin in (7, 31, 255)]
    weights = [
        (1.0 * (n < stations) + n) * factorial(stations - n) * comb(stations, n)
        for n in range(stations + 1)
    ]
    mean = sum(n * weight for n, weight in enumerate(weights)) / sum(weights)
    for solution in alike:
        assert solution.active_at_success == pytest.approx(mean)
        # Data frames of the AP last longer, and are sent when fewer stations are active.
        assert solution.active_stations < 0.95 * mean
    assert alike[0].active_stations > alike[-1].active_stations


@pytest.mark.parametrize("ap", [3, 7, 15, 63])
@pytest.mark.parametrize("station", [3, 15, 31, 127])
def test_lumped_chain_is_accurate_to_1e_5(cell, ap, station):
    full = solve(cell(7, 4, ap, station), Options(solver="full"))
    lumped = solve(cell(7, 4, ap, station), Options(solver="lumped"))
    assert lumped.goodput_bps == pytest.approx(full.goodput_bps, rel=1e-5)
    assert lumped.active_stations == pytest.approx(full.active_stations, rel=3e-5)


@pytest.mark.parametrize("txops", [(2, 1), (1, 3), (3, 3), (4, 2), (8, 4), (10, 10)])
@pytest.mark.parametrize(("ap", "station"), [(31, 31), (3, 31), (31, 7), (7, 31)])
def test_lumped_chain_with_txop_is_accurate_to_half_a_per_cent(cell, ap, station, txops):
    here = cell(7, 4, ap, station, ap_txop=txops[0], station_txop=txops[1])
    full = solve(here, Options(solver="full", ap_queue="mixed"))
    lumped = solve(here, Options(solver="lumped", ap_queue="mixed"))
    assert lumped.goodput_bps == pytest.approx(full.goodput_bps, rel=5e-3)
    assert lumped.active_stations == pytest.approx(full.active_stations, rel=3e-2)


@pytest.mark.parametrize(
    ("stations", "window", "ap_txop", "station_txop"),
    [(7, 4, 28, 4), (12, 6, 72, 6), (20, 4, 80, 4), (3, 30, 90, 30), (1, 2, 3, 3), (20, 4, 80, 2)],
)
@pytest.mark.parametrize(("ap", "station"), [(31, 3), (255, 31)])
def test_lumped_chain_with_bursts_of_all_packets(
    cell, stations, window, ap, station, ap_txop, station_txop
):
    """Most states of these Markov chains are almost never reached, and the solver omits them. When
    the solver included these states, its result was wrong by up to 22 %.
    """
    here = cell(stations, window, ap, station, ap_txop=ap_txop, station_txop=station_txop)
    full = solve(here, Options(solver="full", ap_queue="mixed"))
    lumped = solve(here, Options(solver="lumped", ap_queue="mixed"))
    # The lumped chain is exact if a burst contains the whole queue of a station, and approximate if
    # it contains a part.
    accuracy = 1e-8 if station_txop >= window else 1.6e-2
    assert lumped.goodput_bps == pytest.approx(full.goodput_bps, rel=accuracy)


@pytest.mark.parametrize(("ap", "station"), [(1, 63), (1, 1023), (3, 255), (15, 31)])
def test_levels_left_out_at_either_end_do_not_matter(cell, ap, station):
    """Saturated stations have nearly all packets, so that only few values of the number of active
    stations are likely.
    """
    here = cell(9, 8, ap, station)
    everything = solve(here, Options(solver="full"))
    solution = solve(here, Options(solver="lumped"))
    assert solution.goodput_bps == pytest.approx(everything.goodput_bps, rel=1e-5)
    assert solution.active_stations == pytest.approx(everything.active_stations, rel=3e-5)


def test_lumped_chain_keeps_all_states_that_bursts_reach(cell):
    """If bursts contain the whole window, all packets at stations are in a few full queues. Without
    TXOP, states with a few full queues are unlikely.
    """
    here = cell(60, 4, ap_txop=240, station_txop=4)
    lumped = solve(here, Options(solver="lumped", ap_queue="mixed"))
    # All packets of a station are always sent together, so that its window is equivalent to one
    # large packet.
    single = solve(here, Options(solver="full", ap_queue="fifo"))
    assert single.states == 61
    assert lumped.goodput_bps == pytest.approx(single.goodput_bps, rel=1e-8)
    assert lumped.active_stations == pytest.approx(single.active_stations, rel=1e-8)


def test_where_packets_are_does_not_depend_on_an_equal_cwmin(cell):
    small, large = (solve(cell(7, 4, cwmin, cwmin)) for cwmin in (7, 255))
    assert small.goodput_bps > 1.5 * large.goodput_bps
    # Time averages differ because the durations of collisions differ. The Markov chain itself does
    # not differ.
    assert small.states == large.states


@pytest.mark.equation("edca", 34)
@pytest.mark.parametrize("cwmin", [3, 31, 127])
@pytest.mark.parametrize("uploads", [0, 7])
def test_pifs_access_is_a_saturated_cell_whose_exchanges_are_longer(cell, cwmin, uploads):
    solution = solve(cell(7, 4, PIFS, cwmin, uploads=uploads))
    up, down = (DATA, ACK) if uploads else (ACK, DATA)
    returned = 30e-6 + down + EXCHANGE
    node = Contender(cwmin, 1023, 7, up, up + EXCHANGE + 50e-6 + returned, 1460)
    saturated = bianchi.solve([node] * 7, 20e-6, 314e-6 + 50e-6)
    assert solution.solver == "pifs"
    assert solution.goodput_bps == pytest.approx(sum(saturated.goodput_bps), rel=1e-6)
    assert solution.station_collision_rate == pytest.approx(saturated.failure_prob[0], rel=1e-9)
    assert solution.ap_collision_rate == 0.0


@pytest.mark.equation("edca", 35)
@pytest.mark.equation("edca", 36)
@pytest.mark.parametrize("ap_txop", [1, 2, 3, 4])
@pytest.mark.parametrize("station_txop", [1, 2, 3, 4])
def test_pifs_access_with_txop_as_printed(cell, ap_txop, station_txop):
    ap = replace(PIFS, txop_packets=ap_txop)
    station = Access(31, txop_packets=station_txop)
    # The duration of the state with all stations active is computed from a cell without TXOP (eq.
    # 34).
    saturated = solve(cell(7, 4, PIFS, 31))
    packet_s = 8 * 1460 / saturated.goodput_bps
    full_state = packet_s - (30e-6 + DATA + EXCHANGE)
    mu = full_state + (station_txop - 1) * (ACK + EXCHANGE + 10e-6)
    bursts = -(-station_txop // ap_txop)
    t_pifs = 30e-6 * bursts - 10e-6 * bursts + station_txop * (DATA + 20e-6 + 248e-6)
    expected = station_txop * 8 * 1460 / (mu + t_pifs)
    solution = solve(cell(7, 4, ap, station), Options(ap_queue="mixed"))
    assert solution.goodput_bps == pytest.approx(expected, rel=1e-6)
    assert 6.0 < solution.active_stations < 7.0 + 1e-12


@pytest.mark.equation("edca", 32)
@pytest.mark.equation("edca", 33)
@pytest.mark.parametrize("uploads", [0, 2])
def test_one_station_with_txop_of_its_window_by_hand(cell, uploads):
    # All W packets of a window are sent together, and no node contends with another node.
    solution = solve(cell(1, 3, 15, 31, uploads=min(uploads, 1), ap_txop=3, station_txop=3))
    down = 50e-6 + 20e-6 * 7.5 + 3 * (DATA + 20e-6 + 248e-6) - 10e-6
    up = 50e-6 + 20e-6 * 15.5 + 3 * (ACK + 20e-6 + 248e-6) - 10e-6
    if uploads:
        down, up = down - 3 * (DATA - ACK), up + 3 * (DATA - ACK)
    assert solution.goodput_bps == pytest.approx(3 * 8 * 1460 / (down + up), rel=1e-6)


def test_fifo_bursts_are_super_packets(cell):
    bursts = solve(cell(7, 4, ap_txop=2, station_txop=2))
    assert bursts.fifo
    assert bursts.solver == "product"
    mixed = solve(cell(7, 4, ap_txop=2, station_txop=2), Options(ap_queue="mixed"))
    assert not mixed.fifo
    assert mixed.active_stations > bursts.active_stations
    # If packets are always sent in pairs, the occupancy is that of a window of two packets.
    half = solve(cell(7, 2))
    assert bursts.active_stations == pytest.approx(half.active_stations, rel=0.15)
    assert solve(cell(7, 4, ap_txop=4, station_txop=2)).fifo
    assert solve(cell(7, 4, ap_txop=8, station_txop=9)).fifo
    assert not solve(cell(7, 4, ap_txop=3, station_txop=3)).fifo


def test_equal_packets_make_direction_and_rates_irrelevant():
    same = Packet(1e-3, 1.3e-3, 700)
    uploads = Cell(
        (StationTraffic((Connection(4, same, same),)),) * 5,
        Access(15),
        Access(15),
        20e-6,
        10e-6,
        3e-4,
    )
    split = StationTraffic((Connection(3, same, same), Connection(1, same, same)))
    other = replace(uploads, stations=(split,) * 5)
    assert solve(other).goodput_bps == pytest.approx(solve(uploads).goodput_bps, rel=1e-12)


def test_a_slow_station_slows_all_alike(cell):
    fast = cell(4)
    slow = Packet(192e-6 + 8 * 1538 / 1e6, 450e-6 + 8 * 1538 / 1e6, 1460)
    ack = Packet(192e-6 + 8 * 78 / 1e6, 450e-6 + 8 * 78 / 1e6, 0)
    mixed = replace(
        fast, stations=(*fast.stations[:3], StationTraffic((Connection(4, ack, slow),)))
    )
    solution = solve(mixed)
    assert len(set(solution.station_goodput_bps)) == 1
    assert solution.goodput_bps < 0.5 * solve(fast).goodput_bps


def test_mixture_lies_between_upload_and_download(cell):
    down, mixed, up = (solve(cell(uploads=n)).goodput_bps for n in (0, 3, 7))
    assert up < mixed < down


@pytest.mark.parametrize(
    ("ap", "station", "uploads", "solver"),
    [
        (31, 31, 0, "product"),
        (7, 31, 0, "lumped"),
        (3, 255, 0, "lumped"),
        (PIFS, 31, 0, "pifs"),
    ],
)
def test_two_hundred_stations_with_windows_of_42_in_under_a_second(
    cell, ap, station, uploads, solver
):
    here = cell(200, 42, ap, station, uploads=uploads)
    solve(cell(2, 2, ap, station))  # loads the imported modules before the time is measured
    start = process_time()
    solution = solve(here)
    assert process_time() - start < 1.0
    assert solution.solver == solver
    assert 3e6 < solution.goodput_bps < 6e6


@pytest.mark.smoke(5)
@pytest.mark.parametrize(("stations", "window"), [(1, 1), (1, 300), (300, 1), (2, 42), (40, 3)])
@pytest.mark.parametrize(("ap", "station"), [(31, 31), (3, 63), (255, 3)])
def test_cells_of_any_size_are_solved(cell, stations, window, ap, station):
    solution = solve(cell(stations, window, ap, station))
    assert solution.ap_queue + stations * solution.station_queue == pytest.approx(stations * window)
    assert 1e6 < solution.goodput_bps < 6e6


@pytest.mark.smoke(14)
@pytest.mark.parametrize("stations", [1, 20, 100])
@pytest.mark.parametrize(
    ("ap", "station"),
    [
        (Access(0, 1), Access(1, 1)),
        (Access(1, 1, attempts=1), Access(0, 31, aifsn=15)),
        (Access(2, 2, aifsn=15), Access(2, 32767, aifsn=1)),
        (Access(32767, 32767), Access(1, 3, txop_packets=64)),
        (Access(0, 0, aifsn=1, txop_packets=3), Access(1, 1, attempts=1)),
        (Access(0, 7, aifsn=1), Access(1023, 1023, aifsn=3)),
        (Access(31, 63, aifsn=15, txop_packets=64), Access(3, 1023, aifsn=3, txop_packets=8)),
    ],
)
@pytest.mark.parametrize("attempts", ["scenario", "unlimited"])
def test_extreme_parameters_give_numbers(cell, stations, ap, station, attempts):
    solution = solve(cell(stations, 4, ap, station), Options(attempts=attempts))
    rates = (solution.ap_collision_rate, solution.station_collision_rate)
    assert all(
        0.0 <= rate <= 1.0 for rate in (*rates, solution.ap_discard, solution.station_discard)
    )
    assert 0.0 < solution.goodput_bps < 6e6
    assert 0.0 <= solution.active_stations <= stations + 1e-9
    assert solution.ap_queue + stations * solution.station_queue == pytest.approx(4 * stations)


def test_solver_that_does_not_apply_is_refused(cell):
    for ap, solver in ((7, "product"), (7, "pifs"), (PIFS, "full"), (PIFS, "lumped")):
        with pytest.raises(ValueError, match=r"AP|product"):
            solve(cell(7, 4, ap, 31), Options(solver=solver))


def test_no_backoff_at_all_is_refused(cell):
    with pytest.raises(ValueError, match="every attempt"):
        solve(cell(7, 4, 31, Access(0, 0)))


def test_readings_move_the_result_as_documented(cell):
    """The values are aggregate download goodputs at CWmin 15 and 31. [Mb/s]"""
    expected = {
        Options(): (4.5681, 4.4590),
        PAPER: (4.5682, 4.4590),
        Options(mean_backoff="(CW+1)/2"): (4.5677, 4.4478),
        Options(collision="frame"): (4.6553, 4.5038),
    }
    for options, values in expected.items():
        for cwmin, value in zip((15, 31), values, strict=True):
            goodput_mbps = solve(cell(7, 4, cwmin, cwmin), options).goodput_bps / 1e6
            assert goodput_mbps == pytest.approx(value, abs=6e-5)
