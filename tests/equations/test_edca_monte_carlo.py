"""The Markov chain, compared with a simulation of the process that it describes, with separate
stations.
"""

from collections import deque

import numpy as np
import pytest

from lasthop.models.access import Access
from lasthop.models.edca.contention import contend
from lasthop.models.edca.options import Options
from lasthop.models.edca.solve import solve

SUCCESSES = 20_000
BATCHES = 50
WARM_UP = 1_000
"""Number of successes before the first batch. The slowest cell in this file needs a few hundred
successes to become stationary.
"""


class Process:
    """A slotted simulation of p-persistent nodes, where each station has a TCP window of
    packets.
    """

    def __init__(self, cell, options, seed):
        self.cell, self.options = cell, options
        self.at = contend(cell.size, cell.station_access, cell.ap_access, options)
        self.rng = np.random.default_rng(seed)
        self.at_station = [0] * cell.size
        # The packets of a station are adjacent in the queue, because the packets of a burst leave
        # the queue one after another. From other initial orders the queue reaches this order only
        # slowly.
        self.ap_queue = deque(s for s in range(cell.size) for _ in range(cell.window))

    def taken_from_ap(self):
        if (self.options.ap_queue or self.cell.ap_queue) == "fifo":
            return self.ap_queue.popleft()
        place = int(self.rng.integers(len(self.ap_queue)))
        self.ap_queue.rotate(-place)
        return self.ap_queue.popleft()

    def packet(self, station, way):
        kinds = self.cell.stations[station].connections
        kind = kinds[0] if len(kinds) == 1 else self.rng.choice(kinds)
        return getattr(kind, way)

    def success(self):
        """Simulate up to the end of the next success; return time, packets delivered by the AP, and
        attempts.
        """
        cell, at, rng = self.cell, self.at, self.rng
        waiting = [s for s in range(cell.size) if self.at_station[s]]
        contends = bool(self.ap_queue)
        k = len(waiting) if contends else cell.size + 1
        ap, tau = at.ap_attempt_prob[k], at.station_attempt_prob[k]
        self.tally = {"time": 0.0, "down": 0, "ap": 0, "ap_lost": 0, "sta": 0, "sta_lost": 0}
        # The first packet of the AP remains the same during all collisions.
        first = self.taken_from_ap() if contends else None
        ap_packet = self.packet(first, "down") if contends else None
        first_aifs = min(cell.ap_access.aifsn, cell.station_access.aifsn)
        while True:
            slot = first_aifs
            while True:
                ap_sends = contends and slot >= cell.ap_access.aifsn and rng.random() < ap
                senders = []
                if slot >= cell.station_access.aifsn:
                    senders = [s for s in waiting if rng.random() < tau]
                if ap_sends or senders:
                    break
                slot += 1
            self.tally["time"] += cell.sifs_s + slot * cell.slot_s
            self.tally["ap"] += ap_sends
            self.tally["sta"] += len(senders)
            if ap_sends + len(senders) == 1:
                break
            self.tally["ap_lost"] += ap_sends
            self.tally["sta_lost"] += len(senders)
            frames = [self.packet(s, "up").exposed_s for s in senders]
            frames += [ap_packet.exposed_s] if ap_sends else []
            self.tally["time"] += max(frames) + cell.eifs_lead_s
        if ap_sends:
            self.ap_burst(first)
        else:
            if contends:
                self.ap_queue.appendleft(first)
            self.station_burst(senders[0])
        return self.tally

    def ap_burst(self, first):
        count = min(self.cell.ap_access.txop_packets, len(self.ap_queue) + 1)
        for number in range(count):
            to = first if number == 0 else self.taken_from_ap()
            self.at_station[to] += 1
            self.tally["time"] += self.packet(to, "down").exchange_s
        self.tally["down"] += count
        self.tally["ap"] += count - 1
        self.tally["time"] += (count - 1) * self.cell.sifs_s

    def station_burst(self, station):
        count = min(self.cell.station_access.txop_packets, self.at_station[station])
        self.at_station[station] -= count
        self.ap_queue.extend([station] * count)
        self.tally["sta"] += count - 1
        for _ in range(count):
            self.tally["time"] += self.packet(station, "up").exchange_s
        self.tally["time"] += (count - 1) * self.cell.sifs_s

    def run(self, successes=SUCCESSES):
        """Return the mean and the standard error of each quantity, from batches."""
        rows = []
        for number in range(WARM_UP + successes):
            active = sum(n > 0 for n in self.at_station)
            queued = sum(self.at_station)
            tally = self.success()
            time = tally["time"]
            if number >= WARM_UP:
                rows.append([*tally.values(), active * time, queued * time])
        batches = np.array(rows).reshape(BATCHES, -1, 8)
        time, down, ap, ap_lost, sta, sta_lost, active, queued = batches.sum(axis=1).T
        pairs = {
            "packet_rate": (down, time),
            "active_stations": (active, time),
            "station_queue": (queued / self.cell.size, time),
            "ap_collision_rate": (ap_lost, ap),
            "station_collision_rate": (sta_lost, sta),
        }
        return {name: ratio(*pair) for name, pair in pairs.items() if pair[1].sum() > 0}


def ratio(part, total):
    """Return the ratio of two sums and its standard error, by the delta method over the batches."""
    value = part.sum() / total.sum()
    residual = part - value * total
    return value, residual.std(ddof=1) / np.sqrt(BATCHES) / total.mean()


def assert_within_three_standard_errors(cell, options=None):
    options = options or Options()
    solution = solve(cell, options)
    for name, (value, error) in Process(cell, options, seed=3).run().items():
        # The absolute tolerance is only for collision rates of exactly 0.
        assert abs(getattr(solution, name) - value) <= 3.0 * error + 1e-12, name


MIXED = Options(ap_queue="mixed")


@pytest.mark.smoke(1)
@pytest.mark.parametrize(
    ("ap", "station", "uploads"),
    [(31, 31, 0), (15, 15, 7), (7, 31, 3), (31, 7, 0), (3, 3, 2), (63, 255, 7)],
)
def test_without_txop(cell, ap, station, uploads):
    assert_within_three_standard_errors(cell(7, 4, ap, station, uploads=uploads), MIXED)


@pytest.mark.smoke(2)
@pytest.mark.parametrize(("ap_txop", "station_txop"), [(2, 1), (1, 3), (3, 2), (4, 4)])
@pytest.mark.parametrize("uploads", [0, 4])
def test_with_txop(cell, ap_txop, station_txop, uploads):
    here = cell(7, 4, 15, 31, uploads=uploads, ap_txop=ap_txop, station_txop=station_txop)
    assert_within_three_standard_errors(here, MIXED)


@pytest.mark.smoke(1)
@pytest.mark.parametrize(("ap_aifsn", "station_aifsn"), [(2, 4), (4, 2), (1, 2)])
def test_with_unequal_aifsn(cell, ap_aifsn, station_aifsn):
    here = cell(7, 4, Access(15, aifsn=ap_aifsn), Access(15, aifsn=station_aifsn), uploads=2)
    assert_within_three_standard_errors(here, MIXED)


@pytest.mark.smoke(1)
@pytest.mark.parametrize(("ap_txop", "station_txop"), [(1, 1), (2, 3)])
def test_with_pifs_access(cell, ap_txop, station_txop):
    ap = Access(0, 0, aifsn=1, txop_packets=ap_txop)
    here = cell(7, 4, ap, Access(31, txop_packets=station_txop), uploads=3)
    assert_within_three_standard_errors(here, MIXED)


@pytest.mark.parametrize(("ap", "station"), [(31, 31), (7, 31)])
def test_a_lumped_chain_of_thirty_stations(cell, ap, station):
    here = cell(30, 10, ap, station, uploads=12)
    assert_within_three_standard_errors(here, MIXED)


@pytest.mark.smoke(1)
@pytest.mark.parametrize(
    ("ap_txop", "station_txop", "station"), [(2, 2, 31), (4, 2, 31), (4, 4, 7), (8, 4, 31)]
)
def test_fifo_bursts_stay_together(cell, ap_txop, station_txop, station):
    here = cell(7, 4, 31, station, ap_txop=ap_txop, station_txop=station_txop)
    assert solve(here).fifo
    assert_within_three_standard_errors(here)


def test_a_mixed_queue_is_a_fair_guess_where_fifo_bursts_are_cut(cell):
    here = cell(7, 4, ap_txop=5, station_txop=4)
    goodput, error = Process(here, Options(), seed=3).run()["packet_rate"]
    guess = solve(here)
    assert not guess.fifo
    assert 3.0 * error < goodput - guess.packet_rate < 0.02 * goodput
