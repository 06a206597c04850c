"""What takes long says so beforehand, though no terminal shows a bar."""

from pathlib import Path

import pytest

import lasthop as lh
from lasthop.allowance import allowing, need
from lasthop.cli import announcing, main
from lasthop.cli.announcing import LONG_S, Announced, Pace
from lasthop.cli.progress import batch_bar
from lasthop.cli.quiet import be_quiet
from lasthop.tuning.search import TuneProgress
from lasthop.underway import watched_by

from ..conftest import SMALL


class Clock:
    """A clock that is put forward by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic(self) -> float:
        """What it shows. [s]"""
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which paces are judged."""
    made = Clock()
    monkeypatch.setattr(announcing, "time", made)
    return made


def test_a_pace_is_told_once_and_only_where_the_rest_takes_long(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    pace = Pace("sweeping")
    clock.now_s += 0.1
    pace.hear(1, 1000)  # too early to judge
    clock.now_s += 0.9
    pace.hear(0, 100)  # nothing is done
    pace.hear(50, 100)  # a second more
    assert capsys.readouterr().err == ""
    pace.hear(4, 100)
    clock.now_s += 1.0
    pace.hear(5, 100)
    assert capsys.readouterr().err == "note: sweeping: about 24 s\n"


def test_an_answer_is_told_once_and_not_with_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    def ask() -> None:
        with watched_by(Announced().watch), allowing():
            for time_s in (0.9 * LONG_S, 20.0, 20.0):  # its tables first, then all of it
                need("a chain", time_s=time_s)

    ask()
    assert capsys.readouterr().err == "note: a chain: up to 20 s\n"
    be_quiet(True)
    try:
        ask()
    finally:
        be_quiet(False)
    assert capsys.readouterr().err == ""


def test_simulations_are_told_by_what_they_have_simulated(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with batch_bar("sweeping") as hear:
        assert hear is not None
        clock.now_s += 2.0
        hear({"simulated_s": 10.0, "total_s": 100.0, "draining": False})  # type: ignore[typeddict-item]
    assert capsys.readouterr().err == "note: sweeping: about 18 s\n"


@pytest.mark.parametrize("long_s", [0.0, 3600.0])
def test_a_search_says_with_its_first_number_how_long_it_takes(
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
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note: sea")]
    assert len(said) == (long_s == 0.0)
    if said:
        assert said[0].startswith("note: searching up to ")
        assert "so far " in said[0]


def test_a_search_tries_no_more_than_it_says() -> None:
    seen: list[TuneProgress] = []
    found = lh.tune(SMALL, txop=False, confirm=1, progress=lambda at: seen.append(at))
    told = [at["settings"] for at in seen if at["at_most_s"]]
    assert len(seen) > len(told) > 0  # nothing is known before the first setting
    assert set(told) == {told[0]}
    assert len(found.trials) - 1 <= told[0]
