"""The bench of short commands, tested without running a command."""

import tomllib

import instructions
import pytest
import start_up
from measure import BenchError

AIMS = {"a": 4.0, "b": 12.0}


def test_every_command_has_an_aim() -> None:
    aims = tomllib.loads(instructions.COUNTS_FILE.read_text())["start"]
    assert aims.keys() == start_up.COMMANDS.keys()


def test_a_command_above_its_aim_is_named_with_both_values() -> None:
    assert start_up.missed({"a": 4.0, "b": 2.5}, AIMS) == []
    assert start_up.missed({"a": 4.04, "b": 12.6}, AIMS) == [
        "a: 4.0 times the instructions of `python -c pass`, aim 4",
        "b: 12.6 times the instructions of `python -c pass`, aim 12",
    ]


def test_the_table_has_a_row_per_command() -> None:
    head, *rows = start_up.table({"a": 2.24, "b": 11.96}, AIMS)
    assert head == "instructions of a command, divided by those of `python -c pass`"
    assert [row.split() for row in rows] == [["a", "2.2", "aim", "4"], ["b", "12.0", "aim", "12"]]


def test_runs_are_repeatable_and_keep_compiled_modules() -> None:
    given = {"PATH": "/bin", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "random"}
    assert start_up.environment(given) == {"PATH": "/bin", "PYTHONHASHSEED": "0", "COLUMNS": "80"}


def test_ratios_are_over_a_run_that_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_up, "counted", lambda arguments: 10 * len(arguments))
    monkeypatch.setattr(start_up, "of_engine", lambda: 40)
    expected = {name: (1 + len(arguments)) / 2 for name, arguments in start_up.COMMANDS.items()}
    assert start_up.measure() == expected | {start_up.SIMULATE: expected[start_up.SIMULATE] - 2}


def test_a_command_that_is_not_installed_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    with pytest.raises(BenchError, match="lasthop: no such file: `make build` installs it"):
        start_up.installed()
