"""Remove private data from texts: the home folder, names of the user, and values of the
environment.

The report asks for messages without the path of a kernel (`find_kernel(names_paths=False)`). All
other messages are redacted here. Private texts are replaced only as whole components of a path.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Replacement", "redact", "replacements"]

MIN_LENGTH = 2
"""Length from which a user name is replaced in paths. [characters]"""

SEPARATOR = r"[/\\]+(?:\.[/\\]+)*"
"""Pattern of the separators between two components of a path."""

END = r"(?![\w.-]*\w)"
"""Pattern of the end of a component of a path. A full stop can end a sentence."""

USER_VARIABLES = ("LOGNAME", "USER", "LNAME", "USERNAME", "SUDO_USER")
"""Environment variables that contain the name of a user."""


@dataclass(frozen=True)
class Replacement:
    """Private text with its replacement."""

    pattern: re.Pattern[str]
    public: str
    """Template of `re.sub`."""


def replacements() -> list[Replacement]:
    """Return the private texts of this process with their replacements, the longest first."""
    paths = dict(private_paths())
    users = sorted(user_names(), key=len, reverse=True)
    by_length = sorted(paths, key=len, reverse=True)
    return [
        *(path_replacement(path, paths[path]) for path in by_length),
        *(Replacement(re.compile(rf"([/\\]){re.escape(user)}{END}"), r"\1USER") for user in users),
    ]


def private_paths() -> Iterator[tuple[str, str]]:
    """Yield the private paths of this process with their replacements. Paths are absolute."""
    if named := os.environ.get("LASTHOP_UML"):
        yield from forms(named, "...")
    for home in (os.path.expanduser("~"), os.environ.get("HOME", "")):
        yield from forms(home, "~")
    if os.path.isabs(cache := os.environ.get("XDG_CACHE_HOME", "")):
        yield from forms(cache, "$XDG_CACHE_HOME")


def forms(path: str, public: str) -> Iterator[tuple[str, str]]:
    """Yield the forms in which messages can contain a path, each with its replacement. The root of
    the file system is not private."""
    if not path:
        return
    try:
        absolute = path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
    except OSError:  # The working directory was removed: no message contains its path.
        return
    for form in (absolute, os.path.normpath(absolute), str(Path(absolute).resolve())):
        if components(form):
            yield form, public


def components(path: str) -> list[str]:
    """Return the components of a path."""
    return [each for each in re.split(r"[/\\]", path) if each not in ("", ".")]


def path_replacement(path: str, public: str) -> Replacement:
    """Return the replacement of a path, however its components are separated in a text."""
    first = SEPARATOR if path[0] in "/\\" else r"(?<![\w.-])"
    pattern = first + SEPARATOR.join(re.escape(each) for each in components(path)) + END
    return Replacement(re.compile(pattern, re.IGNORECASE if os.name == "nt" else 0), public)


def user_names() -> set[str]:
    """Return the names of the user, in the environment and in the system's list of users."""
    names = {os.environ.get(name, "") for name in USER_VARIABLES}
    try:
        import pwd

        names.add(pwd.getpwuid(os.getuid()).pw_name)
    except (ImportError, KeyError):  # Windows, or a user who is not in the list.
        pass
    return {name for name in names if len(name) >= MIN_LENGTH and name != "root"}


def redact(text: str, private: Sequence[Replacement]) -> str:
    """Return a text in which private texts are replaced, where they are whole components of a
    path."""
    for each in private:
        text = each.pattern.sub(each.public, text)
    return text
