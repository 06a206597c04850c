"""The command line with pipes, full disks, Ctrl-C and terminals."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import lasthop as lh

from ..conftest import SMALL

LASTHOP = [sys.executable, "-c", "import sys, lasthop.cli; sys.exit(lasthop.cli.main())"]


def test_a_closed_pipe_ends_the_command_quietly(small: Path) -> None:
    process = subprocess.Popen([*LASTHOP, "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 141
    assert stderr == b""


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_one_line(small: Path, unbuffered: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*LASTHOP, "simulate", str(small), "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 2
    *warnings, error = done.stderr.splitlines()
    assert error == b"error: standard output: No space left on device"
    assert all(line.startswith(b"warning: ") for line in warnings)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("errors", ["full disk", "closed pipe"])
def test_the_exit_code_does_not_depend_on_messages(
    small: Path, errors: str, unbuffered: str
) -> None:
    if errors == "full disk":
        stderr = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, stderr = os.pipe()
        os.close(reading)
    small.write_text(SMALL.replace('warmup = "1 s"', 'warmup = "0.1 ms"'))  # causes a warning
    try:
        refused, warned = (
            subprocess.run(
                [*LASTHOP, "simulate", str(file), "--json"],
                stdout=subprocess.PIPE,
                stderr=stderr,
                check=False,
                env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            )
            for file in (small.with_name("absent.toml"), small)
        )
    finally:
        os.close(stderr)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert warned.returncode == 0
    assert json.loads(warned.stdout) == json.loads(result_of(small))


def result_of(file: Path) -> str:
    """Return the result of a file that causes a warning."""
    result = lh.simulate(file)
    assert result.warnings
    return result.to_json()


def in_shell(small: Path, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'"$@" {command}', "sh", *LASTHOP],
        cwd=small.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def test_closed_output_is_refused_before_anything_runs(small: Path) -> None:
    done = in_shell(small, f"simulate {small} --out out >&-")
    assert (done.returncode, done.stderr) == (2, "error: standard output is closed\n")
    assert not (small.parent / "out").exists()


def test_closed_errors_do_not_reach_the_output(small: Path) -> None:
    done = in_shell(small, "check nofile 2>&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert in_shell(small, f"simulate {small} --json 2>&-").returncode == 0


def test_closed_input_is_an_empty_scenario(small: Path) -> None:
    done = in_shell(small, "check - <&-")
    assert done.returncode == 2
    assert done.stderr.startswith("error: <stdin>: the file is empty")


def test_the_result_is_printed_if_a_file_cannot_be_written(small: Path) -> None:
    done = subprocess.run(
        [*LASTHOP, "simulate", str(small), "--json", "--pcapng", "/dev/full"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert json.loads(done.stdout)["kind"] == "simulation"
    assert done.stderr == "error: /dev/full: No space left on device\n"


class Watched:
    """A command whose error stream and progress bar are on a terminal."""

    def __init__(self, *arguments: str, program: Sequence[str] = LASTHOP) -> None:
        self.screen, theirs = pty.openpty()
        self.drawn = b""
        self.process = subprocess.Popen(
            [*program, *arguments], stdout=subprocess.PIPE, stderr=theirs
        )
        os.close(theirs)

    def until(self, pattern: bytes) -> None:
        """Read the terminal until its output contains the pattern, or ends."""
        while not re.search(pattern, self.drawn):
            try:
                piece = os.read(self.screen, 4096)
            except OSError:  # Linux reports the end of a terminal as an error.
                piece = b""
            if not piece:
                return
            self.drawn += piece

    def interrupt(self) -> None:
        """Send Ctrl-C to the command."""
        self.process.send_signal(signal.SIGINT)

    def rest(self) -> str:
        """Read both streams to their end, and return standard output."""
        self.until(b"(?!)")
        os.close(self.screen)
        stdout, _ = self.process.communicate(timeout=120)
        return stdout.decode()

    def last_line(self) -> str:
        """Return the last line of the terminal without its colours."""
        text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", self.drawn)
        return text.replace(b"\r", b"\n").decode().strip().rpartition("\n")[2].strip()


def test_an_error_is_printed_below_a_bar_left_by_ctrl_c() -> None:
    left = (
        "from lasthop.cli.boundary import print_error\n"
        "from lasthop.cli.progress import progress_bar\n"
        "bar = progress_bar('simulating')\n"
        "bar.__enter__()\n"
        "print_error('interrupted')\n"
    )
    command = Watched("-c", left, program=[sys.executable])
    assert command.rest() == ""
    assert b"simulating" in command.drawn
    assert command.last_line() == "error: interrupted"


def test_ctrl_c_before_the_first_result_saves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(SMALL.replace('"4 s"', '"1000000 s"'))
    command = Watched("simulate", str(path), "--replications", "1")
    command.until(b"simulating")
    command.interrupt()
    assert command.rest() == ""
    assert command.process.returncode == 130
    assert command.last_line() == "error: interrupted: no result is saved"


def test_ctrl_c_prints_the_finished_results(tmp_path: Path) -> None:
    path, out = tmp_path / "long.toml", tmp_path / "out"
    path.write_text(SMALL.replace('"4 s"', '"500 s"').replace("= 3", "= 10000"))
    command = Watched("simulate", str(path), "--jobs", "1", "--json", "--out", str(out))
    command.until(rb"[1-9]\d*/10000 runs")
    command.interrupt()
    result = json.loads(command.rest())
    assert command.process.returncode == 130
    count = result["replications"]
    assert 1 <= count < 10000
    assert (
        command.last_line() == f"error: interrupted: the result has {count} of 10000 replications"
    )
    assert json.loads((out / "result.json").read_text()) == result


def test_progress_is_drawn_only_on_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(SMALL.replace('"4 s"', '"700 s"').replace('"1 s"', '"20 s"'))
    arguments = ["simulate", str(path), "--replications", "20", "--jobs", "1", "--json"]
    unwatched = subprocess.run([*LASTHOP, *arguments], capture_output=True, check=True)
    # A note announces a long run. On a busy machine another note corrects the estimate.
    assert all(line.startswith(b"note: simulating") for line in unwatched.stderr.splitlines())
    assert b"runs" not in unwatched.stderr
    assert b"\r" not in unwatched.stderr
    watched = Watched(*arguments)
    assert watched.rest() == unwatched.stdout.decode()
    assert b"simulating" in watched.drawn
    assert b"/20 runs" in watched.drawn


def test_a_terminal_without_unicode_gets_ascii(small: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*LASTHOP, "simulate", str(small), "--set", "duration=40 s", "--set", "warmup=10 s"],
        capture_output=True,
        env=environment,
        check=True,
    )
    assert b"goodput" in done.stdout
    assert done.stderr == b""
