"""Fixtures and hooks of all tests."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "bench")]

# pytest finds hooks by their names in this file; therefore they are imported here.
from measure import BenchError
from peers import apt_install

from cpu_bounds import (  # noqa: F401
    pytest_fixture_setup,
    pytest_runtest_call,
    pytest_terminal_summary,
)
from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401

# The variable must be set before numpy is imported. The matrices in these tests are small. On a
# busy machine, several threads of OpenBLAS would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell starts background processes with SIGINT ignored. Some tests require that Ctrl-C (SIGINT)
# works.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[object]:
    """Exclude modules and collected tests from garbage collection, because they exist until the end
    of the test session.

    Repeated scans of these hundreds of thousands of objects would cost seconds.
    """
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For each test with the marker `smoke(count)`, mark all parameter sets except the first
    `count` as slow.
    """
    seen: Counter[str] = Counter()
    for item in items:
        smoke = item.get_closest_marker("smoke")
        if smoke is None:
            continue
        name = item.nodeid.partition("[")[0]
        if seen[name] >= smoke.args[0]:
            item.add_marker(pytest.mark.slow)
        seen[name] += 1


@pytest.fixture(scope="session")
def built_page() -> Path:
    """Return the folder of the workbench's page, which is built if Node and Rust's target for
    WebAssembly are present.

    If Node or the target is missing, the test is skipped with a reason.
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
        pytest.skip(lacks[0])
    return root / "python/lasthop/workbench/page"


@pytest.fixture(scope="session")
def debian_program() -> Callable[[str, str], str]:
    """Return a function that returns the path of a program.

    The function installs the program's Debian package if it runs as root. It skips the test if the
    program is missing.
    """

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
    """Check that no test replaced /dev/null by a file, which a test run by root can do. All later
    programs would fail.
    """
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode), f"{os.devnull} is no device any more"
