"""Printed commands, read back by a shell."""

import random
import re
import shlex
import subprocess
import sys
import tomllib

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


def output_of_cmd(line: str, variables: dict[str, str]) -> str:
    """Return the command line that a program gets from the prompt of `cmd`, which replaces
    variables, and then interprets `^` and operators outside of quotation marks.
    """
    line = re.sub("%([^%]+)%", lambda name: variables.get(name[1].upper(), name[0]), line)
    passed, is_quoted, letters = "", False, iter(line)
    for letter in letters:
        if letter == "^" and not is_quoted:
            passed += next(letters, "")
            continue
        if letter == '"':
            is_quoted = not is_quoted
        assert is_quoted or letter not in "&|<>", line
        passed += letter
    return passed


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
        (["--set", SETTING], f"'{SETTING}'", "\"cell.ap.queue={ kind = 'red', limit = 5 }\""),
        (["C:\\my files\\"], "'C:\\my files\\'", '"C:\\my files\\\\"'),
        ([""], "''", '""'),
        (["a&b"], "'a&b'", '"a&b"'),
        (["100%.toml"], "100%.toml", '^"100^%.toml^"'),
        (['a "b" & c'], "'a \"b\" & c'", r'^"a \^"b\^" ^& c^"'),
    ],
)
def test_words_are_quoted_where_needed(words: list[str], posix: str, windows: str) -> None:
    assert command_text(words, "linux").endswith(posix)
    assert command_text(words, "win32").endswith(windows)


def test_quoted_words_are_split_into_the_same_words() -> None:
    chooser = random.Random(5)
    for _ in range(2000):
        letters = "ab \\\"{}'&|<^>%!os"
        words = ["".join(chooser.choices(letters, k=chooser.randrange(9))) for _ in range(3)]
        assert shlex.split(command_text(words, "linux")) == words
        passed = output_of_cmd(command_text(words, "win32"), {"OS": "Windows_NT", "A": "1&2"})
        assert arguments_on_windows(passed) == words
        assert arguments_on_windows(subprocess.list2cmdline(words)) == words


@pytest.mark.parametrize(
    "value",
    ['{ kind = "red", limit = 5 }', '"R & D"', "'it is \"so\"'", '"a\\tb"', '"a\'b"', '"50 %"'],
)
def test_a_setting_keeps_its_value(value: str) -> None:
    line = output_of_cmd(command_text(["--set", f"name={value}"], "win32"), {})
    option, setting = arguments_on_windows(line)
    assert option == "--set"
    assert tomllib.loads(setting) == tomllib.loads(f"name={value}")


def test_printed_commands_are_for_this_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    hint = hint_in_options(f"{DOWNLOAD}https://example.org/a?b=1&c", "predict")
    assert hint == 'curl.exe -L "https://example.org/a?b=1&c" | lasthop predict -'
    scenario = lh.check(EXAMPLES / "hotspot.toml")
    cause = command(scenario, [("cell.ap.queue", "{ limit = 5 }")])
    assert cause.endswith('--set "cell.ap.queue={ limit = 5 }"')
