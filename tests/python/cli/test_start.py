"""Modules that short commands import, and `lasthop --version`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer

from lasthop import _core
from lasthop.cli.app import Command
from lasthop.cli.listing import COMMANDS, GROUPS

from ..conftest import EXAMPLES, Lasthop

PROGRAM = """
import sys
from lasthop.cli import main
main(sys.argv[1:])
print(*sys.modules)
"""

FORBIDDEN = (
    "rich",
    "numpy",
    "pandas",
    "scipy",
    "matplotlib",
    "click",
    "pydantic",
    "lasthop.simulation.simulate",
)
"""Modules that no short command may import."""

SHORT = {
    "--version": ("typer", "json", "dataclasses", "lasthop.scenario.scenario"),
    "completion answer zsh sim": ("typer", "lasthop._core", "lasthop.scenario.scenario"),
    "--help": ("lasthop.scenario.scenario", *(f"lasthop.cli.{name}" for name in COMMANDS)),
    f"check {EXAMPLES}/hotspot.toml": (
        "lasthop.simulation.result",
        "lasthop.cli.simulate",
        "hashlib",
    ),
}
"""Short commands, and the additional modules that each command must not import."""


@pytest.mark.parametrize("line", SHORT, ids=lambda line: line.split("/")[0].strip())
def test_a_short_command_does_not_import_modules_of_others(line: str) -> None:
    argv = [sys.executable, "-c", PROGRAM, *line.split()]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    imported = set(done.stdout.splitlines()[-1].split())
    assert imported & {*FORBIDDEN, *SHORT[line]} == set()


def test_help_lists_every_command_with_its_line(lasthop: Lasthop) -> None:
    shown = lasthop("--help").stdout
    assert all(name in shown and line in shown for name, line in COMMANDS.items())
    assert all(name in shown and group.line in shown for name, group in GROUPS.items())


# -- --version ---------------------------------------------------------------------------------


def test_the_version_is_one_line(lasthop: Lasthop) -> None:
    assert lasthop("--version") == (0, f"lasthop {_core.VERSION}\n", "")
    assert lasthop("-q", "--version") == (0, f"lasthop {_core.VERSION}\n", "")


@pytest.mark.parametrize("args", [["--version", "--verbose"], ["--verbose", "-q", "--version"]])
@pytest.mark.parametrize(
    ("profile", "line"),
    [("release", "release"), ("debug", "debug: slower than release, for tests only")],
)
def test_verbose_adds_a_fact_per_line(
    lasthop: Lasthop,
    monkeypatch: pytest.MonkeyPatch,
    args: list[str],
    profile: str,
    line: str,
) -> None:
    monkeypatch.setattr(_core, "PROFILE", profile)
    version = ".".join(map(str, sys.version_info[:3]))
    assert lasthop(*args).stdout.splitlines() == [
        f"lasthop {_core.VERSION}",
        f"build profile       {line}",
        f"engine fingerprint  {_core.ENGINE}",
        f"Python              {version}, {sys.executable}",
    ]


@pytest.mark.parametrize("args", [["--verbose"], ["--verbose", "schema"]])
def test_verbose_without_version_is_refused(lasthop: Lasthop, args: list[str]) -> None:
    done = lasthop(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: --verbose: must be given with --version\nhint: run `lasthop --version --verbose`\n"
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_reported_by_version_too(unbuffered: str) -> None:
    program = "import sys, lasthop.cli; sys.exit(lasthop.cli.main())"
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", program, "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 2
    assert done.stderr == b"error: standard output: No space left on device\n"


# -- values without adapters -------------------------------------------------------------------


def port(text: str) -> int:
    """Return a number. For the text 0, the function raises an error of typer. For a text without a
    number, `int` raises an error.
    """
    if text == "0":
        raise typer.BadParameter("0 is no port")
    return int(text)


def options(
    name: str,
    more: Annotated[list[str] | None, typer.Argument()] = None,
    at: Annotated[int | None, typer.Option(parser=port)] = None,
    also: Annotated[list[int] | None, typer.Option(parser=port)] = None,
    pair: Annotated[tuple[str, str] | None, typer.Option()] = None,
    count: int = 1,
    place: Path = Path("here"),
    loud: Annotated[bool, typer.Option("--loud", envvar="LOUD_OF_TEST")] = False,
) -> None:
    """Print the values of the command line's options."""
    print(name, more, at, also, pair, count, repr(place), loud)


LINES = (
    "a",
    "a b c --at 3 --also 1 --also 2 --pair x y --count 4 --place there --loud",
    "a --at 0",
    "a --at x",
    "a --also 1 --also x",
    "a --pair x",
    "a --count x",
    "",
)


@pytest.mark.parametrize("loud", ["", "yes", "perhaps"])
def test_values_equal_those_of_typers_adapters(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, loud: str
) -> None:
    monkeypatch.setitem(os.environ, "LOUD_OF_TEST", loud)
    printed = []
    for kind in (typer.core.TyperCommand, Command):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(cls=kind)(options)
        command = typer.main.get_command(app)
        for line in LINES:
            try:
                command.main(line.split(), prog_name="test", standalone_mode=False)
            except typer.TyperException as error:
                print(error.format_message())
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "0 is no port" in printed[0]
