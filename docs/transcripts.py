"""Run the commands that a page shows, and insert their output into the page.

The commands run in this process, because separate processes would load the same libraries about
eighty times. ``python docs/transcripts.py PAGE`` prints a page with current outputs.
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
"""Width of the simulated terminal. [characters]"""
LEFT_OUT = "..."


def refreshed(page: str) -> str:
    """Return the page with the current output of every command."""
    with tempfile.TemporaryDirectory(prefix="lasthop-docs-") as folder:
        reader = Reader(Path(folder))
        return BLOCK.sub(
            lambda block: f"```{block[1]}\n{reader.block(block[1], block[2])}```", page
        )


class Reader:
    """Simulated reader who runs the commands of a page, with a folder of files and a Python
    prompt.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {}

    def block(self, kind: str, text: str) -> str:
        """Return a block of a page with updated outputs."""
        if kind in ("toml", "text"):
            if name := FILE_NAME.match(text):
                (self.folder / name[1]).write_text(text, "utf-8")
            return text
        return self.console(text) if kind == "console" else self.prompt(text)

    def console(self, text: str) -> str:
        """Run each line `$ lasthop ...` of a block. Other commands stay unchanged."""
        commands = re.split(r"^(?=\$ )", text, flags=re.MULTILINE)
        return "".join(self.command(command) for command in commands)

    def command(self, shown: str) -> str:
        """Run a command line, which may have backslashes at line ends. Return the line with its
        output.
        """
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
            # running times are not printed, because they differ between machines
            mock.patch.object(announcing, "note"),
        ):
            main(shlex.split(line)[1:])
        return match[0] + shortened(output.getvalue(), shown[match.end() :])

    def prompt(self, text: str) -> str:
        """Run each `>>>` example in the page's folder."""
        lines = []
        with contextlib.chdir(self.folder):
            for example in doctest.DocTestParser().get_examples(text):
                statement, *rest = example.source.splitlines()
                lines += [f">>> {statement}\n", *(f"... {line}\n" for line in rest)]
                lines.append(shortened(self.evaluate(example.source), example.want))
        return "".join(lines)

    def evaluate(self, source: str) -> str:
        """Return the output of the Python prompt for this statement."""
        output = io.StringIO()
        code = compile(ast.parse(source, mode="single"), "<docs>", "single")
        with contextlib.redirect_stdout(output):
            exec(code, self.names)
        return output.getvalue()


@contextlib.contextmanager
def pretended_terminal() -> Iterator[None]:
    """Simulate a terminal of `WIDTH` columns without colours."""
    before = dict(os.environ)
    os.environ.update(COLUMNS=str(WIDTH), NO_COLOR="1", TERM="dumb")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def shortened(output: str, shown: str) -> str:
    """Return `output` without the lines that three dots represent in `shown`.

    The result has the same number of lines before the dots as `shown`, and the same number after
    them.
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
