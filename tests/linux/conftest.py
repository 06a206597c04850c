"""Tests that need the kernel: network namespaces and root in them.

What is wired to what is tested without a clock, however slow the machine is. What is measured
against the wall clock is marked `measured` and runs in `make test-long PART=kernel`, but for one
measurement, in `test_sharing.py`.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import uml

from lab import Lab, clean_up
from lasthop.linux import rights

REASON: dict[str, str | None] = {}


def why_not() -> str | None:
    """Why these tests cannot run here; None if they can. Found out by trying, once."""
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
def kernel(request: pytest.FixtureRequest) -> Iterator[None]:
    """Skip with one reason, or fail with --require-kernel."""
    reason = why_not()
    if reason is not None:
        if request.config.getoption("--require-kernel"):
            pytest.fail(f"--require-kernel: {reason}", pytrace=False)
        pytest.skip(f"no kernel tests here: {reason}")
    yield
    clean_up()


@pytest.fixture(scope="session")
def user_mode() -> None:
    """Skip with a reason where user-mode Linux is not there and cannot be installed."""
    reason = uml.missing()
    if reason is not None:
        pytest.skip(f"no user-mode Linux here: {reason}")


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.measured)], ids=["", "timed"])
def timed(request: pytest.FixtureRequest) -> bool:
    """Whether what a test sees is also measured; otherwise only what does not depend on time."""
    return bool(request.param)


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """A hot-spot of five stations behind 6 Mbit/s."""
    with Lab() as lab:
        yield lab
