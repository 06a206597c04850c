"""Quote a command for POSIX shells or for the Windows Command Prompt."""

import re
import sys
from collections.abc import Iterable

__all__ = ["command_text"]

PLAIN = r"[A-Za-z0-9_+./:=\\-]+"
"""Pattern of words that the shells of Windows pass on unchanged without quotation marks."""


def command_text(words: Iterable[str], system: str | None = None) -> str:
    """Return a command with quotation marks around the words that need them.

    On Windows, each program splits its own command line. The quotation marks follow the rules of
    Microsoft's C library ("Parsing C command-line arguments"), for the Command Prompt (`cmd`).
    `cmd` replaces `%NAME%` also within quotation marks; it is not escaped. PowerShell needs other
    quotation marks. On other systems than Windows, the quotation marks follow POSIX.

    Parameters
    ----------
    words : iterable of str
        The program and its arguments.
    system : str, optional
        Name of the system, as in `sys.platform`; by default that of this machine.
    """
    if (sys.platform if system is None else system) == "win32":
        return " ".join(map(_for_windows, words))
    from shlex import join

    return join(words)


def _for_windows(word: str) -> str:
    if re.fullmatch(PLAIN, word):
        return word
    # A backslash has no meaning, except before a quotation mark.
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', word)
    doubled = re.sub(r"(\\+)$", r"\1\1", escaped)
    return f'"{doubled}"'
