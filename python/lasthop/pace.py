"""How long the rest of something takes, judged by its pace."""

import time
from collections import deque
from typing import NamedTuple

__all__ = ["JUDGED_S", "Pace", "Rest"]

JUDGED_S = 0.5
"""Time after which a pace is judged. [s]"""

SLOWER = 0.9
"""A pace below this part of the pace before has slowed down. [-]"""

PLACES = 64
"""What has been heard is remembered at about so many instants of the time passed."""


class Rest(NamedTuple):
    """What is known of the rest."""

    passed_s: float
    """Time since the begin. [s]"""
    left_s: float
    """Time that the rest takes, if it goes on as in the later half of the time passed. [s]"""
    slows: bool
    """Whether it went on slower there than in the earlier half, so that it may take longer."""

    @property
    def how_sure(self) -> str:
        """What stands before the time that is left."""
        return "at least" if self.slows else "about"


class Pace:
    """The pace of what has just begun.

    It is that of the later half of the time passed: while windows of TCP grow, and before links
    fill, a simulated second has fewer packets than later, and the mean since the begin is too fast.
    """

    def __init__(self) -> None:
        self._begun_s = time.monotonic()
        self._heard = deque([(self._begun_s, 0.0)])

    def judge(self, done: float, total: float) -> Rest | None:
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
        return Rest(passed_s, (total - done) / late, late < SLOWER * early)
