"""Repeat a measurement if this machine stalled during it.

A measurement against the wall clock is not valid if the machine stalled during it. Each measurement
has a witness: a process that sleeps one millisecond at a time and notes by how much it overslept.
If the lateness is small, the measurement is valid. If the lateness is too large, it is reported,
and the measurement is repeated. If the last repetition is late too, the test fails and prints the
lateness. All processes have the same priority.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Self, TypeVar

import pytest

__all__ = ["FRAME_S", "WINDOW_S", "in_time"]

TRIES = 3
"""Largest number of measurements. [-]"""

REST_S = 20.0
"""Longest wait for a quieter machine, before a measurement is repeated. [s]"""

FRAME_S = 2e-3
"""Largest lateness that does not affect TCP over an emulated cell. [s]

The value equals the air time of a segment of 802.11b at 11 Mb/s. In the cell, packets already
wait for each other for this time. `lasthop emulate` warns above this lateness. The value is a
twentieth of the estimator's threshold. With a lateness of 17 ms, C was 5 % lower; with 80 ms,
goodput was 10 % lower.
"""

WINDOW_S = 45e-3
"""Largest lateness of programs that receive from an emulated cell. [s]

A lateness up to this value does not affect measured results. The value is half of the time in which
a cell of 5.2 Mbit/s sends one window of 42 segments.
"""

Measured = TypeVar("Measured")

WATCH = """
import sys, threading, time

late = []

def watch():
    while True:
        before = time.monotonic()
        time.sleep(1e-3)
        late.append(time.monotonic() - before - 1e-3)

began = time.monotonic()
threading.Thread(target=watch, daemon=True).start()
sys.stdin.read()
left = (time.monotonic() - began) / 100
answer = 0.0
for answer in sorted(late, reverse=True):
    left -= answer
    if left < 0:
        break
print(answer)
"""
"""Program that sleeps one millisecond at a time until its input ends, and then prints the lateness
of this machine. [s]

The program adds the times by which it overslept, from the longest to the shortest, until the sum
exceeds 1 % of the running time. The lateness is the time that was added last. If a single stall is
longer than 1 % of the running time, the lateness is the length of the longest stall. A percentile
over all sleeps would not show such a stall.
"""


class Witness:
    """Process that measures lateness: the process only sleeps and wakes up, with the priority of
    its parent.
    """

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [sys.executable, "-ISc", WATCH],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        printed, _ = self.process.communicate()
        self.late_s = float(printed)


def rest(bound_s: float) -> None:
    """Wait until the lateness of this machine is at most `bound_s`, or until `REST_S` is over."""
    end = time.monotonic() + REST_S
    while time.monotonic() < end:
        with Witness() as witness:
            time.sleep(1)
        if witness.late_s <= bound_s:
            return


def in_time(
    measure: Callable[[], Measured],
    bound_s: float,
    own: Callable[[Measured], float | None] = lambda _: None,
    witness_bound_s: float | None = None,
) -> Measured:
    """Return the result of `measure` from a run with a small lateness of this machine.

    Parameters
    ----------
    measure : callable
        The complete measurement, including its warm-up. Assertions inside `measure` must hold for
        any lateness.
    bound_s : float
        Largest lateness of a valid run.
    own : callable
        Function that is called with the result of `measure`. It returns the lateness that this
        result reports, or None if the result does not report lateness.
    witness_bound_s : float, optional
        Largest lateness of the witness, if it differs from `bound_s`.
    """
    attempts: list[str] = []
    while len(attempts) < TRIES:
        if attempts:
            rest(bound_s)
        with Witness() as witness:
            answer = measure()
        late = [(witness.late_s, witness_bound_s or bound_s), (own(answer) or 0.0, bound_s)]
        worst_s, most_s = max(late, key=lambda pair: pair[0] / pair[1])
        if worst_s <= most_s:
            return answer
        attempts.append(f"{1e3 * worst_s:.1f} ms late where {1e3 * most_s:g} ms are the most")
        announce(f"try {len(attempts)} of {TRIES}: this machine ran {attempts[-1]}")
    pytest.fail(f"not measured: this machine ran {', then '.join(attempts)}", pytrace=False)


def announce(line: str) -> None:
    """Print a line immediately, so that repetitions are visible."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
    print(f"\n{test}: {line}", file=sys.__stderr__, flush=True)
