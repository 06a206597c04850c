"""Limits of time and memory: costs are estimated first, and a cost above a limit is refused.

Models and solvers estimate their costs from the numbers of states and steps, and from the measured
cost of one state and step. `need` compares the estimate with the limits before a computation
begins. Some costs cannot be estimated, because the number of iterations is unknown before
convergence. These computations call `check_time` repeatedly, so that they end even if an estimate
was too low.

The limits are stored in a context variable, which is visible to all nested solvers.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import ceil, floor, inf, isfinite, log10

from lasthop.errors import TooCostlyError
from lasthop.numeric import real_number
from lasthop.progress.eta import Pace
from lasthop.progress.steps import expect, step

__all__ = [
    "MAX_MEMORY_BYTES",
    "MAX_TIME_S",
    "Deadline",
    "allowing",
    "check_time",
    "cost_text",
    "need",
    "written",
]

MAX_TIME_S = 60.0
"""Default limit of the computing time of a command or function. [s]"""

MAX_MEMORY_BYTES = 2e9
"""Default limit of the memory of a command or function. [bytes]"""

GRACE = 2.0
"""Computing time at which a computation is stopped, as a multiple of its limit. Estimates were
measured on one machine; the present machine may be slower or busy. [-]
"""

TIMES = ((1.0, "s"), (60.0, "min"), (3600.0, "h"), (86400.0, "d"))
MEMORIES = ((1e6, "MB"), (1e9, "GB"), (1e12, "TB"))
"""Units of memory that are printed and accepted, smallest first. [bytes]"""

LONGEST_S, LARGEST_BYTES = 3.2e7, 1e15
"""Costs above these values are printed as "more than". [s, bytes]"""


@dataclass(frozen=True)
class _Allowance:
    """Limits of time and memory, and the start time of a computation."""

    max_time_s: float = MAX_TIME_S
    max_memory_bytes: float = MAX_MEMORY_BYTES
    since_s: float | None = None


USUAL = _Allowance()
"""Default limits of time and memory."""

_allowed: ContextVar[_Allowance] = ContextVar("_allowed", default=USUAL)


@contextmanager
def allowing(
    max_time_s: float = MAX_TIME_S, max_memory_bytes: float = MAX_MEMORY_BYTES
) -> Iterator[None]:
    """Limit the time and memory of computations while the body runs.

    Parameters
    ----------
    max_time_s : float
        Limit of the time; larger estimates are refused. [s]
    max_memory_bytes : float
        Limit of the memory; larger estimates are refused. [bytes]

    Raises
    ------
    ValueError
        If one of the limits is not above 0.
    """
    _check("max_time_s", max_time_s)
    _check("max_memory_bytes", max_memory_bytes)
    token = _allowed.set(_Allowance(max_time_s, max_memory_bytes, time.perf_counter()))
    try:
        with step(""):
            yield
    finally:
        _allowed.reset(token)


def _check(name: str, value: object) -> None:
    number = real_number(value)
    if number is None or not number > 0.0:
        raise ValueError(f"{name} = {value!r} is no number above 0")


def need(what: str, *, time_s: float = 0.0, memory_bytes: float = 0.0, smaller: str = "") -> None:
    """Refuse a computation whose estimated cost exceeds a limit; otherwise report its run time.

    Parameters
    ----------
    what : str
        Name of the computation, as the subject of a sentence.
    time_s, memory_bytes : float
        Estimates of time and memory; overestimate rather than underestimate. [s, bytes]
    smaller : str
        Sentence that proposes a computation with a lower cost.

    Raises
    ------
    TooCostlyError
        If an estimate is above its limit.
    """
    allowed = _allowed.get()
    asked = []
    if time_s > allowed.max_time_s:
        asked.append(f"max_time_s={_roomy(time_s, LONGEST_S, TIMES):g}")
    if memory_bytes > allowed.max_memory_bytes:
        asked.append(f"max_memory_bytes={_roomy(memory_bytes, LARGEST_BYTES, MEMORIES):g}")
    if not asked:
        expect(what, time_s)
        return
    costs = [_told(time_s, LONGEST_S, TIMES)] if time_s else []
    costs += [_told(memory_bytes, LARGEST_BYTES, MEMORIES)] if memory_bytes else []
    given = ((allowed.max_time_s, TIMES), (allowed.max_memory_bytes, MEMORIES))
    limits = [_told(most, inf, units) for most, units in given if isfinite(most)]
    raise TooCostlyError(
        f"{what} would take up to {' and '.join(costs)}; expected {' and '.join(limits)}",
        f"{' and '.join(asked)} {'allow' if asked[1:] else 'allows'} it"
        + (f"; {smaller}" if smaller else ""),
    )


def check_time(what: str) -> None:
    """Stop a computation whose run time exceeds `GRACE` times the limit.

    Parameters
    ----------
    what : str
        Name of the computation, as the subject of a sentence.

    Raises
    ------
    TooCostlyError
        If the run time exceeds `GRACE` times the limit.
    """
    allowed = _allowed.get()
    if allowed.since_s is None:
        return
    passed_s = time.perf_counter() - allowed.since_s
    if passed_s > GRACE * allowed.max_time_s:
        raise _not_done(what, passed_s, allowed.max_time_s)


class Deadline:
    """Limit of the run time of a simulation. The run time is predicted from the simulation's speed.

    Parameters
    ----------
    what : str
        Name of the computation, as the subject of a sentence.
    max_time_s : float
        Limit of the time. [s]

    Raises
    ------
    ValueError
        If `max_time_s` is not above 0.
    """

    def __init__(self, what: str, max_time_s: float) -> None:
        self._what = what
        _check("max_time_s", max_time_s)
        self._max_time_s = max_time_s
        self._pace = Pace()
        self._judged = False

    def look(self, done: float, total: float) -> None:
        """Check the limit from the finished amount of work and the total amount.

        Raises
        ------
        TooCostlyError
            If the first estimate of the duration exceeds the limit, or if the computation has run
            for more than `GRACE` times the limit.
        """
        rest = self._pace.judge(done, total)
        if rest is None:
            return
        whole_s = rest.passed_s + rest.left_s
        if not self._judged and whole_s > self._max_time_s:
            raise TooCostlyError(
                f"{self._what} would take {rest.how_sure} {_told(whole_s, LONGEST_S, TIMES)}; "
                f"expected {_told(self._max_time_s, inf, TIMES)}",
                f"max_time_s={_roomy(whole_s, LONGEST_S, TIMES):g} allows it",
            )
        self._judged = True
        if rest.passed_s > GRACE * self._max_time_s:
            raise _not_done(self._what, rest.passed_s, self._max_time_s)


def _not_done(what: str, passed_s: float, max_time_s: float) -> TooCostlyError:
    most = _told(max_time_s, inf, TIMES)
    more = _roomy(4.0 * passed_s, LONGEST_S, TIMES)
    return TooCostlyError(
        f"{what} is not done after {_told(passed_s, inf, TIMES)}; expected {most}",
        f"max_time_s={more:g} waits longer",
    )


def _told(value: float, largest: float, units: tuple[tuple[float, str], ...]) -> str:
    """Return a cost as text with two digits, in the largest unit in which it is at least 2."""
    if not value <= largest:
        return f"more than {_told(largest, inf, units)}"
    if not isfinite(value):
        return "any amount"
    scale, unit = next((each for each in reversed(units) if value >= 2.0 * each[0]), units[0])
    number = value / scale
    if number < 1.0:
        return f"{number:.2g} {unit}"
    digits = max(1 - floor(log10(number)), 0)
    return f"{round(number, digits):g} {unit}" if digits else f"{_rounded(number):g} {unit}"


def _rounded(number: float) -> float:
    """Return a number rounded to an integer below 1000, and to two digits from 1000 on."""
    return round(number) if number < 1000.0 else round(number, 1 - floor(log10(number)))


def _roomy(value: float, largest: float, units: tuple[tuple[float, str], ...]) -> float:
    """Return the cost, rounded up to 1, 2 or 5 times a power of ten in the unit of `_unit_of`."""
    value = min(value, largest)
    scale, _ = _unit_of(value, units)
    number = max(value / scale, 1.0)
    power = 10.0 ** floor(log10(number))
    step = next(step for step in (1, 2, 5, 10) if step * power >= 0.999 * number)
    return ceil(step * power) * scale


def cost_text(value: float, units: tuple[tuple[float, str], ...]) -> str:
    """Return a cost as text with two digits, in the largest unit in which it is at least 2."""
    return _told(value, inf, units)


def written(value: float, units: tuple[tuple[float, str], ...]) -> str:
    """Return a cost in the notation of command line options: a whole number and its unit."""
    scale, unit = _unit_of(value, units)
    return f"{ceil(0.999 * value / scale)}{unit}"


def _unit_of(value: float, units: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    """Return the largest unit in which a cost is at least 0.9."""
    return next((each for each in reversed(units) if value >= 0.9 * each[0]), units[0])
