"""Remove private data from texts: the home folder, the user's name, and values of the
environment."""

import getpass
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["Replacements", "redact", "replacements"]

Replacements = Mapping[str, str]

MIN_LENGTH = 2
"""Length from which a user name is replaced in paths. A home folder begins with a slash and must be
longer. [characters]"""


def replacements() -> Replacements:
    """Return the private texts of this process with their replacements, the longest first."""
    pairs = dict(private_pairs())
    return {text: pairs[text] for text in sorted(pairs, key=len, reverse=True)}


def private_pairs() -> Iterator[tuple[str, str]]:
    """Yield the private texts of this process with their replacements."""
    if named := os.environ.get("LASTHOP_UML"):
        yield named, "..."
        yield os.path.abspath(named), "..."
    for home in {os.path.expanduser("~"), os.environ.get("HOME", "")}:
        if len(home.rstrip("/\\")) > MIN_LENGTH:
            yield home.rstrip("/\\"), "~"
            yield str(Path(home).resolve()), "~"
    try:
        user = getpass.getuser()
    except (ImportError, KeyError, OSError):
        return
    if user != "root" and len(user) >= MIN_LENGTH:
        yield f"/{user}", "/USER"
    if cache := os.environ.get("XDG_CACHE_HOME"):
        yield cache.rstrip("/"), "$XDG_CACHE_HOME"


def redact(text: str, private: Replacements) -> str:
    """Return a text in which private texts are replaced. A text is replaced only where a name in a
    path ends."""
    for each, other in private.items():
        text = re.sub(rf"{re.escape(each)}(?![\w.-]*\w)", other.replace("\\", r"\\"), text)
    return text
