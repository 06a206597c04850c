"""Answers to a shell that asks for the possible next words of a command line.

The answer is lines of text. The first line is the kind of files that the shell completes, if any.
The next lines are the text before a file in the same word, the beginning of the file name, and the
part of the word that bash has cut off. Each further line is a possible word, with its description
after a tab.
"""

import json
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Answer", "answer", "answered"]

FILES = {"scenario": "scenarios", "case": "scenarios", "file": "files", "directory": "directories"}
"""Kinds of files that shells complete, by the kind of a value."""

MARK = "\x1f"
"""Placeholder for the cursor, which no command line contains."""

Word = tuple[str, str]
"""A possible word and its description."""


@dataclass(frozen=True)
class Option:
    """An option of a command."""

    help: str
    takes: str | None = None
    """Kind of the option's values; None for a flag."""
    values: int = 1
    many: bool = False
    """Whether the option may be repeated."""


@dataclass(frozen=True)
class Argument:
    """An argument of a command."""

    takes: str
    many: bool = False


@dataclass(frozen=True)
class Command:
    """A command, or a group of commands."""

    help: str
    commands: Sequence[str] = ()
    """Names of the commands of the group; empty for a single command."""
    arguments: Sequence[Mapping[str, Any]] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Content of ``words.json``."""

    commands: Mapping[str, Mapping[str, Any]]
    words: Mapping[str, Sequence[str]]
    everywhere: Mapping[str, Mapping[str, Any]]
    """Options of all commands."""


@dataclass
class Answer:
    """Possible words at the cursor."""

    words: list[Word] = field(default_factory=list)
    files: str = "words"
    """Kind of files: ``scenarios``, ``files``, ``directories``, or ``words`` for none."""
    before: str = ""
    """Text before a file in the same word, such as ``--out=``."""
    typed: str = ""
    """Beginning of the file name."""


def answer(arguments: Sequence[str]) -> int:
    """Print the possible completions of a command line.

    Parameters
    ----------
    arguments : sequence of str
        Name of the shell, then the words of the line without the first word. The last word is
        incomplete. Bash splits words at ``=`` and ``:``, and therefore passes the line and its
        separators.
    """
    shell, *given = arguments
    cut = ""
    if shell == "bash":
        line, breaks = given
        given, quoted = words_of(line)
        cut = "" if quoted else kept_by_bash(given[-1], breaks)
    result = answered(given or [""])
    head = [result.files, result.before, result.typed, cut]
    bare = shell == "bash"
    lines = [word if bare or not text else f"{word}\t{text}" for word, text in result.words]
    sys.stdout.write("\n".join([*head, *lines]) + "\n")
    return 0


def words_of(line: str) -> tuple[list[str], bool]:
    """Return the words of a line after the command, and whether the last word has an open quote."""
    for end in ("", "'", '"'):
        try:
            words = shlex.split(line + MARK + end)
        except ValueError:
            continue
        return [*words[1:-1], words[-1].removesuffix(MARK)], bool(end)
    return [""], False


def kept_by_bash(word: str, breaks: str) -> str:
    """Return the beginning of a word that bash treats as a separate word and does not replace."""
    return word[: max((word.rfind(each) for each in "=:" if each in breaks), default=-1) + 1]


def answered(given: Sequence[str]) -> Answer:
    """Return the possible completions of the last word."""
    table = Table(**json.loads(Path(__file__).with_name("words.json").read_text("utf-8")))
    *words, typed = given
    line = Line(table)
    for word in words:
        line.read(word)
    return line.going_on(typed)


class Line:
    """A command line up to the cursor."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.command = ""
        self.arguments: list[str] = []
        self.options: set[str] = set()
        self.lacking: list[str] = []
        """Kinds of the values that the previous option still needs."""
        self.is_program = False
        """Whether the following words are the command line of another program."""

    @property
    def entry(self) -> Command:
        """Entry of the command in the table."""
        return Command(**self.table.commands[self.command])

    @property
    def arguments_known(self) -> list[Argument]:
        """Arguments of the command."""
        return [Argument(**each) for each in self.entry.arguments]

    @property
    def known(self) -> dict[str, Option]:
        """Options of the command."""
        options = {**self.entry.options, **self.table.everywhere}
        return {name: Option(**option) for name, option in options.items()}

    def read(self, word: str) -> None:
        """Read a word that is complete."""
        if self.lacking:
            self.lacking.pop(0)
        elif self.is_program:
            return
        elif word == "--":
            self.is_program = True
        elif word.startswith("-") and word != "-":
            name, equals, _ = word.partition("=")
            self.options.add(name)
            if not equals:
                option = self.known.get(name)
                if option is not None and option.takes is not None:
                    self.lacking = [option.takes] * option.values
        elif word in self.entry.commands:
            self.command = f"{self.command} {word}".strip()
        else:
            self.arguments.append(word)

    def going_on(self, typed: str) -> Answer:
        """Return the completions of an incomplete word."""
        if self.lacking:
            return self.value(self.lacking[0], typed)
        if self.is_program:
            return Answer(files="files", typed=typed)
        name, equals, value = typed.partition("=")
        option = self.known.get(name)
        if equals and option is not None and option.takes is not None:
            return self.value(option.takes, value, f"{name}=")
        if typed.startswith("-") and typed != "-":
            return self.choice(self.further_options(), typed)
        if self.entry.commands:
            inside = ((name, self.help_of(name)) for name in self.entry.commands)
            return self.choice(inside, typed)
        if (takes := self.next_argument()) is not None:
            return self.value(takes, typed)
        return self.choice(self.further_options(), typed)

    def help_of(self, command: str) -> str:
        """Return the description of a command of this group."""
        return Command(**self.table.commands[f"{self.command} {command}".strip()]).help

    def further_options(self) -> Iterable[Word]:
        """Return the options that are not yet in the line, or may be repeated."""
        for name, option in self.known.items():
            if name not in self.options or option.many:
                yield name, option.help

    def next_argument(self) -> str | None:
        """Return the kind of the next argument; None if there are no more."""
        known, at = self.arguments_known, len(self.arguments)
        if at < len(known):
            return known[at].takes
        return known[-1].takes if known and known[-1].many else None

    def choice(self, words: Iterable[Word], typed: str, before: str = "") -> Answer:
        """Return the words that begin with the typed text."""
        chosen = [(before + word, text) for word, text in words if word.startswith(typed)]
        return Answer(words=chosen)

    def value(self, takes: str, typed: str, before: str = "") -> Answer:
        """Return the possible values; `before` is the text before them in the same word."""
        is_file = bool(self.arguments) and self.file_is_scenario
        if takes in ("key", "keys") or (takes == "parameter or key" and is_file):
            from lasthop.cli.completion.keys import settings

            result = settings(typed, self.arguments[0] if is_file else "", several=takes == "keys")
            return self.choice(result, typed, before)
        words = self.table.words.get(takes.removesuffix(" or key"), ())
        if takes == "kernel":
            from lasthop.uml.store import built_kernels

            words = [kernel.name for kernel in built_kernels()]
        taken = self.arguments if takes in ("claim", "kernel") else ()
        ends = "=" if takes.startswith("parameter") else ""
        answer = self.choice(((f"{w}{ends}", "") for w in words if w not in taken), typed, before)
        if takes in FILES:
            answer.files, answer.before, answer.typed = FILES[takes], before, typed
        return answer

    @property
    def file_is_scenario(self) -> bool:
        """Whether the first argument is a scenario, and not a case of a paper."""
        takes = self.arguments_known[0].takes if self.arguments_known else ""
        cases = self.table.words.get("case", ())
        return takes in ("scenario", "case") and self.arguments[0] not in cases
