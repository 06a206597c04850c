"""Hooks that fail a skipped test with CI=true, unless skips.toml lists it with a reason."""

from __future__ import annotations

import fnmatch
import os
import tomllib
from collections.abc import Generator
from pathlib import Path

import pytest

SKIPS = Path(__file__).with_name("skips.toml")
"""File with the tests that may be skipped with CI=true, each with its reason."""


def allowed_skips() -> dict[str, str]:
    """Return the patterns of tests that may be skipped, each with its reason."""
    skips: dict[str, str] = tomllib.loads(SKIPS.read_text("utf-8"))["skips"]
    return skips


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With CI=true, fail a skipped test that skips.toml does not list."""
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """With CI=true, fail a skipped file that skips.toml does not list."""
    report = yield
    refuse_skip(report)
    return report


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure with CI=true, unless tests/skips.toml allows it."""
    if not report.skipped or hasattr(report, "wasxfail") or os.environ.get("CI") != "true":
        return
    if any(fnmatch.fnmatchcase(report.nodeid, pattern) for pattern in allowed_skips()):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    report.outcome = "failed"
    report.longrepr = f"skipped with CI=true and not listed in tests/{SKIPS.name}: {reason}"
