"""The compiled part of lasthop."""

from typing import Final

__all__ = ["VERSION"]

VERSION: Final[str]
