"""Long computations print an estimate of their duration if no terminal shows a progress bar."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from math import pi, sin
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import lasthop as lh
from lasthop.cli import announcing, main
from lasthop.cli.announcing import LONG_S, Announced, Announcer
from lasthop.cli.boundary import INTERRUPTED
from lasthop.cli.progress import batch_bar
from lasthop.cli.quiet import be_quiet
from lasthop.cli.tune import announcing as announcing_tune
from lasthop.errors import TooCostlyError
from lasthop.progress import eta
from lasthop.progress.cost_limits import Deadline, allowing, need
from lasthop.progress.steps import Step, Unwatched, counting, step, watched_by
from lasthop.tuning.search import TuneProgress
from lasthop.tuning.tune import TUNING_FILES

from ..conftest import SMALL

BY_MODEL = {
    "duration": "4 s",
    "warmup": "1 s",
    "cell": {"phy": "802.11b"},
    "tcp": {"window": 2, "delayed_ack": False},
    "station": {"sta": {"count": 3, "download": 1}},
}
"""Scenario for `tune` in which a model ranks the candidate settings."""


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic(self) -> float:
        """Return the time of the clock. [s]"""
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Replace the clock of the duration estimates."""
    made = Clock()
    monkeypatch.setattr(eta, "time", made)
    return made


def test_an_estimate_is_printed_once_and_only_if_much_time_remains(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    pace = Announcer("sweeping")
    clock.now_s += 0.1
    pace.hear(1, 1000)  # too early for an estimate
    clock.now_s += 0.9
    pace.hear(0, 100)  # no progress
    pace.hear(50, 100)  # one second after the first progress
    assert capsys.readouterr().err == ""
    pace = Announcer("sweeping")
    for second in range(1, 5):
        clock.now_s += 1.0
        pace.hear(4 * second, 100)
    assert capsys.readouterr().err == "note: sweeping: about 24 s\n"


def run(clock: Clock, whole_s: float, done_at: Callable[[float], float]) -> None:
    """Simulate the progress of a run of this duration, reported every 50 ms."""
    begun_s, announcer = clock.now_s, Announcer("simulating")
    while clock.now_s < begun_s + whole_s:
        clock.now_s += 0.05
        announcer.hear(done_at(clock.now_s - begun_s), 1.0)


AGAIN = "note: simulating takes longer than estimated: at least "


def test_an_estimate_is_repeated_when_the_remaining_time_doubles(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    # During the first second the progress is ten times faster than later.
    # This happens while TCP windows grow.
    run(clock, 91.0, lambda at_s: min(10.0 * at_s, 9.0 + at_s) / 100.0)
    first, *again = capsys.readouterr().err.splitlines()
    assert first == "note: simulating: about 9.5 s"
    left_s = [float(line.removeprefix(AGAIN).removesuffix(" s")) for line in again]
    assert 2 <= len(left_s) <= 3
    assert left_s == sorted(left_s)
    # The last estimate is printed within 3 s after the start, and reports the remaining time. The
    # sum of this time and 3 s must be at least half of the true duration of 91 s.
    assert 2.0 * (left_s[-1] + 3.0) >= 91.0 >= left_s[-1]


def test_an_estimate_is_repeated_when_the_remaining_time_falls_to_a_quarter(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    # During the first two seconds the progress is fifty times slower than later.
    # This happens in studies, because their scenarios differ.
    run(clock, 102.0, lambda at_s: max(at_s / 50.0, at_s - 1.96) / 100.0)
    first, *again = capsys.readouterr().err.splitlines()
    assert first == "note: simulating: about 83 min"
    assert 1 <= len(again) <= 4
    assert all("takes less than estimated: about" in line for line in again)
    # The next estimate would be printed when the remaining time is a quarter of 3.5 min.
    # The run takes only 1.7 min, and ends before.
    assert again[-1].endswith("about 3.5 min")


def test_with_a_steadily_falling_pace_the_estimate_is_a_minimum(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    run(clock, 40.0, lambda at_s: (at_s / 40.0) ** 0.5)
    first, *_ = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"note: simulating: at least [0-9.]+ s", first)


def test_with_a_jittering_pace_the_estimate_is_printed_once(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    # In every second the speed varies by a fifth around its mean.
    run(clock, 60.0, lambda at_s: (at_s + 0.2 * sin(2.0 * pi * at_s) / (2.0 * pi)) / 60.0)
    [note] = capsys.readouterr().err.splitlines()
    left_s = float(re.sub(r"note: simulating: (about|at least) (.*) s", r"\2", note))
    assert left_s == pytest.approx(59.5, rel=0.2)


def test_unequal_steps_do_not_lengthen_the_estimate(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each tenth of the work reports nine tenths of itself in its first second, as a batch whose
    short cases finish first. The estimates stay within a factor of four of the true time.
    """

    def done_at(at_s: float) -> float:
        tenth, inside_s = divmod(at_s, 20.0)
        return (tenth + 0.9 * min(inside_s, 1.0) + 0.1 * inside_s / 20.0) / 10.0

    run(clock, 200.0, done_at)
    for line in capsys.readouterr().err.splitlines():
        number, unit = line.split()[-2:]
        left_s = float(number) * {"s": 1.0, "min": 60.0}[unit]
        assert left_s < 4.0 * 200.0, line


def test_few_large_steps_are_averaged(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    """A run of 10 steps of 20 s with small steps between: no estimate is far too long."""

    def done_at(at_s: float) -> float:
        steps, inside_s = divmod(at_s, 20.0)
        return (steps + 0.001 * int(inside_s / 7.0)) / 10.0

    run(clock, 200.0, done_at)
    lines = capsys.readouterr().err.splitlines()
    assert not any("longer" in line for line in lines[1:]), lines


def test_a_run_is_refused_or_stopped_because_of_its_pace(clock: Clock) -> None:
    deadline = Deadline("a run", 30.0)
    clock.now_s += 0.4
    deadline.look(0.001, 1.0)  # too early for an estimate
    clock.now_s += 0.6
    slow = r"^a run would take about 8.3 min; expected 30 s"
    with pytest.raises(TooCostlyError, match=slow):
        deadline.look(0.002, 1.0)
    deadline = Deadline("a run", 30.0)
    for _ in range(120):  # The speed implies one second, but the progress stops.
        clock.now_s += 0.5
        deadline.look(0.5, 1.0)
    clock.now_s += 0.5
    with pytest.raises(TooCostlyError, match=r"^a run is not done after 60 s; expected 30 s"):
        deadline.look(0.5, 1.0)
    with pytest.raises(ValueError, match=r"max_time_s = 0\.0 is no number above 0"):
        Deadline("a run", 0.0)


def test_an_estimate_is_printed_once_and_not_with_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    def ask() -> None:
        with watched_by(Announced().watch), allowing():
            for time_s in (0.9 * LONG_S, 20.0, 20.0):  # The first time is too short for a note.
                need("a chain", time_s=time_s)

    ask()
    assert capsys.readouterr().err == "note: a chain: up to 20 s\n"
    be_quiet(True)
    try:
        ask()
    finally:
        be_quiet(False)
    assert capsys.readouterr().err == ""


def test_estimates_of_simulations_follow_the_simulated_time(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with batch_bar("sweeping") as hear:
        assert hear is not None
        clock.now_s += 2.0
        at: Any = {"simulated_s": 10.0, "total_s": 100.0, "draining": False}
        hear(at)
        assert capsys.readouterr().err == "note: sweeping: about 18 s\n"
        at |= {"draining": True, "runs_under_way": 2}
        hear(at)
        hear(at | {"runs_under_way": 1})
    message = "note: finishing 2 running simulations; press Ctrl-C again to end them\n"
    assert capsys.readouterr().err == message


def test_estimates_of_a_step_follow_the_pace_of_its_parts(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with watched_by(Announced().watch):
        for _ in counting("checking points", range(4), 4):
            clock.now_s += 4.0
    assert capsys.readouterr().err == "note: checking points: about 12 s\n"


def test_first_findings_are_printed_if_the_rest_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    has_printed = Event()
    tell = announcing.note
    monkeypatch.setattr(announcing, "note", lambda line: (tell(line), has_printed.set()))
    with watched_by(Announced().watch), step("edges") as edges:
        # The step ends before `SOON_S` is over, so that nothing is printed.
        edges.report_early("half is stable")
    monkeypatch.setattr(announcing, "SOON_S", 0.0)
    with watched_by(Announced().watch), step("edges") as edges:
        edges.report_early("a third is stable")
        assert has_printed.wait(60.0)
    assert capsys.readouterr().err == "note: a third is stable\n"


def test_a_search_announces_a_chain_before_it_is_solved() -> None:
    heard: list[str] = []

    class Recorder(Unwatched):
        def expect(self, what: str, time_s: float) -> None:
            heard.append(what)

    @contextmanager
    def watch(what: str, total: int | None) -> Iterator[Step]:
        yield Recorder()

    def stop(at: TuneProgress) -> bool:
        return at["done"] == 0

    with watched_by(watch), pytest.raises(lh.Stopped):
        lh.tune(BY_MODEL, progress=stop)
    assert [what for what in heard if what.startswith("a chain of 3 stations")]


@pytest.mark.usefixtures("blank")
def test_a_search_interrupted_before_a_confirmation_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def press(at: TuneProgress) -> None:
        if at["stage"] == "screening":
            raise KeyboardInterrupt

    path, out = tmp_path / "small.json", tmp_path / "out"
    path.write_text(json.dumps(BY_MODEL | {"replications": 3}))
    command = ["tune", str(path), "--for", "throughput", "--out", str(out)]
    command += ["--confirm", "2", "--no-txop"]
    assert main(command) == 0
    assert f"\ntuning.json, hostapd.conf, tables and picture: {out}\n" in capsys.readouterr().out
    monkeypatch.setattr("lasthop.cli.tune.stage_bar", lambda: nullcontext(press))
    assert main(command) == INTERRUPTED
    printed = capsys.readouterr()
    assert (
        "keep the present setting: the search ended before a setting was checked\n" in printed.out
    )
    assert f"\ntuning.json and tables: {out}\n" in printed.out
    assert {"tuning.json", "tuning.csv", "tuning.parquet"} == {
        path.name for path in out.iterdir() if path.name in TUNING_FILES
    }


@pytest.mark.parametrize("long_s", [0.0, 3600.0])
def test_a_search_prints_its_estimate_with_its_first_number(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    long_s: float,
) -> None:
    monkeypatch.setattr(announcing, "LONG_S", long_s)
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    assert (
        main(["tune", str(path), "--for", "throughput", "--no-txop", "--no-pifs", "--confirm", "1"])
        == 0
    )
    notes = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note: sea")]
    assert len(notes) == (long_s == 0.0)
    if notes:
        assert notes[0].startswith("note: searching up to ")
        assert "so far " in notes[0]


def test_a_search_names_the_stage_that_exceeds_its_estimate(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    hear = announcing_tune(None)

    def tell(done: int) -> None:
        stage, so_far = "predicting", "4.4 Mb/s"
        hear(
            TuneProgress(
                stage=stage, done=done, candidates=66, so_far=so_far, settings=175, about_s=33.0
            )
        )

    tell(0)
    clock.now_s += 0.6
    tell(1)  # At this speed all 66 settings take 40 s, which needs no correction.
    clock.now_s += 1.4
    tell(1)  # Half of the time since the last setting counts: 1.3 s each are a new estimate.
    assert capsys.readouterr().err.splitlines() == [
        "note: searching up to 175 settings, so far 4.4 Mb/s: about 33 s",
        "note: predicting 66 settings takes longer than estimated: about 84 s",
    ]


def test_a_search_tries_at_most_the_announced_settings() -> None:
    seen: list[TuneProgress] = []
    tuning = lh.tune(SMALL, txop=False, confirm=1, progress=lambda at: seen.append(at))
    estimates = [at["settings"] for at in seen if at["about_s"]]
    assert len(seen) > len(estimates) > 0  # no estimate is made before the first setting
    assert set(estimates) == {estimates[0]}
    assert len(tuning.trials) - 1 <= estimates[0]
