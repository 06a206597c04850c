"""How wide the lines of an answer may be."""

import os
import shutil
import sys

__all__ = ["screen_width"]

PIPE_WIDTH = 100
"""Width in a file or a pipe, which is that of a line of this project. [columns]"""


def screen_width() -> int:
    """Return the columns of standard output's terminal, or of COLUMNS; 100 without a terminal."""
    if sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdecimal() and int(given) > 0 else PIPE_WIDTH
