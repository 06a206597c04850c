"""`lasthop --version`. Modules of other commands are not imported."""

import sys

from lasthop import _core

__all__ = ["lines", "options_of", "print_version"]

VERSION, VERBOSE = "--version", "--verbose"

DEBUG = "debug: slower than release, for tests only"
"""Description of a debug build in the line `build profile`."""

WIDTH = 20
"""Width of the column with the names of the facts. [characters]"""


def options_of(args: list[str]) -> set[str] | None:
    """Return the options if all arguments are ``--version`` or ``--verbose``.

    Parameters
    ----------
    args : list of str
        Arguments of the command line.

    Returns
    -------
    set of str or None
        The given options; None for any other command line, which the parser must read.
    """
    options = set(args)
    return options if VERSION in options and options <= {VERSION, VERBOSE} else None


def lines(*, verbose: bool) -> list[str]:
    """Return the line with the version; if `verbose`, also lines about the build and the
    interpreter.
    """
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
    """Print the version; return False if standard output was closed or full.

    The caller then reports the error.
    """
    try:
        print(*lines(verbose=VERBOSE in options), sep="\n", flush=True)
    except (OSError, ValueError):
        return False
    return sys.stdout is not None
