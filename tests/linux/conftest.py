"""Tests that need the kernel: network namespaces and root in them."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

sys.path.insert(0, str(Path(__file__).parent))

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


def pytest_runtest_protocol(item: pytest.Function, nextitem: pytest.Item | None) -> bool | None:
    """Give a test that fails one more chance, and say so: even what measures nothing waits for the
    kernel, beside whatever else the machine has to do. What fails twice fails. Tests of other
    folders have one chance.
    """
    if Path(__file__).parent not in item.path.parents:
        return None
    place = {"nodeid": item.nodeid, "location": item.location}
    item.ihook.pytest_runtest_logstart(**place)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if any(report.failed for report in reports):
        print(f"\n{item.nodeid} failed; once more", file=sys.__stderr__, flush=True)
        item._initrequest()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(**place)
    return True


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


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """A hot-spot of five stations behind 6 Mbit/s."""
    with Lab() as lab:
        yield lab
