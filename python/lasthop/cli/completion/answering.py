"""Completions of the last word of a command line, printed for a shell.

The output is lines of text. Line 1 is the kind of files that the shell completes, if any. Line 2 is
the text before a file name in the same word, such as ``--out=``. Line 3 is the beginning of the
file name. Line 4 is the beginning of the last word, up to its last separator. Bash does not replace
this beginning. Each following line is a possible word, with its description after a tab.
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
"""Kind of files that the shell completes, by the kind of an option's value."""

MARK = "\x1f"
"""Placeholder for the cursor; it is a character that no command line contains."""

Word = tuple[str, str]
"""A possible word and its description."""


@dataclass(frozen=True)
class Option:
    """An option of a command."""

    help: str
    takes: str | None = None
    """Kind of the option's value, a key of `FILES` or of ``words``; None for a flag."""
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
    """Names of the commands in the group; empty for a single command."""
    arguments: Sequence[Mapping[str, Any]] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Contents of ``words.json``: all commands, options and possible words."""

    commands: Mapping[str, Mapping[str, Any]]
    words: Mapping[str, Sequence[str]]
    everywhere: Mapping[str, Mapping[str, Any]]
    """Options that every command accepts."""


@dataclass
class Answer:
    """Completions at the cursor: possible words, and the kind of files."""

    words: list[Word] = field(default_factory=list)
    files: str = "words"
    """Kind of files to complete: ``scenarios``, ``files``, ``directories``; ``words`` for none."""
    before: str = ""
    """Text before the file name in the same word, such as ``--out=``."""
    typed: str = ""
    """Typed beginning of the file name."""


def answer(arguments: Sequence[str]) -> int:
    """Print the possible completions of a command line.

    Parameters
    ----------
    arguments : sequence of str
        Name of the shell, then the words of the command line after ``lasthop``. The last word is
        incomplete. Bash also splits words at ``=`` and ``:``. Therefore bash passes the whole line
        and its separator characters instead.
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
    """Return the words after the command name, and whether the last word has an open quote."""
    for end in ("", "'", '"'):
        try:
            words = shlex.split(line + MARK + end)
        except ValueError:
            continue
        return [*words[1:-1], words[-1].removesuffix(MARK)], bool(end)
    return [""], False


def kept_by_bash(word: str, breaks: str) -> str:
    """Return the beginning of a word, up to its last ``=`` or ``:``. Bash does not replace this
    beginning.
    """
    return word[: max((word.rfind(each) for each in "=:" if each in breaks), default=-1) + 1]


def read_table() -> Table:
    """Return the contents of ``words.json``."""
    return Table(**json.loads(Path(__file__).with_name("words.json").read_text("utf-8")))


def answered(given: Sequence[str]) -> Answer:
    """Return the possible completions of the last word."""
    *words, typed = given
    line = Line(read_table())
    for word in words:
        line.read(word)
    return line.going_on(typed)


class Line:
    """State of the parser after the complete words of a command line."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.command = ""
        self.arguments: list[str] = []
        self.options: set[str] = set()
        self.lacking: list[str] = []
        """Kinds of the values that the previous option still expects."""
        self.is_program = False
        """Whether ``--`` was read, so that the remaining words belong to another program."""

    @property
    def entry(self) -> Command:
        """Description of the command in ``words.json``."""
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
        """Parse a complete word."""
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
        """Return the completions of the incomplete last word."""
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
        """Yield the options that are not yet on the command line, or that may be repeated."""
        for name, option in self.known.items():
            if name not in self.options or option.many:
                yield name, option.help

    def next_argument(self) -> str | None:
        """Return the kind of the next argument; None if the command accepts no more arguments."""
        known, at = self.arguments_known, len(self.arguments)
        if at < len(known):
            return known[at].takes
        return known[-1].takes if known and known[-1].many else None

    def choice(self, words: Iterable[Word], typed: str, before: str = "") -> Answer:
        """Return the words that begin with the typed text."""
        chosen = [(before + word, text) for word, text in words if word.startswith(typed)]
        return Answer(words=chosen)

    def value(self, takes: str, typed: str, before: str = "") -> Answer:
        """Return the completions of an option's value or an argument."""
        is_file = bool(self.arguments) and self.file_is_scenario
        if takes in ("key", "keys") or (takes == "parameter or key" and is_file):
            from lasthop.cli.completion.keys import settings

            result = settings(typed, self.arguments[0] if is_file else "", several=takes == "keys")
            return self.choice(result, typed, before)
        words = self.table.words.get(takes.removesuffix(" or key"), ())
        if takes == "kernel":
            words = kernel_names()
        taken = self.arguments if takes in ("claim", "kernel", "command") else ()
        ends = "=" if takes.startswith("parameter") else ""
        answer = self.choice(((f"{w}{ends}", "") for w in words if w not in taken), typed, before)
        if takes in FILES:
            answer.files, answer.before, answer.typed = FILES[takes], before, typed
        return answer

    @property
    def file_is_scenario(self) -> bool:
        """Whether the first argument is a scenario file, and not a case of a paper."""
        takes = self.arguments_known[0].takes if self.arguments_known else ""
        cases = self.table.words.get("case", ())
        return takes in ("scenario", "case") and self.arguments[0] not in cases


def kernel_names() -> list[str]:
    """Return the names of the built kernels of user-mode Linux; none on other systems than
    Linux.
    """
    from lasthop.linux_only import is_linux

    if not is_linux():
        return []
    from lasthop.uml.store import built_kernels

    return [kernel.name for kernel in built_kernels()]
