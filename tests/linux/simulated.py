"""Tests in simulated time: a user-mode Linux runs all tests of a file that are marked `simulated`.

    @pytest.mark.simulated
    def test_two_downloads_are_equal(lab: Lab) -> None: ...

Inside, the tests run as root in one process of pytest. The host then reports the results of this
process as results of the tests. Computation takes no simulated time: measurements are the same
in each run, with any load of the host. A test that waits for a time in a loop without sleeping
stops the clock.
"""

import fcntl
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import uml

from lasthop.errors import UserError
from lasthop.uml.boot import State, run
from lasthop.uml.kernel import find_kernel
from skips import refuse_skip

ROOT = Path(__file__).parents[2]
VARIABLE = "LASTHOP_TESTS_INSIDE"
"""Environment variable that is set inside the user-mode Linux."""
REPORTS = "reports"
"""Name of the file in which the tests inside write their reports for the host, one per line."""
PASSED = ("CI", "SEED")
"""Environment variables that are passed to the tests inside."""
QUICK_CPU_S, SLOW_CPU_S = 150.0, 3600.0
"""Limits of the CPU time of a file, without and with tests that are marked `slow`. [s]"""
MEMORY_MB = 1024
COST = "CPU time of a user-mode Linux"
"""Name of the property of a report that contains the CPU time of a test file."""

Reports = dict[str, list[dict[str, Any]]]
"""Reports of the phases of each test, by its identifier."""


class Inside:
    """Plugin of pytest inside the user-mode Linux; it writes each report."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Append a report to the file of reports."""
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        with Path("/exchange", REPORTS).open("a") as file:
            file.write(json.dumps(data) + "\n")


class Outside:
    """Plugin of pytest on the host: it reports the results of tests in simulated time."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        """Run the tests of the item's file if they have not been run, and report the item's
        result.
        """
        if item.get_closest_marker("simulated") is None:
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in reports_of(item):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        # end the fixtures that the next test does not use
        item.session._setupstate.teardown_exact(nextitem)
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the CPU time that the tests of each file used."""
        reports = (report for group in terminalreporter.stats.values() for report in group)
        costs = [pair for report in reports for pair in getattr(report, "user_properties", ())]
        lines = sorted({str(text) for name, text in costs if name == COST})
        if lines:
            terminalreporter.section("in simulated time")
            for line in lines:
                terminalreporter.write_line(line)


def plugin(config: pytest.Config) -> Inside | Outside:
    """Return the plugin: `Inside` in the user-mode Linux, `Outside` on the host."""
    return Inside(config) if VARIABLE in os.environ else Outside()


def reports_of(item: pytest.Item) -> list[pytest.TestReport]:
    """Return the reports of a test."""
    reason = uml.missing()
    if reason is not None:
        place = (str(item.path), 0, f"Skipped: no user-mode Linux here: {reason}")
        return [ended(item, "skipped", place)]
    by_item = reports_of_file(item)
    phases = by_item.get(item.nodeid, [])
    hook = item.config.hook.pytest_report_from_serializable
    reports = [hook(config=item.config, data=data) for data in phases]
    if not any(report.when == "teardown" for report in reports):
        [error] = by_item[""]
        reports.append(ended(item, "failed", str(error["text"])))
    return reports


def ended(item: pytest.Item, outcome: Any, text: Any) -> pytest.TestReport:
    """Return the report of a test that has not run."""
    report = pytest.TestReport(item.nodeid, item.location, {}, outcome, text, "setup")
    refuse_skip(report)
    return report


def reports_of_file(item: pytest.Item) -> Reports:
    """Return the reports of the simulated tests that are selected in the file of `item`.

    The first worker that needs the reports runs the tests; the other workers wait for it.
    """
    starter = os.getppid() if hasattr(item.config, "workerinput") else os.getpid()
    path = stored(starter) / item.nodeid.partition("::")[0].replace("/", "-")
    path.parent.mkdir(exist_ok=True)
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        content = file.read()
        reports: Reports = json.loads(content) if content else run_file(item)
        if not content:
            file.write(json.dumps(reports))
    return reports


def stored(starter: int) -> Path:
    """Return the folder of reports of a session, named after the process that started the
    session.
    """
    return Path(tempfile.gettempdir(), f"lasthop-simulated-{starter}")


def run_file(item: pytest.Item) -> Reports:
    """Run the tests of an item's file in a user-mode Linux."""
    items = [
        other
        for other in item.session.items
        if other.path == item.path and other.get_closest_marker("simulated") is not None
    ]
    is_slow = any(other.get_closest_marker("slow") is not None for other in items)
    lines: list[str] = []

    def read(exchange: Path) -> None:
        if (exchange / REPORTS).exists():
            lines[:] = (exchange / REPORTS).read_text().splitlines(keepends=True)

    def watch(state: State) -> None:
        read(state.exchange)

    try:
        done = run(
            find_kernel(),
            command([other.nodeid for other in items]),
            environment={VARIABLE: "1", "PYTHONHASHSEED": "0"}
            | {name: os.environ[name] for name in PASSED if name in os.environ},
            memory_mb=MEMORY_MB,
            max_processor_s=SLOW_CPU_S if is_slow else QUICK_CPU_S,
            watch=watch,
            collect=read,
        )
        error, cpu_s = f"not run inside\n{done.stdout}\n{done.stderr}", done.processor_s
    except UserError as failure:
        error, cpu_s = str(failure), None
    reports: Reports = {"": [{"text": error}]}
    for line in lines:
        if line.endswith("\n"):
            data = json.loads(line)
            reports.setdefault(data["nodeid"], []).append(data)
    if cpu_s is not None and item.nodeid in reports:
        cost = f"{item.nodeid.partition('::')[0]}: {len(items)} tests, {cpu_s:.1f} s of CPU time"
        reports[item.nodeid][0]["user_properties"].append([COST, cost])
    return reports


def command(tests: Sequence[str]) -> list[str]:
    """Return the command line that runs tests inside the user-mode Linux."""
    options = ["-q", "-W", "error", "-m", "", "--basetemp=/run/pytest", f"--rootdir={ROOT}"]
    plugins = [word for name in ("cacheprovider", "xdist") for word in ("-p", f"no:{name}")]
    pytest_command = [sys.executable, "-m", "pytest", *options, *plugins]
    return ["env", f"--chdir={ROOT}", *pytest_command, *tests]
