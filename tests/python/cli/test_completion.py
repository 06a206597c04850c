"""Completion with the Tab key: the proposed words, and the behaviour of real shells."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lasthop.cli.completion.answering import answered, kept_by_bash, words_of

from ..conftest import EXAMPLES, SMALL, Lasthop

WAIT_S = 60.0
"""Longest wait for the output of a shell. [s]"""


def offered(*words: str) -> list[str]:
    return [word for word, _ in answered(words).words]


# -- words that may follow ---------------------------------------------------------------------


def test_commands_and_subcommands_are_offered() -> None:
    assert {"check", "simulate", "import", "completion"} <= set(offered(""))
    assert offered("sim") == ["simulate"]
    assert offered("import", "") == ["pcap", "iw", "hostapd", "openwrt"]
    assert offered("gateway", "st") == ["status"]
    assert offered("frobnicate", "--no-such") == []


def test_options_are_offered_once_unless_they_repeat() -> None:
    assert offered("simulate", "--repl") == ["--replications"]
    assert offered("simulate", "x.toml", "--seed", "3", "--se") == ["--set", "--series"]
    assert "--set" in offered("simulate", "x.toml", "--set", "seed=1", "--")
    assert "--quiet" in offered("check", "--q")
    assert offered("tune", "--no-t") == ["--no-txop"]


def test_a_value_is_neither_an_option_nor_an_argument() -> None:
    assert offered("predict", "--model", "e") == ["edca"]
    assert offered("predict", "--model=e") == ["--model=edca"]
    assert offered("predict", "x.toml", "--model", "edca", "--mo") == []
    assert offered("tune", "x.toml", "--for", "f") == ["fairness"]
    assert offered("simulate", "x.toml", "--seed", "") == []


def test_files_are_left_to_the_shell() -> None:
    assert answered(["simulate", "ex"]).files == "scenarios"
    assert answered(["import", "pcap", ""]).files == "files"
    completion = answered(["simulate", "x.toml", "--out=o"])
    assert (completion.files, completion.before, completion.typed) == ("directories", "--out=", "o")
    assert answered(["simulate", "x.toml", "--seed", "1"]).files == "words"


def test_claims_and_subjects_not_given_yet_are_offered() -> None:
    assert "acsma" in offered("reproduce", "")
    assert "hotspot-5" in offered("reproduce", "acsma", "hotspot-")
    assert "hotspot-5" not in offered("reproduce", "hotspot-5", "hotspot-")


def test_key_paths_are_completed_key_by_key() -> None:
    assert offered("check", "x.toml", "--set", "cell.ap.cwm") == [
        "cell.ap.cwmin=",
        "cell.ap.cwmax=",
    ]
    assert offered("check", "x.toml", "--set", "cell.ap_q") == ["cell.ap_queue=", "cell.ap_queue."]
    assert "cell.ap_queue.codel=" in offered("check", "x.toml", "--set", "cell.ap_queue.")
    assert offered("check", "x.toml", "--set", "no.such.") == []


def test_words_are_offered_as_values() -> None:
    assert offered("check", "x.toml", "--set", "cell.phy=802.11g") == [
        "cell.phy=802.11g",
        "cell.phy=802.11g-long",
    ]
    assert offered("check", "x.toml", "--set", "tcp.sack=") == ["tcp.sack=true", "tcp.sack=false"]
    over = offered("sweep", "x.toml", "--over", "cell.phy=802.11b,")
    phys = ("g", "g-long", "a", "n", "ac", "ax")
    assert over == [f"cell.phy=802.11b,802.11{phy}" for phy in phys]


@pytest.mark.parametrize("broken", [False, True])
def test_names_in_key_paths_are_those_of_the_file(tmp_path: Path, broken: bool) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL + "= half a line" * broken)
    names = [] if broken else ["station.near.", "station.far."]
    assert offered("check", str(path), "--set", "station.") == names
    assert offered("check", str(path), "--set", "station.near.downlo") == [
        "station.near.download=",
        "station.near.download.",
    ]


def test_a_case_has_parameters_and_a_file_has_keys() -> None:
    assert offered("stability", "hopf", "red", "--set", "max_") == ["max_p=", "max_th="]
    assert offered("stability", "hopf", "x.toml", "--set", "dumbbell.fl") == ["dumbbell.flows="]
    assert "red-fig3a" in offered("stability", "roots", "red-")


def test_every_option_of_every_command_is_offered(lasthop: Lasthop) -> None:
    for command in (["sweep"], ["stability", "cycle"], ["relay", "connect"]):
        help_text = lasthop(*command, "--help").stdout
        options = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", help_text, re.M))
        assert len(options) > 5
        assert options <= set(offered(*command, "--"))


def test_words_of_a_line_in_bash_are_split() -> None:
    assert words_of("lasthop check --set 'a b' x\\ y") == (["check", "--set", "a b", "x y"], False)
    assert words_of("lasthop check ") == (["check", ""], False)
    assert words_of("lasthop check --set 'cell.ap") == (["check", "--set", "cell.ap"], True)
    assert words_of('lasthop check "') == (["check", ""], True)
    assert kept_by_bash("--out=a:b", "=:") == "--out=a:"
    assert kept_by_bash("--out=a:b", " ") == ""


def test_an_answer_loads_neither_commands_nor_numbers() -> None:
    code = (
        "import sys, lasthop.cli\n"
        f"lasthop.cli.main(['completion', 'answer', 'zsh', 'check', {str(EXAMPLES)!r},"
        " '--set', 'cell.'])\n"
        "print([m for m in ('typer', 'rich', 'numpy', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "cell.phy=" in done.stdout
    assert done.stdout.endswith("\n[]\n")


def test_an_unsupported_shell_is_refused(lasthop: Lasthop) -> None:
    done = lasthop("completion", "tcsh")
    assert done.returncode == 2
    assert done.stderr.startswith('error: SHELL "tcsh": expected one of bash, zsh, fish')


# -- real shells -------------------------------------------------------------------------------

START = {
    "bash": (
        ["--norc", "--noprofile", "-i"],
        "source {script}; bind 'set bell-style none';"
        """ bind -x '"\\C-t": printf "<<%s>>\\n" "$READLINE_LINE"'""",
    ),
    "zsh": (
        ["-f", "-i"],
        "autoload -U compinit; compinit -D; source {script}; unsetopt beep;"
        """ show() {{ print -r -- "<<$BUFFER>>" }}; zle -N show; bindkey '^T' show""",
    ),
    "fish": (
        ["--no-config", "-i"],
        """source {script}; bind \\ct 'printf "<<%s>>\\n" (commandline)'""",
    ),
}
"""Commands that start a shell without settings of the user. At Ctrl-T the shell prints its command
line.
"""


class Shell:
    """An interactive shell on a terminal."""

    def __init__(self, name: str, folder: Path) -> None:
        program = folder / "bin" / "lasthop"
        program.parent.mkdir()
        program.write_text(
            f"#!/bin/sh\nexec {sys.executable} -c"
            " 'import sys, lasthop.cli; sys.exit(lasthop.cli.main())' \"$@\"\n"
        )
        program.chmod(0o755)
        arguments, start = START[name]
        script = folder / f"lasthop.{name}"
        with script.open("wb") as file:
            subprocess.run([program, "completion", name], stdout=file, check=True)
        self.home = folder / "home"
        self.home.mkdir()
        environment = os.environ | {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home),
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "PS1": "> ",
            "TERM": "dumb",
        }
        self.screen, theirs = pty.openpty()
        self.process = subprocess.Popen(
            ["setsid", "--ctty", name, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=self.home,
            env=environment,
        )
        os.close(theirs)
        self.type(start.format(script=script) + "\n")
        self.type("printf 'rea%s\\n' dy\n")

    def type(self, text: str) -> None:
        """Type these keys."""
        os.write(self.screen, text.encode())

    def until(self, pattern: bytes) -> re.Match[bytes]:
        """Read the terminal until its output contains the pattern."""
        seen, end = b"", time.monotonic() + WAIT_S
        while not (match := re.search(pattern, seen, re.S)):
            ready, _, _ = select.select([self.screen], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"the shell says nothing more after {seen!r}"
            seen += os.read(self.screen, 4096)
        return match

    def completed(self, line: str) -> str:
        """Return the command line after a press of Tab at its end."""
        self.type(f"{line}\t")
        self.type("\x14")
        shown = self.until(rb"<<(.*?)>>")[1].decode()
        self.type("\x15")
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n", "", shown)

    def close(self) -> None:
        """End the shell."""
        os.close(self.screen)
        self.process.kill()
        self.process.wait()


@pytest.fixture(params=START)
def shell(
    request: pytest.FixtureRequest, tmp_path: Path, debian_program: Callable[[str, str], str]
) -> Iterator[Shell]:
    debian_program(request.param, request.param)
    debian_program("setsid", "util-linux")
    started = Shell(request.param, tmp_path)
    try:
        started.until(rb"ready\r?\n")
        yield started
    finally:
        started.close()


DIFFERENT = {
    "lasthop sim": "ulate ",
    "lasthop check hot": "spot.toml ",
    "lasthop check old": "\\ runs/",
    "lasthop predict hotspot.toml --model=ac": "sma ",
    "lasthop check hotspot.toml --set station.f": "ar.",
}
"""Typed command lines and the text that each shell adds, for lines where shells differ."""
ALL_KINDS = DIFFERENT | {
    "lasthop import host": "apd ",
    "lasthop predict hotspot.toml --mod": "el ",
    "lasthop check hotspot.toml --set cell.ap.cwmi": "n=",
    "lasthop check hotspot.toml --set tcp.congestion=tah": "oe ",
    "lasthop simulate hotspot.toml --out=old": "\\ runs/",
}


def test_real_shells_complete(shell: Shell) -> None:
    check_completions(shell, DIFFERENT)


@pytest.mark.slow
def test_real_shells_complete_all_kinds_of_words(shell: Shell) -> None:
    check_completions(shell, ALL_KINDS)


def check_completions(shell: Shell, lines: dict[str, str]) -> None:
    (shell.home / "hotspot.toml").write_text(SMALL)
    (shell.home / "hotspot.txt").write_text("no scenario")
    (shell.home / "old runs").mkdir()
    (shell.home / "old runs" / "first.json").write_text("{}")
    for typed, added in lines.items():
        assert shell.completed(typed) == typed + added
