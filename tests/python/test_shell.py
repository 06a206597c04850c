"""Printed commands, read back by a shell."""

import random
import shlex
import subprocess
import sys

import pytest

import lasthop as lh
from lasthop.cli.words import hint_in_options
from lasthop.explanation.candidates import command
from lasthop.scenario.files import DOWNLOAD
from lasthop.shell import command_text

from .conftest import EXAMPLES

SETTING = 'cell.ap.queue={ kind = "red", limit = 5 }'


def arguments_on_windows(line: str) -> list[str]:
    """Split a command line as Microsoft's C library does, one character at a time."""
    arguments: list[str] = []
    word, backslashes, is_inside, has_word = "", 0, False, False
    for letter in f"{line} ":
        if letter == "\\":
            backslashes, has_word = backslashes + 1, True
            continue
        if letter == '"':
            word += "\\" * (backslashes // 2)
            if backslashes % 2:
                word += '"'
            else:
                is_inside = not is_inside
            backslashes, has_word = 0, True
            continue
        word += "\\" * backslashes
        backslashes = 0
        if letter == " " and not is_inside:
            if has_word:
                arguments.append(word)
            word, has_word = "", False
        else:
            word, has_word = word + letter, True
    assert not is_inside
    return arguments


def test_the_reader_of_windows_command_lines() -> None:
    """The examples of Microsoft's page "Parsing C command-line arguments"."""
    assert arguments_on_windows(r'"a b c" d e') == ["a b c", "d", "e"]
    assert arguments_on_windows(r'"ab\"c" "\\" d') == ['ab"c', "\\", "d"]
    assert arguments_on_windows(r'a\\\b d"e f"g h') == [r"a\\\b", "de fg", "h"]
    assert arguments_on_windows(r"a\\\"b c d") == [r"a\"b", "c", "d"]
    assert arguments_on_windows(r'a\\\\"b c" d e') == [r"a\\b c", "d", "e"]


@pytest.mark.parametrize(
    ("words", "posix", "windows"),
    [
        (["lasthop", "explain", r"examples\a.toml"], r"'examples\a.toml'", r"examples\a.toml"),
        (["--set", SETTING], f"'{SETTING}'", r'"cell.ap.queue={ kind = \"red\", limit = 5 }"'),
        (["C:\\my files\\"], "'C:\\my files\\'", '"C:\\my files\\\\"'),
        ([""], "''", '""'),
        (["a&b"], "'a&b'", '"a&b"'),
    ],
)
def test_words_are_quoted_where_needed(words: list[str], posix: str, windows: str) -> None:
    assert command_text(words, "linux").endswith(posix)
    assert command_text(words, "win32").endswith(windows)


def test_quoted_words_are_split_into_the_same_words() -> None:
    chooser = random.Random(5)
    for _ in range(2000):
        words = ["".join(chooser.choices("ab =\\\"{}'&", k=chooser.randrange(8))) for _ in range(3)]
        assert shlex.split(command_text(words, "linux")) == words
        assert arguments_on_windows(command_text(words, "win32")) == words
        assert arguments_on_windows(subprocess.list2cmdline(words)) == words


def test_printed_commands_are_for_this_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    hint = hint_in_options(f"{DOWNLOAD}https://example.org/a?b=1&c", "predict")
    assert hint == 'curl -L "https://example.org/a?b=1&c" | lasthop predict -'
    scenario = lh.check(EXAMPLES / "hotspot.toml")
    cause = command(scenario, [("cell.ap.queue", "{ limit = 5 }")])
    assert cause.endswith('--set "cell.ap.queue={ limit = 5 }"')
