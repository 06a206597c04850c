"""Whether this machine kept time while a test measured.

A measurement against the wall clock is not valid if the machine stood still meanwhile. Here each
has a witness: a process that sleeps a millisecond at a time and notes by how much it overslept. A
measurement in time is judged. A late measurement is reported and repeated, and in the end it fails
with its lateness. Nothing runs with another priority than the rest.
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
"""How often is measured at most."""

REST_S = 20.0
"""Longest wait for a quieter machine, before a measurement is repeated. [s]"""

FRAME_S = 2e-3
"""Lateness that TCP over an emulated cell does not notice. [s]

A segment of 802.11b at 11 Mb/s on the air: by that much packets wait for one another in the cell.
`lasthop emulate` warns from there on. It is a twentieth of the estimator's threshold; with 17 ms C
was 5 % lower, with 80 ms goodput 10 %.
"""

WINDOW_S = 45e-3
"""Lateness that readers of an emulated cell can compensate. [s]

Half of the time in which the whole cell, 5.2 Mbit/s, fills a single window of 42 segments.
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
"""Prints the lateness above which stalls are 1 % of the time, when its input ends. [s]

A single stall of more than 1 % counts whole, as a share of sleeps would not show it.
"""


class Witness:
    """How late a process was that had nothing to do but wake up, with the priority of this one."""

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
    """Wait until this machine keeps time again, at most for a limited time."""
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
    """Return the result of `measure` from a run during which this machine kept time.

    Parameters
    ----------
    measure : callable
        The whole measurement, its warm-up included. What it asserts by itself must hold however
        late it is.
    bound_s : float
        Lateness up to which the run counts.
    own : callable
        Returns the lateness that the answer reports, if it does.
    witness_bound_s : float, optional
        That of the witness, if it is another one.
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
    """Print a line immediately: repetitions are visible."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
    print(f"\n{test}: {line}", file=sys.__stderr__, flush=True)
