"""What every kind of test may need."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable

import pytest

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


@pytest.fixture(scope="session")
def debian_program() -> Callable[[str, str], str]:
    """Path of a program, installed from its Debian package where root may; skips without it."""

    def find(program: str, package: str) -> str:
        path = shutil.which(program)
        if path is None and os.geteuid() == 0 and shutil.which("apt-get"):
            install = f"apt-get update -qq && apt-get install -qq --yes {package}"
            quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
            subprocess.run(["sh", "-c", install], check=False, capture_output=True, env=quiet)
            path = shutil.which(program)
        if path is None:
            pytest.skip(f"needs {program} (Debian package {package})")
        return path

    return find


def pytest_runtest_teardown() -> None:
    """A file put in the place of /dev/null, as root can, would break every program that follows."""
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode), f"{os.devnull} is no device any more"
