"""Ends of the names of pictures; what reads them needs no matplotlib."""

from pathlib import Path

PICTURES = (".png", ".pdf", ".svg")
"""Pictures that are written."""


def is_picture(path: Path) -> bool:
    """Return whether a name is that of a picture that can be written."""
    return path.suffix.lower() in PICTURES
