"""Output to the terminal: its width, and lines of text."""

import os
import sys
from io import TextIOWrapper

__all__ = ["echo", "print_every_character", "screen_width"]

PIPE_WIDTH = 100
"""Width of lines in a file or a pipe. [columns]"""


def print_every_character() -> None:
    """Replace characters that a standard stream cannot encode, instead of raising an error. This
    function flushes the streams, which can fail.

    On Windows, files and pipes get UTF-8 and the same line ends as on other systems, because
    lasthop and other programs read them again. The environment variable PYTHONIOENCODING selects
    another encoding.
    """
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, TextIOWrapper):
            continue
        stream.reconfigure(errors="replace")
        if sys.platform == "win32":
            if not stream.isatty() and "PYTHONIOENCODING" not in os.environ:
                stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")


def screen_width() -> int:
    """Return the number of columns of the terminal of standard output.

    If there is no terminal, return the number in the environment variable COLUMNS, or 100.
    """
    if sys.stdout.isatty():
        from shutil import get_terminal_size

        return get_terminal_size().columns
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdecimal() and int(given) > 0 else PIPE_WIDTH


def echo(text: str = "", *, err: bool = False) -> None:
    """Print a line on standard output, or on standard error, as `typer.echo` does.

    Typer is imported only for the lines that it changes: those with terminal sequences, and those
    for a stream that is not in UTF-8.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or ""  # text in memory has none
    if "\x1b" in text or encoding.lower() not in ("utf-8", "utf8"):
        import typer

        typer.echo(text, err=err)
        return
    stream.write(f"{text}\n")
    stream.flush()
