"""Runs the commands shown on a page and puts their real output in place.

Commands run in this process, one after another: a process for each would load the same libraries
some eighty times. ``python docs/transcripts.py PAGE`` prints a page as it should be.
"""

import ast
import contextlib
import doctest
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from lasthop.cli import announcing, main

BLOCK = re.compile(r"^```(toml|text|console|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\S+\.(?:toml|csv|txt))\n")
WIDTH = 88
"""Columns of the pretended terminal."""
LEFT_OUT = "..."


def refreshed(page: str) -> str:
    """The page with the output of every command as it is now."""
    with tempfile.TemporaryDirectory(prefix="lasthop-docs-") as folder:
        reader = Reader(Path(folder))
        return BLOCK.sub(
            lambda block: f"```{block[1]}\n{reader.block(block[1], block[2])}```", page
        )


class Reader:
    """A reader of a page who tries it: a folder of files and a Python prompt."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {}

    def block(self, kind: str, text: str) -> str:
        """The block with its outputs brought up to date."""
        if kind in ("toml", "text"):
            if name := FILE_NAME.match(text):
                (self.folder / name[1]).write_text(text, "utf-8")
            return text
        return self.console(text) if kind == "console" else self.prompt(text)

    def console(self, text: str) -> str:
        """Each `$ lasthop ...` is run; other commands stay as they are."""
        commands = re.split(r"^(?=\$ )", text, flags=re.MULTILINE)
        return "".join(self.command(command) for command in commands)

    def command(self, shown: str) -> str:
        """A command line, continued by backslashes, and its output."""
        match = re.match(r"\$ (lasthop(?:.*\\\n)*.*)\n", shown)
        if match is None:
            return shown
        line = re.sub(r"\s+#.*", "", match[1].replace("\\\n", " "))
        output = io.StringIO()
        with (
            contextlib.chdir(self.folder),
            pretended_terminal(),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(output),
            mock.patch.object(announcing, "note"),  # times differ from machine to machine
        ):
            main(shlex.split(line)[1:])
        return match[0] + shortened(output.getvalue(), shown[match.end() :])

    def prompt(self, text: str) -> str:
        """Each `>>>` example is run in the page's folder."""
        lines = []
        with contextlib.chdir(self.folder):
            for example in doctest.DocTestParser().get_examples(text):
                statement, *rest = example.source.splitlines()
                lines += [f">>> {statement}\n", *(f"... {line}\n" for line in rest)]
                lines.append(shortened(self.evaluate(example.source), example.want))
        return "".join(lines)

    def evaluate(self, source: str) -> str:
        """Return the output of the prompt for this statement."""
        output = io.StringIO()
        code = compile(ast.parse(source, mode="single"), "<docs>", "single")
        with contextlib.redirect_stdout(output):
            exec(code, self.names)
        return output.getvalue()


@contextlib.contextmanager
def pretended_terminal() -> Iterator[None]:
    """A terminal of `WIDTH` columns without colours."""
    before = dict(os.environ)
    os.environ.update(COLUMNS=str(WIDTH), NO_COLOR="1", TERM="dumb")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def shortened(output: str, shown: str) -> str:
    """`output` with the lines left out that a line of three dots stood for in `shown`.

    As many lines are kept before and after the dots as were shown there.
    """
    lines = [line.rstrip() + "\n" for line in output.rstrip("\n").splitlines()]
    lines_shown = shown.splitlines(keepends=True)
    at = next((i for i, line in enumerate(lines_shown) if line.strip() == LEFT_OUT), None)
    if at is None:
        return "".join(lines)
    after = len(lines_shown) - at - 1
    return "".join([*lines[:at], lines_shown[at], *lines[len(lines) - after :]])


if __name__ == "__main__":
    sys.stdout.write(refreshed(Path(sys.argv[1]).read_text("utf-8")))
