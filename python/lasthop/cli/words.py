"""Rewording of messages: names of Python arguments are replaced by command line options."""

import re
import sys
from collections.abc import Callable

from lasthop.progress.cost_limits import MEMORIES, TIMES, written
from lasthop.scenario.files import DOWNLOAD
from lasthop.scenario.scenario import SETTING
from lasthop.shell import command_text

__all__ = ["hint_for_list", "hint_in_options", "message_in_options", "source_in_options"]

CURRENT = "lasthop COMMAND -"
"""Placeholder in hints for the running command, which reads standard input as its file."""

LIST = re.compile(r"[^,\[\]{}\"']+(,[^,\[\]{}\"']+)+")
"""Pattern of several values of a setting, separated by commas."""

Written = str | Callable[[re.Match[str]], str]


def curl() -> str:
    """Return the name of curl. In PowerShell of Windows, `curl` is another command."""
    return "curl.exe" if sys.platform == "win32" else "curl"


HINTS: tuple[tuple[str, Written], ...] = (
    (r"\bmax_time_s=(\S+)", lambda match: f"--max-time {written(float(match[1]), TIMES)}"),
    (
        r"\bmax_memory_bytes=(\S+)",
        lambda match: f"--max-memory {written(float(match[1]), MEMORIES)}",
    ),
    (r"\b(txop|pifs)=False", r"--no-\1"),
    (r"^places: ", "lasthop emulate FILE --places: "),
    (rf"^{DOWNLOAD}(\S+)$", lambda match: f"{command_text([curl(), '-L', match[1]])} | {CURRENT}"),
)
"""Patterns of Python arguments in hints, and the options that replace them."""

MESSAGES: tuple[tuple[str, Written], ...] = (
    (r"^uplink='([^']*)': ", r"--uplink \1: "),
    (r"^measured (?=\S+=)", "--measured "),
    (r"^objective=\"([^\"]*)\": ", r"--for \1: "),
    (r"^target=\"([^\"]*)\": ", r"--target \1: "),
)
"""Patterns of Python arguments at the beginning of messages, and the options that replace them."""


def hint_in_options(hint: str | None, command: str = "check") -> str | None:
    """Return a hint in which options replace Python arguments; `command` is the running command."""
    if hint is None:
        return None
    return _replaced(hint, HINTS).replace(CURRENT, f"lasthop {command} -")


def hint_for_list(source: str, command: str) -> str | None:
    """Return the hint for an option --set with several values, which only ``--over`` accepts; None
    for other errors.
    """
    option, _, setting = source.partition(" ")
    path, _, value = setting.partition("=")
    if option != "--set" or not LIST.fullmatch(value):
        return None
    over = command_text(["--over", f"{path}={value}"])
    return f"write `{over}`" if command == "sweep" else f"run `lasthop sweep FILE {over}`"


def message_in_options(message: str) -> str:
    """Return a message in which an option replaces the Python argument at the beginning."""
    return _replaced(message, MESSAGES)


def source_in_options(source: str, setting: str | None) -> str:
    """Return what caused a problem: the option ``--set`` if it was a setting, else the file."""
    if setting is not None and source.startswith(SETTING):
        return f"--set {source.removeprefix(SETTING)}"
    return source


def _replaced(text: str, words: tuple[tuple[str, Written], ...]) -> str:
    for pattern, option in words:
        text = re.sub(pattern, option, text)
    return text
