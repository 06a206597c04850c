"""On terminals of any width, every number of a table is on a line that fits the terminal."""

import io
import sys

import pytest

from lasthop.cli.tables import print_table

from ..conftest import Lasthop

HEADERS = ["station", "goodput\n[Mb/s]", "share\n[%]", "RTT\n[ms]"]
ROWS = [["a/up/1", "3.45 ± 0.13", "66.3 ± 2.2", "842 ± 134"], ["b", "0.4 ± 0.5", "9 ± 10", "223"]]
LONG = ["a-station-with-a-name-that-is-long/upload/1", "1.5", "2.5", "3.5"]


class Terminal(io.StringIO):
    """Standard output that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def printed(
    monkeypatch: pytest.MonkeyPatch, columns: int | None, rows: list[list[str]], names: int = 1
) -> list[str]:
    """Return the lines of a table printed on a terminal of this many columns, or into a file."""
    out = io.StringIO() if columns is None else Terminal()
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stdout", out)
    print_table(HEADERS, rows, names=names)
    return out.getvalue().splitlines()


def test_a_terminal_that_is_wide_enough_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    in_file = printed(monkeypatch, None, ROWS)
    assert max(map(len, in_file)) == 43
    assert printed(monkeypatch, 43, ROWS) == in_file
    assert printed(monkeypatch, 42, ROWS) != in_file


def test_a_file_has_a_hundred_columns_or_as_many_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = [["x" * (100 - 36), *ROWS[0][1:]]]
    assert len(printed(monkeypatch, None, fits)) == 5  # two header lines, dashes, a row, a gap
    longer = [["x" * (101 - 36), *ROWS[0][1:]]]
    folded = printed(monkeypatch, None, longer)
    assert max(map(len, folded)) <= 100
    assert len(folded) > 5
    monkeypatch.setenv("COLUMNS", "43")
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    print_table(HEADERS, longer)
    assert max(map(len, out.getvalue().splitlines())) <= 43


@pytest.mark.parametrize("columns", [41, 30, 24, 20])
def test_folded_tables_fit_and_have_every_number(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    lines = printed(monkeypatch, columns, ROWS)
    assert max(map(len, lines)) <= columns
    text = "\n".join(lines)
    for row in ROWS:
        assert all(cell in text for cell in row[1:])
    blocks = text.strip().split("\n\n")
    assert len(blocks) > 1
    assert all(f"\n{name} " in block for block in blocks for name in ("a/up/1", "b"))
    assert all(block.splitlines()[0].strip() for block in blocks)


def test_a_long_name_is_wrapped_completely(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(monkeypatch, 30, [LONG, ROWS[1]])
    assert max(map(len, lines)) <= 30
    block = "\n".join(lines).split("\n\n")[0].splitlines()
    [first] = [at for at, line in enumerate(block) if line.startswith("a-")]
    below = next(at for at, line in enumerate(block) if line.startswith("b "))
    assert "".join(line[:17].strip() for line in block[first:below]) == LONG[0]


def test_a_table_of_text_is_wrapped_in_its_widest_column(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(monkeypatch, 40, [["red", "model", "a title of many words in all", "x"]], 4)
    assert max(map(len, lines)) <= 40
    assert [line.split() for line in lines[3:-1]] == [
        ["red", "model", "a", "title", "of", "x"],
        ["many", "words", "in"],
        ["all"],
    ]


def test_a_command_folds_on_a_narrow_terminal(
    lasthop: Lasthop, small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Terminal()
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stdout", out)
    assert lasthop("simulate", small).returncode == 0
    table = out.getvalue().split("\n\n", 1)[1].split("\nwhat helps:")[0]
    assert max(map(len, table.splitlines())) <= 40
    assert table.count("near/down/1") > 1
