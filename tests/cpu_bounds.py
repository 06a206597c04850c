"""Bounds of the CPU time of tests and fixtures in `make test`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from statistics import mean

import pytest

MAX_CPU_S = 2.0
MAX_LINUX_TEST_CPU_S = 5.0
"""Limits of the CPU time of a test or a fixture that is not marked `slow` or `measured`. [s]

`MAX_LINUX_TEST_CPU_S` is the limit in tests/linux. Tests above it are only listed, because the CPU
time of a run in real time also depends on the load of the machine. On a processor that takes longer
than `STEPS_S` for a million steps of a loop, the limits are larger in proportion.
"""

STEPS_S = 0.069
"""CPU time of a million steps of a loop on the reference processor. [s]"""

FAILS_ABOVE = 1.5
"""Multiple of the bound above which a test fails. Between the bound and this multiple, the test is
only listed. [-]
"""


def cpu_s() -> float:
    """Return the CPU time of this process and of its children that have ended. [s]"""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def slowness() -> float:
    """Return the CPU time of a million steps of a loop on this processor, divided by `STEPS_S`; at
    least 1. [-]
    """

    def steps_s() -> float:
        began_s = time.process_time()
        total = 0.0
        for step in range(1_000_000):
            total += 0.5 * step
        return time.process_time() - began_s

    return max(1.0, mean(steps_s() for _ in range(3)) / STEPS_S)


OVER_BOUND = "over the bound"
"""Name of the report property that holds the message about a bound."""


def note_bound(item: pytest.Item, name: str, began_s: float) -> None:
    """List a test or fixture whose CPU time is above its bound. Outside tests/linux, fail it above
    `FAILS_ABOVE` times the bound.
    """
    spent_s = cpu_s() - began_s
    in_real_time = item.path.parent.name == "linux"
    bound_s = MAX_LINUX_TEST_CPU_S if in_real_time else MAX_CPU_S
    if spent_s <= bound_s or any(map(item.get_closest_marker, ("slow", "measured"))):
        return
    scaled_s = bound_s * slowness()
    if spent_s <= scaled_s:
        return
    text = f"{item.nodeid}: {name}: {spent_s:.1f} s of CPU time, bound {scaled_s:.1f} s"
    item.user_properties.append((OVER_BOUND, text))
    if spent_s > FAILS_ABOVE * scaled_s and not in_real_time:
        pytest.fail(f"{text}: mark it slow and add a smaller test", pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the tests and fixtures above their bounds."""
    reports = (report for group in terminalreporter.stats.values() for report in group)
    properties = (pair for report in reports for pair in getattr(report, "user_properties", ()))
    texts = sorted({str(text) for name, text in properties if name == OVER_BOUND})
    if texts:
        terminalreporter.section("above the bound of CPU time")
        for text in texts:
            terminalreporter.write_line(text)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Limit the CPU time of each test."""
    began_s = cpu_s()
    yield
    note_bound(item, "the test", began_s)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Iterator[None]:
    """Limit the CPU time of each fixture of any scope."""
    began_s = cpu_s()
    value = yield
    note_bound(request._pyfuncitem, f"the fixture {fixturedef.argname}", began_s)
    return value
