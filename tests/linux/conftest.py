"""Tests that need the kernel: network namespaces, with root rights in them.

The results of most tests do not depend on time, so that these tests also pass on a slow machine.
Most measurements are in simulated time (`simulated.py`). A few measurements run in real time.
One of these measurements is in `make test`, in `test_sharing.py`. Measurements that are marked
`measured` are in `make test-long PART=kernel`.
"""

import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import uml
from measure import BenchError
from peers import apt_install

import simulated
from lab import Lab, clean_up
from lasthop.linux import rights
from router import why_not as why_no_router

REASON: dict[str, str | None] = {}


def why_not() -> str | None:
    """Return the reason why kernel tests cannot run here, or None. The permissions are tested only
    once.
    """
    if "why" not in REASON:
        programs = [name for name in ("ip", "tc", "sysctl") if shutil.which(name) is None]
        if programs:
            REASON["why"] = f"needs {', '.join(programs)}"
        elif not os.access("/run", os.W_OK):
            REASON["why"] = "needs root: /run is not writable"
        else:
            REASON["why"] = rights.missing()
    return REASON["why"]


@pytest.fixture(autouse=True, scope="session")
def kernel() -> Iterator[None]:
    """Skip with a reason if kernel tests cannot run here; clean up at the end."""
    reason = why_not()
    if reason is not None:
        pytest.skip(f"no kernel tests here: {reason}")
    yield
    clean_up()


@pytest.fixture(scope="session")
def user_mode() -> None:
    """Skip with a reason if user-mode Linux is missing and cannot be installed."""
    reason = uml.missing()
    if reason is not None:
        pytest.skip(f"no user-mode Linux here: {reason}")


@pytest.fixture(scope="session")
def router_programs() -> None:
    """Skip with a reason if busybox is missing and cannot be installed."""
    if why_no_router() is not None:
        try:
            apt_install("busybox-static")
        except BenchError as error:
            pytest.skip(f"no router here: {error}")
    assert (reason := why_no_router()) is None, reason


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin that runs tests marked `simulated` in a user-mode Linux."""
    config.pluginmanager.register(simulated.plugin(config))


PAIRED = {"test_emulator.py", "test_events.py", "test_relay_programs.py", "test_shared_queue.py"}
"""Files whose measured tests need less than one processor each; two of them run simultaneously with
`-n 2`.
"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    """Run at most one measured test at a time, or two if both are in files of `PAIRED`."""
    if not hasattr(item.config, "workerinput") or item.get_closest_marker("measured") is None:
        return (yield)
    with turn(item.path.name in PAIRED):
        return (yield)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove the lock files, whose names contain the process ID of the pytest that started the
    workers.
    """
    if not hasattr(session.config, "workerinput"):
        for path in lock_files(os.getpid()):
            path.unlink(missing_ok=True)
        shutil.rmtree(simulated.stored(os.getpid()), ignore_errors=True)


def lock_files(starter: int) -> tuple[Path, Path]:
    """Return two lock files: the first is locked by the test that is next in the queue, the second
    by tests that run.
    """
    queue, turns = (
        Path(tempfile.gettempdir(), f"lasthop-measured-{starter}.{name}")
        for name in ("queue", "turns")
    )
    return queue, turns


@contextmanager
def turn(is_paired: bool) -> Iterator[None]:
    """Wait until this test may run. Workers run their tests in the order in which they began to
    wait.
    """
    waiting, running = lock_files(os.getppid())
    with waiting.open("w") as queue, running.open("w") as turns:
        fcntl.flock(queue, fcntl.LOCK_EX)
        fcntl.flock(turns, fcntl.LOCK_SH if is_paired else fcntl.LOCK_EX)
        fcntl.flock(queue, fcntl.LOCK_UN)
        yield


IN_SIMULATED_TIME = pytest.param(True, marks=[pytest.mark.simulated, pytest.mark.slow])


@pytest.fixture(params=[False, IN_SIMULATED_TIME], ids=["", "timed"])
def timed(request: pytest.FixtureRequest) -> bool:
    """Return whether a test runs in simulated time, and therefore checks times. In real time, the
    test checks only results that do not depend on time.
    """
    return bool(request.param)


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Yield a hot-spot with five stations after a hop of 6 Mbit/s."""
    with Lab() as lab:
        yield lab
