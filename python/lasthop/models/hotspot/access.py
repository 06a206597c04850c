r"""Access priority beta from 802.11 access parameters.

The paper measures :math:`\beta` as the goodput of a greedy uplink UDP source over that of a greedy
downlink source at the same station (section 5). The station and the AP always have a frame of the
same size to send. This module computes that ratio from the Markov chain of two saturated DCF nodes.
Nothing of it is in the paper, which could not see inside its cards (footnote 7).

The chain is taken between transmissions. After a success the winner is *fresh*: it draws a backoff
uniform on [0, CW] at its first stage, while the other *waits* with the slots it has left. Whichever
is due first wins; if both are due simultaneously, they collide, after which both draw from doubled
windows. A node with a larger AIFSN is due that many slots later each time.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from lasthop.models.access import Access
from lasthop.models.errors import ConvergenceError

TOLERANCE = 1e-6
"""Relative change of the success ratio from sweep to sweep at which it is taken. [-]"""

NEGLIGIBLE = 1e-6
"""Expected visits, of one per sweep, that are not followed further. [-]"""

SWEEPS = 1000
"""Limit of the sweeps; a few tens are usual."""


def beta_from_access(station: Access, ap: Access) -> float:
    r"""Return the access priority of a station over the AP, :math:`\beta`. [-]

    Parameters
    ----------
    station, ap : Access
        Access parameters of the two.

    Returns
    -------
    float
        Delivered frames of the station per frame of the AP, if both are always backlogged and there
        are no other nodes. Exactly 1 for equal parameters.

    Raises
    ------
    ValueError
        A window is always 0, or one node is always due before the other and starves it.
    ConvergenceError
        The sweeps did not settle.

    Notes
    -----
    With TXOP limits in packets each access is worth as many frames, which is beyond the paper.

    Definition d14 as section 5 measures it. Station CWmin 29 against AP CWmin 34 gives 1.199, the
    paper's 1.2 (CWmax 1023, DIFS, 7 attempts). Accurate to about 2e-5.
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
    """Stationary visits of the two-node chain, approached sweep by sweep.

    One unit of probability travels between the sets of states "node k waits at stage s" and
    "both draw, at stages s0 and s1". How often the fresh node wins in a row is summed exactly
    within a set. A sweep ends where frames are new: at stage 0, or after a frame was dropped.
    """

    def __init__(self, *nodes: Access) -> None:
        self.nodes = nodes
        # arrivals[k, stage][left]: node k starts to wait with `left` slots left.
        self.arrivals: dict[tuple[int, int], list[float]] = {}
        self.collided: dict[tuple[int, int], float] = {}
        self.dropped: dict[tuple[int, int], float] = {(0, 0): 1.0}
        for fresh, waiter in (nodes, nodes[::-1]):
            if fresh.aifsn + fresh.cwmin <= waiter.aifsn:
                raise ValueError(f"{fresh!r} is always due before {waiter!r} and starves it")

    def sweep(self) -> tuple[float, float]:
        """Return successes of both nodes while the probability passes once through all states."""
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
        """Node ``waiter`` waits until it wins or collides; the other draws again and again."""
        fresh = 1 - waiter
        draws = self.nodes[fresh].cwmin + 1
        later = self.nodes[fresh].aifsn - self.nodes[waiter].aifsn
        visits = _visits(entries, draws, later)
        beaten: defaultdict[int, float] = defaultdict(float)
        for left, count in enumerate(visits):
            if count == 0.0:
                continue
            # The fresh node is due `later + draw` slots on the waiter's count, against `left`.
            due = left - later
            wins[fresh] += count * min(max(due, 0), draws) / draws
            if 0 <= due < draws:
                self._collide(waiter, stage, 0, count / draws)
            if due < draws - 1:
                beaten[due] += count / draws
                wins[waiter] += count * (draws - 1 - max(due, -1)) / draws
        self._add_waits(fresh, 0, draws, beaten)

    def _draw_both(self, stages: tuple[int, int], visits: float, wins: list[float]) -> None:
        """Both draw after a collision; the loser waits at its stage."""
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
        """Both failed at the given stages: double, or drop the frame after its last attempt."""
        pair = [0, 0]
        for which, failed in ((node, stage), (1 - node, other_stage)):
            pair[which] = failed + 1 if failed + 1 < self.nodes[which].attempts else 0
        key = (pair[0], pair[1])
        both = self.collided if min(key) > 0 else self.dropped
        both[key] = both.get(key, 0.0) + visits

    def _add_waits(self, node: int, stage: int, draws: int, beaten: Mapping[int, float]) -> None:
        """Let ``node`` wait with what was left of its draw when the other, due first, began.

        ``beaten[due]`` visits for each draw above ``due``; due < 0 takes nothing off the draw.
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
    """Return visits by slots left, while the fresh node may win many times in a row.

    A draw d is due after later + d of the waiter's slots. If that is positive and below the
    slots left, it is taken off them; if not positive, they stay as they are.
    """
    size = len(entries)
    first, last = max(1, later), later + draws - 1
    visits = [0.0] * size
    above = [0.0] * (size + 1)  # above[k]: visits with at least k slots left
    for left in range(size - 1, -1, -1):
        unmoved = min(draws, max(0, 1 - later if left > 0 else -later))
        inflow = entries[left]
        if left > 0 and last >= first:
            inflow += (above[min(left + first, size)] - above[min(left + last + 1, size)]) / draws
        visits[left] = inflow * draws / (draws - unmoved) if inflow > 0.0 else 0.0
        above[left] = above[left + 1] + visits[left]
    return visits
