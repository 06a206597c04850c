"""How wide the terminal is on which an answer appears."""

import shutil
import sys

__all__ = ["screen_width"]


def screen_width() -> int | None:
    """Return the columns of standard output's terminal, or of COLUMNS; None without a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
