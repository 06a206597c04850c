"""With --quiet only the result and errors are printed."""

from pathlib import Path

import pytest

from ..conftest import Lasthop
from .test_shell import LASTHOP, Watched

WARNS = ["--set", "warmup=1 ms"]
"""Settings with which `small` causes a warning."""

NOTES: dict[str, tuple[list[str], str]] = {
    "sweep": (["--over", "cell.ap_queue=5,9"], "tables: "),
    "compare": ([], "picture: "),
}


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize("command", NOTES)
def test_notes_and_warnings_are_left_out(lasthop: Lasthop, small: Path, command: str) -> None:
    more, line = NOTES[command]
    loud = lasthop(command, small, *more, *WARNS)
    assert line in loud.stdout
    assert ("warning: " in loud.stderr) == (command == "compare")
    quiet = lasthop(command, small, *more, *WARNS, "--quiet")
    expected = [each for each in loud.stdout.splitlines() if not each.startswith(line)]
    assert quiet.stdout.splitlines() == expected
    assert quiet.stderr == ""


@pytest.mark.parametrize("args", [["-q", "check", "FILE"], ["check", "FILE", "--quiet"]])
def test_quiet_is_accepted_before_or_after_the_command(
    lasthop: Lasthop, small: Path, args: list[str]
) -> None:
    known = [str(small) if each == "FILE" else each for each in args]
    done = lasthop(*known, "--set", "cell.ap_queue=1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{small}: ok")


def test_a_quiet_command_does_not_silence_the_next_command(lasthop: Lasthop, small: Path) -> None:
    lasthop("simulate", small, *WARNS, "-q")
    assert "warning: " in lasthop("simulate", small, *WARNS).stderr


def test_errors_remain(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("-q", "check", small, "--set", "cell.ap.cwmim=1")
    assert done.returncode == 2
    assert done.stderr.startswith("error: --set cell.ap.cwmim=1: ")
    assert lasthop("simulate", small, "--quite").returncode == 2


def test_quiet_draws_no_bar_on_a_terminal(small: Path) -> None:
    watched = Watched("simulate", str(small), "--json", program=LASTHOP)
    assert watched.rest().startswith("{")
    assert b"simulating" in watched.drawn
    quiet = Watched("simulate", str(small), "--json", "-q", program=LASTHOP)
    assert quiet.rest().startswith("{")
    assert quiet.drawn == b""


def test_options_of_a_program_are_its_own(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("emulate", small, "--at", "nowhere", "--", "true", "-q")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
