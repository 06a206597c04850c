"""Command lines of `lasthop simulate` that are read without typer: values equal those of typer."""

import io
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from lasthop.cli import simulate as module
from lasthop.cli.app import Command
from lasthop.cli.declared import for_typer
from lasthop.cli.fast_arguments import values_of
from lasthop.cli.screen import echo

DIRECT = (
    "a.toml",
    "a.toml --json",
    "--json a.toml --timing --tails --anonymise",
    "a.toml --set x=1 --set 'cell.ap.cwmin = 15' --set y=",
    "a.toml --replications 3 --replications 04 --seed 7 --jobs 2",
    "a.toml --series '0.1 s' --out here --pcapng x.pcapng --report r.html",
    "a.toml --air 1s..2s --max-time 10min --max-memory 8GB --plot x.png",
    "''",
    "--series '' a.toml",
)
"""Command lines that are read without typer."""

OTHERS = (
    "",
    "-",
    "a.toml b.toml",
    "a.toml --seed",
    "a.toml --seed -1",
    "a.toml --seed=1",
    "a.toml --sed 1",
    "a.toml --jobs 0",
    "a.toml --jobs x",
    "a.toml --max-time 0s",
    "a.toml --out ''",
    "a.toml --plot x.doc",
    "a.toml -q",
    "a.toml --quiet",
    "a.toml --help",
    "-- a.toml",
)
"""Command lines that typer must read."""


def by_typer(line: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the values with which typer calls the function of the command."""
    seen: dict[str, Any] = {}
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(cls=Command)(for_typer(module.simulate))
    command = typer.main.get_command(app)
    monkeypatch.setattr(command, "invoke", lambda context: seen.update(context.params))
    command.main(shlex.split(line), prog_name="lasthop", standalone_mode=False)
    return seen


@pytest.mark.parametrize("line", DIRECT)
def test_values_equal_those_of_typer(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = values_of(module.simulate, shlex.split(line))
    assert values is not None
    assert values == by_typer(line, monkeypatch)


@pytest.mark.parametrize("line", OTHERS)
def test_typer_reads_other_command_lines(line: str) -> None:
    assert values_of(module.simulate, shlex.split(line)) is None


@pytest.mark.parametrize("text", ["", "a ± b", "\x1b[31mred\x1b[0m"])
def test_a_line_is_printed_as_by_typer(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    for err in (False, True):
        echo(text, err=err)
        ours = capsys.readouterr()
        typer.echo(text, err=err)
        assert ours == capsys.readouterr()


def test_a_stream_that_is_not_in_utf_8_is_written_by_typer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    for function in (echo, typer.echo):
        path = tmp_path / function.__module__
        with path.open("w", encoding="ascii", errors="replace") as stream:
            monkeypatch.setattr(sys, "stdout", stream)
            function("a ± b")
        written.append(path.read_bytes())
    assert written[0] == written[1]


def test_text_in_memory_is_written_by_typer(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    echo("a ± b")
    assert stream.getvalue() == "a ± b\n"
