r"""Access priority beta, computed from 802.11 access parameters.

The paper measures :math:`\beta` as the goodput of a greedy uplink UDP source divided by that of a
greedy downlink source at the same station (section 5). The station and the AP always have a frame
of the same size to send. This module computes this ratio from the Markov chain of two saturated DCF
nodes. This computation is not in the paper, whose authors could not read the parameters of their
network cards (footnote 7).

The chain is observed between transmissions. After a success the winner is *fresh*: it draws a new
backoff, uniform on [0, CWmin]. The other node *waits* with its remaining backoff slots. The node
whose backoff ends first wins. If both backoffs end simultaneously, the nodes collide, and both draw
from doubled contention windows. After each transmission, a node with a larger AIFSN starts its
backoff later, by the difference of the AIFSNs.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from lasthop.models.access import Access
from lasthop.models.errors import ConvergenceError

TOLERANCE = 1e-6
"""Relative change, from one sweep to the next, of the ratio of the two nodes' successes. Below this
change the computation has converged. [-]
"""

NEGLIGIBLE = 1e-6
"""Expected visits per sweep below which a state is neglected. [-]"""

SWEEPS = 1000
"""Largest number of sweeps over the states; usually a few tens suffice."""


def beta_from_access(station: Access, ap: Access) -> float:
    r"""Return the access priority of a station over the AP, :math:`\beta`. [-]

    Parameters
    ----------
    station, ap : Access
        Access parameters of the station and of the AP.

    Returns
    -------
    float
        Number of delivered frames of the station per frame of the AP, if both are always backlogged
        and there are no other nodes. Exactly 1 for equal parameters.

    Raises
    ------
    ValueError
        If a contention window is always 0, or if one node always sends before the other node and
        starves it.
    ConvergenceError
        If the sweeps do not converge.

    Notes
    -----
    With a TXOP limit in packets, each channel access counts as this number of frames; the paper has
    no TXOPs.

    The ratio is definition d14 of the paper, as measured in section 5. For CWmin 29 of the station
    and CWmin 34 of the AP the result is 1.199, where the paper has 1.2 (CWmax 1023, DIFS, 7
    attempts). The numerical error is about 2e-5.
    """
    for node in (station, ap):
        if node.cwmin < 1:
            raise ValueError(f"{node!r}: needs 1 <= cwmin <= cwmax and at least one attempt")
    each, other = (replace(node, txop_packets=1) for node in (station, ap))
    ratio = 1.0 if each == other else _success_ratio(each, other)
    return ratio * station.txop_packets / ap.txop_packets


@lru_cache(maxsize=1024)
def _success_ratio(station: Access, ap: Access) -> float:
    chain = _Chain(station, ap)
    last = 0.0
    for _ in range(SWEEPS):
        won_by_station, won_by_ap = chain.sweep()
        ratio = won_by_station / won_by_ap if won_by_ap else 0.0
        if ratio > 0.0 and abs(ratio - last) <= TOLERANCE * ratio:
            return ratio
        last = ratio
    raise ConvergenceError(f"access ratio of {station!r} over {ap!r}: still moving at {last!r}")


class _Chain:
    """Stationary visits of the Markov chain of two nodes, computed in sweeps over its states.

    A total probability of 1 moves between sets of states. The sets are "node k waits at backoff
    stage s" and "both nodes draw, at backoff stages s0 and s1". Within a set, successive wins of
    the fresh node are summed exactly. A sweep ends at states in which a node begins a new frame: at
    backoff stage 0, or after a dropped frame.
    """

    def __init__(self, *nodes: Access) -> None:
        self.nodes = nodes
        # arrivals[k, stage][left] has the visits at which node k starts to wait with `left`
        # remaining slots.
        self.arrivals: dict[tuple[int, int], list[float]] = {}
        self.collided: dict[tuple[int, int], float] = {}
        self.dropped: dict[tuple[int, int], float] = {(0, 0): 1.0}
        for fresh, waiter in (nodes, nodes[::-1]):
            if fresh.aifsn + fresh.cwmin <= waiter.aifsn:
                raise ValueError(f"{fresh!r} is always due before {waiter!r} and starves it")

    def sweep(self) -> tuple[float, float]:
        """Move the probability once through all states. Return the expected number of successes of
        each node.
        """
        wins = [0.0, 0.0]
        dropped, self.dropped = self.dropped, {}
        for stages, visits in dropped.items():
            self._draw_both(stages, visits, wins)
        for waiter in (0, 1):
            entries = self.arrivals.pop((waiter, 0), [])
            self._wait(waiter, 0, entries, wins)
        repeating = True
        while repeating:
            repeating = False
            for stages in list(self.collided):
                visits = self.collided.pop(stages)
                if visits > NEGLIGIBLE:
                    self._draw_both(stages, visits, wins)
                    repeating = True
            for waiter, stage in [key for key in self.arrivals if key[1] > 0]:
                entries = self.arrivals.pop((waiter, stage))
                if sum(entries) > NEGLIGIBLE:
                    self._wait(waiter, stage, entries, wins)
                    repeating = True
        return wins[0], wins[1]

    def _wait(self, waiter: int, stage: int, entries: list[float], wins: list[float]) -> None:
        """Process the states in which node ``waiter`` waits. The fresh node draws again after each
        win, until ``waiter`` wins or the nodes collide.
        """
        fresh = 1 - waiter
        draws = self.nodes[fresh].cwmin + 1
        later = self.nodes[fresh].aifsn - self.nodes[waiter].aifsn
        visits = _visits(entries, draws, later)
        beaten: defaultdict[int, float] = defaultdict(float)
        for left, count in enumerate(visits):
            if count == 0.0:
                continue
            # In slots counted by the waiting node, the fresh node sends after `later + draw` slots,
            # and the waiting node after `left` slots.
            due = left - later
            wins[fresh] += count * min(max(due, 0), draws) / draws
            if 0 <= due < draws:
                self._collide(waiter, stage, 0, count / draws)
            if due < draws - 1:
                beaten[due] += count / draws
                wins[waiter] += count * (draws - 1 - max(due, -1)) / draws
        self._add_waits(fresh, 0, draws, beaten)

    def _draw_both(self, stages: tuple[int, int], visits: float, wins: list[float]) -> None:
        """Process the states in which both nodes draw after a collision. The node with the longer
        backoff then waits at its backoff stage.
        """
        draws = [node.window(stage) + 1 for node, stage in zip(self.nodes, stages, strict=True)]
        weight = visits / (draws[0] * draws[1])
        for winner in (0, 1):
            loser = 1 - winner
            later = self.nodes[winner].aifsn - self.nodes[loser].aifsn
            beaten = {}
            for draw in range(draws[winner]):
                due = later + draw
                if due < draws[loser] - 1:
                    beaten[due] = weight
                    wins[winner] += weight * (draws[loser] - 1 - max(due, -1))
                if winner == 0 and 0 <= due < draws[1]:
                    self._collide(0, stages[0], stages[1], weight)
            self._add_waits(loser, stages[loser], draws[loser], beaten)

    def _collide(self, node: int, stage: int, other_stage: int, visits: float) -> None:
        """Process a collision at the given backoff stages: each node doubles its window, or drops
        the frame after its last attempt.
        """
        pair = [0, 0]
        for which, failed in ((node, stage), (1 - node, other_stage)):
            pair[which] = failed + 1 if failed + 1 < self.nodes[which].attempts else 0
        key = (pair[0], pair[1])
        both = self.collided if min(key) > 0 else self.dropped
        both[key] = both.get(key, 0.0) + visits

    def _add_waits(self, node: int, stage: int, draws: int, beaten: Mapping[int, float]) -> None:
        """Add the visits at which ``node`` starts to wait with the remainder of its draw, because
        the other node has sent first.

        ``due`` is the number of slots after which the other node sends. ``beaten[due]`` is the
        number of visits for each possible draw above ``due``. If ``due`` is negative, the draw is
        not reduced.
        """
        steps = [0.0] * (draws + 1)
        for due, visits in beaten.items():
            first, last = (1, draws - 1 - due) if due >= 0 else (0, draws - 1)
            steps[first] += visits
            steps[last + 1] -= visits
        arrivals = self.arrivals.setdefault((node, stage), [0.0] * draws)
        running = 0.0
        for left in range(draws):
            running += steps[left]
            arrivals[left] += running


def _visits(entries: list[float], draws: int, later: int) -> list[float]:
    """Return how often a waiting node has each number of remaining slots, summed over successive
    wins of the fresh node. Index k of the result is the number of visits with k remaining slots.

    The fresh node with a draw d sends after later + d slots counted by the waiting node. If later +
    d is positive and below the number of remaining slots, later + d is subtracted from this number.
    If later + d is not positive, the remaining slots do not change.
    """
    size = len(entries)
    first, last = max(1, later), later + draws - 1
    visits = [0.0] * size
    above = [0.0] * (size + 1)  # above[k]: visits with at least k remaining slots
    for left in range(size - 1, -1, -1):
        unmoved = min(draws, max(0, 1 - later if left > 0 else -later))
        inflow = entries[left]
        if left > 0 and last >= first:
            inflow += (above[min(left + first, size)] - above[min(left + last + 1, size)]) / draws
        visits[left] = inflow * draws / (draws - unmoved) if inflow > 0.0 else 0.0
        above[left] = above[left + 1] + visits[left]
    return visits
