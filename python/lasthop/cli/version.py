"""`lasthop --version`, which imports no module of a command."""

import sys

from lasthop import _core

__all__ = ["lines", "options_of", "print_version"]

VERSION, VERBOSE = "--version", "--verbose"

DEBUG = "debug: slower than release, for tests only"
"""Text for a debug build in the line `build profile`."""

WIDTH = 20
"""Width of the column of names. [characters]"""


def options_of(args: list[str]) -> set[str] | None:
    """Return the options if the command line has only ``--version`` and ``--verbose``.

    Parameters
    ----------
    args : list of str
        Arguments of the command line.

    Returns
    -------
    set of str or None
        Options; None for any other command line, which needs the parser.
    """
    options = set(args)
    return options if VERSION in options and options <= {VERSION, VERBOSE} else None


def lines(*, verbose: bool) -> list[str]:
    """Return the version; if `verbose`, also the build and the interpreter, one fact per line."""
    first = f"lasthop {_core.VERSION}"
    if not verbose:
        return [first]
    python = ".".join(map(str, sys.version_info[:3]))
    facts = {
        "build profile": DEBUG if _core.PROFILE == "debug" else _core.PROFILE,
        "engine fingerprint": _core.ENGINE,
        "Python": f"{python}, {sys.executable}",
    }
    return [first, *(f"{name:<{WIDTH}}{fact}" for name, fact in facts.items())]


def print_version(options: set[str]) -> bool:
    """Print the version, and return whether standard output accepted it.

    The caller reports a closed or full standard output.
    """
    try:
        print(*lines(verbose=VERBOSE in options), sep="\n", flush=True)
    except (OSError, ValueError):
        return False
    return sys.stdout is not None
