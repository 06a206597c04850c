"""What every kind of test may need."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "bench"))

from measure import BenchError
from peers import apt_install

# Before numpy: matrices here are small, and on a busy machine threads would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell starts what it puts in the background deaf to Ctrl-C, which is tested here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of all tests."""
    parser.addoption(
        "--require-kernel",
        action="store_true",
        help="fail where tests/linux would be skipped since the kernel or the rights are missing",
    )


MOST_CPU_S = 2.0
"""Processor time of what is not marked `slow` or `measured`, a test or a fixture, where a million
steps of a loop take `STEPS_S`; a slower or a busier processor has more. [s]"""
STEPS_S = 0.069
SLACK = 1.5
"""What takes so many times the bound is listed: one test's time varies from run to run. [-]"""
MORE_CPU_S = {
    "linux": 8.0,
    "determinism": 20.0,
    "test_shell.py": 5.0,
    "test_docs.py": 60.0,
    "studies": 20.0,
}
"""The same, by folder or file, where each command is a process of its own that loads all anew, or a
page is run as a whole, or a study in quick form. [s]"""


def cpu_s() -> float:
    """Processor time of this process and of its children that have ended. [s]"""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def slowness() -> float:
    """How much slower than `STEPS_S` says this processor is now, at least 1. [-]"""

    def steps_s() -> float:
        began_s = time.process_time()
        total = 0.0
        for step in range(1_000_000):
            total += 0.5 * step
        return time.process_time() - began_s

    return max(1.0, min(steps_s() for _ in range(3)) / STEPS_S)


OVER_BOUND = "over the bound"
"""Under which a test's report says what took long."""


def note_bound(item: pytest.Item, what: str, began_s: float) -> None:
    """Note what takes long without saying so: the tests of every day stay a matter of minutes.

    Nothing fails by it: one test's processor time doubles from run to run on a busy machine.
    """
    spent_s = cpu_s() - began_s
    most_s = MORE_CPU_S.get(item.path.name, MORE_CPU_S.get(item.path.parent.name, MOST_CPU_S))
    if spent_s <= SLACK * most_s or any(map(item.get_closest_marker, ("slow", "measured"))):
        return
    if spent_s > SLACK * most_s * slowness():
        text = f"{item.nodeid}: {what} took {spent_s:.1f} s of processor time, over {most_s:g} s"
        item.user_properties.append((OVER_BOUND, text))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what took long, to be made quicker, or marked slow with a smaller one in its place."""
    reports = (report for some in terminalreporter.stats.values() for report in some)
    properties = (pair for report in reports for pair in getattr(report, "user_properties", ()))
    texts = sorted({str(text) for name, text in properties if name == OVER_BOUND})
    if texts:
        terminalreporter.section("slower than the tests of every day should be")
        for text in texts:
            terminalreporter.write_line(text)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all but the first parameters of a test with `smoke(count)` as slow."""
    seen: Counter[str] = Counter()
    for item in items:
        smoke = item.get_closest_marker("smoke")
        if smoke is None:
            continue
        name = item.nodeid.partition("[")[0]
        if seen[name] >= smoke.args[0]:
            item.add_marker(pytest.mark.slow)
        seen[name] += 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Bound the processor time of each test."""
    began_s = cpu_s()
    yield
    note_bound(item, "the test", began_s)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Iterator[None]:
    """Bound that of each fixture, of whatever scope."""
    began_s = cpu_s()
    answer = yield
    note_bound(request._pyfuncitem, f"the fixture {fixturedef.argname}", began_s)
    return answer


@pytest.fixture(scope="session")
def built_page(request: pytest.FixtureRequest) -> Path:
    """The folder of the workbench's page, built where Node and Rust's target for WebAssembly are.

    Skips with a reason elsewhere, and fails with --require-kernel, as CI has it.
    """
    root = Path(__file__).parents[1]
    (root / "target").mkdir(exist_ok=True)
    with (root / "target/workbench.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = ["make", "--no-print-directory", "workbench"]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        lacks = [line for line in done.stderr.splitlines() if "page is not built" in line]
        assert lacks, done.stdout + done.stderr
        skip_unless_required(request, lacks[0])
    return root / "python/lasthop/workbench/page"


def skip_unless_required(request: pytest.FixtureRequest, reason: str) -> None:
    """Skip with a reason, or fail where all must run."""
    if request.config.getoption("--require-kernel"):
        pytest.fail(f"--require-kernel: {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def debian_program() -> Callable[[str, str], str]:
    """Path of a program, installed from its Debian package where root may; skips without it."""

    def find(program: str, package: str) -> str:
        path = shutil.which(program)
        if path is None and os.geteuid() == 0 and shutil.which("apt-get"):
            with contextlib.suppress(BenchError):
                apt_install(package)
            path = shutil.which(program)
        if path is None:
            pytest.skip(f"needs {program} (Debian package {package})")
        return path

    return find


def pytest_runtest_teardown() -> None:
    """A file put in the place of /dev/null, as root can, would break every program that follows."""
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode), f"{os.devnull} is no device any more"
