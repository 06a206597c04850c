"""Estimate of the remaining time of a run, from its speed."""

import time
from collections import deque
from itertools import pairwise
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


MIN_STEPS = 4
"""Smallest number of increases of the finished work in the later half of the time with which the
speed in this half is used. [-]
"""

LARGEST_STEP = 0.5
"""Largest part of one increase in the progress of the later half with which the speed in this half
is used. [-]
"""

SLOWEST = 1.0 / 3.0
"""Smallest speed that is used, as a fraction of the average speed since the start. [-]"""


class RemainingTime(NamedTuple):
    """Estimated remaining time of a run."""

    passed_s: float
    """Time since the start. [s]"""
    left_s: float
    """Remaining time at the speed of the run. [s]"""
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

    Some computations report their progress in few or unequal steps, such as one step per finished
    run. The later half may then have no large step by chance. The average speed is used if the
    later half has fewer than `MIN_STEPS` increases, or if one of them is most of its progress. The
    speed is never less than `SLOWEST` times the average.
    """

    def __init__(self) -> None:
        self._begun_s = time.monotonic()
        self._heard = deque([(self._begun_s, 0.0)])
        self._grown_s, self._done = self._begun_s, 0.0
        """Time of the last increase of the finished work, and this work."""

    def judge(self, done: float, total: float) -> RemainingTime | None:
        """Return the estimated remaining time, from the finished and the total amount of work.

        The result is None if it is too early for an estimate, or if the run has finished."""
        now_s = time.monotonic()
        passed_s = now_s - self._begun_s
        if done > self._done:
            self._grown_s, self._done = now_s, done
        middle_s = self._begun_s + 0.5 * passed_s
        while len(self._heard) > 1 and self._heard[1][0] <= middle_s:
            self._heard.popleft()
        from_s, before = self._heard[0]
        if now_s - self._heard[-1][0] > passed_s / PLACES:
            self._heard.append((now_s, done))
        if passed_s < JUDGED_S or not 0.0 < done < total:
            return None
        # If the work grows in steps, half of the time since the last step counts.
        average = done / (0.5 * (self._grown_s + now_s) - self._begun_s)
        late = (done - before) / (now_s - from_s)
        if not self._is_even(done):
            return RemainingTime(passed_s, (total - done) / average, False)
        early = before / (from_s - self._begun_s) if from_s > self._begun_s else late
        speed = max(late, SLOWEST * average)
        return RemainingTime(passed_s, (total - done) / speed, late < SLOWER * early)

    def _is_even(self, done: float) -> bool:
        """Return whether the progress in the later half has several steps of similar size."""
        heard = [*(each for _, each in self._heard), done]
        steps = [later - sooner for sooner, later in pairwise(heard) if later > sooner]
        return len(steps) >= MIN_STEPS and max(steps) <= LARGEST_STEP * sum(steps)
