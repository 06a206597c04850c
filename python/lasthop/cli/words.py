"""Translation of messages about Python arguments into messages about command line options."""

import re
from collections.abc import Callable
from shlex import quote

from lasthop.progress.cost_limits import MEMORIES, TIMES, written
from lasthop.scenario.files import DOWNLOAD
from lasthop.scenario.scenario import SETTING

__all__ = ["hint_in_options", "message_in_options", "source_in_options"]

CURRENT = "lasthop COMMAND -"
"""Placeholder for the present command with standard input as its file."""

Written = str | Callable[[re.Match[str]], str]

HINTS: tuple[tuple[str, Written], ...] = (
    (r"\bmax_time_s=(\S+)", lambda match: f"--max-time {written(float(match[1]), TIMES)}"),
    (
        r"\bmax_memory_bytes=(\S+)",
        lambda match: f"--max-memory {written(float(match[1]), MEMORIES)}",
    ),
    (r"\b(txop|pifs)=False", r"--no-\1"),
    (r"^places: ", "lasthop emulate FILE --places: "),
    (rf"^{DOWNLOAD}(\S+)$", lambda match: f"curl -L {quote(match[1])} | {CURRENT}"),
)
"""Patterns of arguments in hints, and the corresponding options."""

MESSAGES: tuple[tuple[str, Written], ...] = (
    (r"^uplink='([^']*)': ", r"--uplink \1: "),
    (r"^measured (?=\S+=)", "--measured "),
    (r"^objective=\"([^\"]*)\": ", r"--for \1: "),
    (r"^target=\"([^\"]*)\": ", r"--target \1: "),
)
"""Patterns of arguments at the beginning of messages, and the corresponding options."""


def hint_in_options(hint: str | None, command: str = "check") -> str | None:
    """Return a hint with options instead of arguments, for users of this command."""
    if hint is None:
        return None
    return _replaced(hint, HINTS).replace(CURRENT, f"lasthop {command} -")


def message_in_options(message: str) -> str:
    """Return a message that begins with the option that corresponds to its argument."""
    return _replaced(message, MESSAGES)


def source_in_options(source: str, setting: str | None) -> str:
    """Return the source of a problem: the option of a setting, or the file itself."""
    if setting is not None and source.startswith(SETTING):
        return f"--set {source.removeprefix(SETTING)}"
    return source


def _replaced(text: str, words: tuple[tuple[str, Written], ...]) -> str:
    for pattern, option in words:
        text = re.sub(pattern, option, text)
    return text
