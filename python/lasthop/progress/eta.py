"""How long the rest of something takes, judged by its pace."""

import time
from collections import deque
from typing import NamedTuple

__all__ = ["JUDGED_S", "Pace", "RemainingTime"]

JUDGED_S = 0.5
"""Time after which a pace is judged. [s]"""

SLOWER = 0.9
"""A pace below this part of the pace before has slowed down. [-]"""

PLACES = 64
"""Approximate number of instants whose progress is remembered. [-]"""


class RemainingTime(NamedTuple):
    """Estimate of the remaining time."""

    passed_s: float
    """Time since the begin. [s]"""
    left_s: float
    """Remaining time at the speed of the later half of the time passed. [s]"""
    slows: bool
    """Whether the later half was slower than the earlier half, so that more time may be needed."""

    @property
    def how_sure(self) -> str:
        """Words in front of the remaining time."""
        return "at least" if self.slows else "about"


class Pace:
    """Speed of a run, from the later half of the time passed.

    At the begin, while windows of TCP grow and links are not full, a simulated second has fewer
    packets than later. The average since the begin would therefore be too fast.
    """

    def __init__(self) -> None:
        self._begun_s = time.monotonic()
        self._heard = deque([(self._begun_s, 0.0)])

    def judge(self, done: float, total: float) -> RemainingTime | None:
        """Hear how much is done of how much; None: too early to say, or over."""
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
        if done <= before:  # nothing since, so the pace since then is no more than this
            from_s, before = self._begun_s, 0.0
        late = (done - before) / (now_s - from_s)
        early = before / (from_s - self._begun_s) if from_s > self._begun_s else late
        return RemainingTime(passed_s, (total - done) / late, late < SLOWER * early)
