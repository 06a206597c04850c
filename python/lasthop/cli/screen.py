"""How wide the terminal is on which an answer appears."""

import shutil
import sys

__all__ = ["screen_width"]


def screen_width() -> int | None:
    """Columns of the terminal behind standard output, or of COLUMNS; None for a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
