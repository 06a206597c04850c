"""On a terminal, long steps show their name, progress and estimated duration."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.progress.cost_limits import allowing, need
from lasthop.progress.steps import counting, step, watched_by

from ..conftest import SMALL
from .test_shell import Watched

SOON = """
import sys, time
from lasthop.cli import main, progress, watching
watching.SOON_S = 0.0
"""
"""Start of a program in which the progress bar shows even the shortest step."""

SHOW = """
from lasthop.progress.cost_limits import allowing, need
from lasthop.progress.steps import counting, step, watched_by
def draw():  # what a bar shows now, whatever the thread that redraws it does
    [each.refresh() for each in progress.DRAWN]
"""


def shown(code: str, *arguments: str) -> str:
    """Return the output of a program on a terminal without colours, with one state of the bar per
    line.
    """
    watched = Watched("-c", SOON + SHOW + code, *arguments, program=[sys.executable])
    watched.rest()
    assert watched.process.returncode == 0, watched.drawn
    text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", watched.drawn)
    return text.replace(b"\r", b"\n").decode()


@pytest.mark.slow
def test_points_of_a_sweep_are_counted_while_they_are_checked(small: Path) -> None:
    over = ["--over", "seed=1..400:1", "--set", "duration=2 ms", "--set", "warmup=1 ms"]
    arguments = ["sweep", str(small), *over, "--replications", "1", "--out", str(small.parent)]
    # The program redraws the bar at each count, without a thread for which a test has to wait.
    code = """
update = watching.Shown._update
watching.Shown._update = lambda self: (update(self), draw())
main(sys.argv[1:])
"""
    text = shown(code, *arguments)
    assert re.search(r"checking points .* 399/400", text)
    assert re.search(r"saving tables .* 399/400", text)


def test_a_long_answer_announces_its_work_and_its_time() -> None:
    code = """
with watched_by(watching.watch), allowing():
    need("a chain of 9 states,", time_s=20.0)
    draw()
"""
    assert "a chain of 9 states: up to 20 s" in shown(code)
    assert "chain" not in shown(code.replace("20.0", "1.9"))


def test_a_step_within_a_bar_replaces_it_until_it_ends() -> None:
    code = """
with watched_by(watching.watch), progress.count_bar("simulating") as show:
    show(3, 7); draw()
    with step("checking", 5) as current:
        current.done(4); time.sleep(0.2); draw()
    draw()
"""
    words = re.findall(r"(simulating|checking) .*?(\d/\d)", shown(code))
    states = [state for state, _ in groupby(words)]
    assert states[0] == states[-1] == ("simulating", "3/7")
    assert [state for state in states[1:-1] if state != ("checking", "0/5")] == [
        ("checking", "4/5")
    ]


@pytest.mark.parametrize("before", ["", "-q"])
def test_nothing_is_shown_in_a_file_or_with_quiet(before: str, small: Path) -> None:
    over = ["--over", "seed=1,2", "--out", str(small.parent)]
    arguments = [*([before] if before else []), "sweep", str(small), *over]
    if before:
        assert shown("main(sys.argv[1:])", *arguments) == ""
        return
    done = subprocess.run(
        [sys.executable, "-c", SOON + "main(sys.argv[1:])", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""


def test_a_short_step_is_not_shown() -> None:
    text = shown("""
watching.SOON_S = 3600.0
with watched_by(watching.watch), step("checking", 5) as current:
    current.done(4); draw()
""")
    assert text == ""


class Recorder:
    """List of the names of the steps that were watched, and of their reports."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    @contextmanager
    def watch(self, what: str, total: int | None) -> Iterator["Recorder"]:
        self.lines.append(f"{what}: {total}")
        yield self

    def done(self, count: int) -> None:
        self.lines.append(str(count))

    def expect(self, what: str, time_s: float) -> None:
        self.lines.append(f"{what} for {time_s:g} s")


def test_steps_of_the_library_are_reported_to_the_watcher(tmp_path: Path) -> None:
    watcher = Recorder()
    with watched_by(watcher.watch):
        assert list(counting("reading", "ab", 2)) == ["a", "b"]
        with allowing():
            need("it", time_s=3.0)
        lh.simulate(SMALL).save(tmp_path)
    assert watcher.lines == ["reading: 2", "0", "1", ": None", "it for 3 s", "saving tables: None"]


def test_studies_are_counted(tmp_path: Path) -> None:
    watcher = Recorder()
    with watched_by(watcher.watch):
        lh.reproduce(["acsma-16"], directory=tmp_path).save(tmp_path)
    steps = [line.partition(":")[0] for line in watcher.lines if ":" in line]
    assert {"planning studies", "looking for runs", "predicting", "drawing"} <= set(steps)


def test_steps_need_no_watcher() -> None:
    with step("alone", 3) as current:
        current.done(1)
        current.expect("it", 5.0)
    assert list(counting("alone", range(2), 2)) == [0, 1]
