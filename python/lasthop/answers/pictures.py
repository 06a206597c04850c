"""Suffixes of pictures, in a module that does not import matplotlib."""

from pathlib import Path

PICTURES = (".png", ".pdf", ".svg")
"""File name suffixes of the supported picture formats."""


def is_picture(path: Path) -> bool:
    """Return whether the suffix of a path is a supported format of pictures."""
    return path.suffix.lower() in PICTURES


def wrong_name(name: str) -> str:
    """Return the message about a file name that is not the name of a picture."""
    return f'"{name}": expected a name that ends in {", ".join(PICTURES)}'
