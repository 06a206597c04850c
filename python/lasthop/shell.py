"""Quote a command for POSIX shells or for the Windows Command Prompt."""

import re
import sys
from collections.abc import Iterable

__all__ = ["command_text"]

PLAIN = r"[A-Za-z0-9_+./:=\\-]+"
"""Pattern of words that `cmd` passes on unchanged without quotation marks."""

SETTING = r"[A-Za-z0-9_.-]+=.*"
"""Pattern of settings, KEY=VALUE, whose value may be TOML."""


def command_text(words: Iterable[str], system: str | None = None) -> str:
    """Return a command with quotation marks around the words that need them.

    On Windows, each program splits its own command line by the rules of Microsoft's C library
    ("Parsing C command-line arguments"). Before that, `cmd` interprets `&`, `|`, `<`, `>` and `^`
    outside of quotation marks, and `%NAME%` everywhere. For `cmd`, a quotation mark after a
    backslash is an ordinary one. Therefore strings of TOML in settings get single quotation marks,
    and all special characters of other words with `"` or `%` get a `^`. Within a batch file, this
    does not escape `%`. PowerShell needs other quotation marks.

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
    if re.fullmatch(SETTING, word) and not re.search(r"['\\]", word):
        word = word.replace('"', "'")
    # A backslash has no meaning, except before a quotation mark.
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', word)
    doubled = re.sub(r"(\\+)$", r"\1\1", escaped)
    quoted = f'"{doubled}"'
    return re.sub(r'["&|<>^()%!]', r"^\g<0>", quoted) if re.search('["%]', word) else quoted
