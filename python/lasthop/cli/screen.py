"""Width of the terminal, to which the lines of a result are wrapped."""

import os
import shutil
import sys

__all__ = ["screen_width"]

PIPE_WIDTH = 100
"""Width of lines in a file or a pipe. [columns]"""


def screen_width() -> int:
    """Return the number of columns of the terminal of standard output.

    If there is no terminal, return the number in the environment variable COLUMNS, or 100.
    """
    if sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdecimal() and int(given) > 0 else PIPE_WIDTH
