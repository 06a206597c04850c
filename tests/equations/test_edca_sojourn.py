from itertools import combinations

import numpy as np
import pytest

from lasthop.models.access import Access
from lasthop.models.edca.cell import Cell, Connection, Packet, StationTraffic, mean_over_packets
from lasthop.models.edca.contention import contend
from lasthop.models.edca.options import Options
from lasthop.models.edca.sojourn import burst_s, exchange_s, overhead

OPTIONS = Options()


def contention(cell):
    return contend(cell.size, cell.station_access, cell.ap_access, OPTIONS)


@pytest.mark.equation("edca", 13)
@pytest.mark.equation("edca", 14)
@pytest.mark.parametrize("uploads", [0, 7])
def test_collisions_and_idle_time_as_printed(cell, uploads):
    here = cell(7, 4, 15, 31, uploads=uploads)
    at = contention(here)
    data, ack = 1310.545e-6, 248.727e-6
    # In a collision without the AP, only stations send frames. A collision with the AP contains a
    # data frame.
    t_ack, t_data = (ack, data) if uploads == 0 else (data, data)
    lead = here.eifs_lead_s
    success = at.success
    collisions = 1 / success - 1
    with_ap = at.ap_collision / success
    mu = (collisions - with_ap) * (t_ack + lead) + with_ap * (t_data + lead)
    mu += (collisions + 1) * (50e-6 + 20e-6 * at.idle_slots)
    seconds = overhead(here, at, OPTIONS)
    assert seconds.for_inactive_s[:7] == pytest.approx(mu[:7], rel=1e-6)
    assert seconds.for_active_s[1:] == pytest.approx(mu[1:], rel=1e-6)


@pytest.mark.equation("edca", 15)
def test_printed_number_of_ap_collisions_is_no_distribution(cell):
    at = contention(cell(7, 4, 3, 3))
    exact = at.ap_collision / at.success
    # The printed formula is P(j) = (P_AP,col)^j P_succ. The mean of this distribution is smaller
    # than the exact mean.
    printed = at.success * at.ap_collision / (1 - at.ap_collision) ** 2
    low = 1 - printed[1:8] / exact[1:8]
    assert np.all(np.diff(low) > 0.0)  # The printed mean is even smaller with more contenders.
    assert low[[0, 1, 6]] == pytest.approx([0.0, 0.155, 0.484], abs=1e-3)


@pytest.mark.equation("edca", 19)
@pytest.mark.equation("edca", 30)
@pytest.mark.equation("edca", 31)
def test_exchange_and_burst_of_table_two(cell):
    here = cell()
    data, ack = 1310.545e-6 + 10e-6 + 248e-6, 248.727e-6 + 10e-6 + 248e-6
    assert exchange_s(here, "down") == pytest.approx(data, rel=1e-6)
    assert exchange_s(here, "up") == pytest.approx(ack, rel=1e-6)
    packets = np.array([0.0, 1.0, 3.0])
    assert burst_s(here, packets, "down") == pytest.approx([0, data, 3 * (data + 10e-6) - 10e-6])


def test_eifs_or_the_frame_alone(cell):
    here = cell()
    at = contention(here)
    frame = overhead(here, at, Options(collision="frame")).for_active_s
    more = overhead(here, at, OPTIONS).for_active_s - frame
    assert more == pytest.approx((1 / at.success - 1) * 314e-6)


def packet(exposed):
    return Packet(exposed * 1e-3, exposed * 1e-3 + 258e-6, 0)


@pytest.mark.parametrize("to_active", [False, True])
@pytest.mark.parametrize("early", [0, 1, -1])
def test_collisions_of_unlike_stations_against_listing_all_sets(to_active, early):
    """Four stations have two different rates. Each station is active with the same probability."""
    stations = tuple(
        StationTraffic(
            (Connection(3, packet(up), packet(down)), Connection(1, packet(2.2), packet(0.9)))
        )
        for up, down in ((1.0, 0.3), (0.4, 2.0), (1.0, 0.3), (0.7, 1.5))
    )
    cell = Cell(
        stations,
        Access(7, aifsn=2),
        Access(15, aifsn=2 - early),
        20e-6,
        10e-6,
        314e-6,
    )
    at = contention(cell)
    seconds = overhead(cell, at, OPTIONS)
    overhead_s = seconds.for_active_s if to_active else seconds.for_inactive_s
    for k in range(1 if to_active else 0, 5 if to_active else 4):
        sets = [
            (active, to)
            for active in combinations(range(4), k)
            for to in range(4)
            if (to in active) == to_active
        ]
        spoilt = np.mean([collided_s(cell, at, k, active, to, early) for active, to in sets])
        aifs = 10e-6 + 20e-6 * min(2, 2 - early)
        rest = aifs + 20e-6 * at.idle_slots[k] + (1 - at.success[k]) * 314e-6
        assert overhead_s[k] == pytest.approx((rest + spoilt) / at.success[k], rel=1e-9)


def collided_s(cell, at, k, active, to, early):
    """Return the mean duration of the longest frame in a collision, over all senders and packets. A
    success counts as 0.
    """
    ap, tau, reach = at.ap_attempt_prob[k], at.station_attempt_prob[k], at.reach[k]
    kinds = [
        [(c.up.exposed_s, cell.stations[s].share(c)) for c in cell.stations[s].connections]
        for s in active
    ]
    down = [(c.down.exposed_s, cell.stations[to].share(c)) for c in cell.stations[to].connections]

    def longest(nodes):
        """Return the mean duration of the longest frame of two or more senders, and the probability
        that any node sends.
        """
        outcomes = [(0, 0.0, 1.0)]
        for prob, lengths in nodes:
            outcomes = [
                (n + sends, max(longest, length), p * q)
                for n, longest, p in outcomes
                for sends, length, q in [
                    (0, 0.0, 1 - prob),
                    *((1, length, prob * share) for length, share in lengths),
                ]
            ]
        mean = sum(length * p for n, length, p in outcomes if n > 1)
        return mean, sum(p for n, _, p in outcomes if n > 0)

    others = [(tau, lengths) for lengths in kinds]
    mean, busy = longest([(ap, down), *others])
    total = reach * mean / busy
    if early < 0 and active:
        mean, busy = longest(others)
        total += (1 - reach) * mean / busy
    return total


def test_mean_over_packets_counts_stations_alike(cell):
    here = cell(4, uploads=1)
    assert mean_over_packets(here.stations, "payload_bytes", "up") == 365.0
    assert mean_over_packets(here.stations, "payload_bytes", "down") == 1095.0


def test_unequal_windows_are_refused(cell):
    station = cell().stations[0]
    other = StationTraffic((Connection(5, packet(1), packet(1)),))
    with pytest.raises(ValueError, match="windows differ"):
        Cell((station, other), Access(), Access(), 20e-6, 10e-6, 314e-6)
