"""Estimate of the remaining time of a run, from its speed."""

import time
from collections import deque
from typing import NamedTuple

__all__ = ["JUDGED_S", "Pace", "RemainingTime"]

JUDGED_S = 0.5
"""Run time after which the remaining time is first estimated. [s]"""

SLOWER = 0.9
"""Smallest ratio of the later speed to the earlier speed at which a run does not count as slowing
down. [-]
"""

PLACES = 64
"""Approximate number of stored measurements of progress over time. [-]"""


class RemainingTime(NamedTuple):
    """Estimated remaining time of a run."""

    passed_s: float
    """Time since the start. [s]"""
    left_s: float
    """Remaining time at the speed in the later half of the time since the start. [s]"""
    slows: bool
    """Whether the speed decreases, so that the remaining time may be longer."""

    @property
    def how_sure(self) -> str:
        """Words before the remaining time that say how certain the estimate is."""
        return "at least" if self.slows else "about"


class Pace:
    """Speed of a run, measured in the later half of the time since the start.

    At the start, TCP windows grow and links are not full, so a simulated second has fewer packets
    than later. The average speed since the start would therefore be too high.
    """

    def __init__(self) -> None:
        self._begun_s = time.monotonic()
        self._heard = deque([(self._begun_s, 0.0)])

    def judge(self, done: float, total: float) -> RemainingTime | None:
        """Return the estimated remaining time, from the finished and the total amount of work.

        The result is None if it is too early for an estimate, or if the run has finished."""
        now_s = time.monotonic()
        passed_s = now_s - self._begun_s
        middle_s = self._begun_s + 0.5 * passed_s
        while len(self._heard) > 1 and self._heard[1][0] <= middle_s:
            self._heard.popleft()
        from_s, before = self._heard[0]
        if now_s - self._heard[-1][0] > passed_s / PLACES:
            self._heard.append((now_s, done))
        if passed_s < JUDGED_S or not 0.0 < done < total:
            return None
        # Without progress in the later half, use the average speed since the start.
        if done <= before:
            from_s, before = self._begun_s, 0.0
        late = (done - before) / (now_s - from_s)
        early = before / (from_s - self._begun_s) if from_s > self._begun_s else late
        return RemainingTime(passed_s, (total - done) / late, late < SLOWER * early)
