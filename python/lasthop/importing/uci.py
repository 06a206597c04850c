"""OpenWrt's configuration files in the UCI format: sections with options and lists.

::

    config wifi-device 'radio0'
            option channel '11'
            list ht_capab 'SHORT-GI-40'

The output of ``uci show wireless`` has one option per line, such as
``wireless.radio0.channel='11'``. This form is supported, too. References: OpenWrt's "The UCI
system".
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lasthop.errors import UserError
from lasthop.importing.text import read_lines

__all__ = ["Section", "hint_of", "read"]

TRUE = {"1", "on", "true", "yes", "enabled"}
FALSE = {"0", "off", "false", "no", "disabled"}

SHOWN = re.compile(r"[\w-]+\.(@?[\w-]+(?:\[-?\d+\])?)(?:\.([\w-]+))?=(.*)")


@dataclass
class Section:
    """A section of a configuration file, or a whole file without sections.

    Attributes
    ----------
    path : Path
        Path of the file.
    kind, name : str
        ``wifi-device`` and ``radio0``; a section without a name is ``@wifi-iface[0]``. Both are
        empty for a file without sections.
    options : dict
        Value of each option, by name. The values of a list are separated by spaces.
    lines : dict
        Line number of each option, by name.
    """

    path: Path
    kind: str = ""
    name: str = ""
    options: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def put(self, name: str, value: str, line: int, *, listed: bool = False) -> None:
        """Set the value of an option; if `listed`, append the value."""
        before = self.options.get(name) if listed else None
        self.options[name] = value if before is None else f"{before} {value}"
        self.lines[name] = line

    def text(self, name: str, default: str = "") -> str:
        """Return the value of an option as text."""
        return self.options.get(name, default)

    def word(self, name: str, default: str = "") -> str:
        """Return the value of an option in lower case."""
        return self.text(name, default).lower()

    def wrong(self, name: str, why: str) -> UserError:
        """Return an error about the value of an option."""
        key = f"{self.name}.{name}" if self.name else name
        return UserError(f"{self.path}:{self.lines[name]}: `{key}`: {why}")

    def switch(self, name: str, *, default: bool = True) -> bool:
        """Return the boolean value of an option; the default if the option is absent."""
        text = self.word(name)
        if text and text not in TRUE | FALSE:
            raise self.wrong(name, f'"{text[:20]}" is neither 0 nor 1')
        return text in TRUE if text else default

    def number(self, name: str, least: int, most: int) -> int | None:
        """Return the whole number of an option; None if it is absent. In UCI an empty value counts
        as absent."""
        text = self.options.get(name)
        if text is None or (self.kind and not text):
            return None
        if not re.fullmatch(r"-?\d{1,9}", text) or not least <= int(text) <= most:
            why = f'"{text[:20]}" is not a whole number from {least} to {most}'
            raise self.wrong(name, why)
        return int(text)

    def numbers(self, name: str, digits: int, unit: str) -> list[int]:
        """Return a list of rates from an option, each with at most `digits` digits."""
        text = self.options.get(name)
        if text is None or (self.kind and not text):
            return []
        word = rf"\d{{1,{digits}}}"
        if not re.fullmatch(rf"{word}(\s+{word})*", text):
            raise self.wrong(name, f'"{text[:40]}" is not a list of rates in {unit}')
        return [int(word) for word in text.split()]


def read(path: Path, what: str) -> list[Section]:
    """Return the sections of a file in the order of the file.

    Parameters
    ----------
    path : Path
        Path of the configuration file.
    what : str
        Expected kind of file, for the error message: ``"/etc/config/wireless"``.
    """
    lines = [(number, line.strip()) for number, line in enumerate(read_lines(path, what), 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    if lines and all(SHOWN.fullmatch(line) for _, line in lines):
        package = what.rpartition("/")[2]
        own = [(number, line) for number, line in lines if line.startswith(f"{package}.")]
        return list(_shown(path, own or lines))
    return list(_sections(path, lines, what))


OPENWRT = {
    "wireless": (r"config\s+wifi-|wireless\.", "use `lasthop import openwrt {}`"),
    "sqm": (
        r"config\s+queue\b|sqm\.",
        "use `lasthop import openwrt WIRELESS --sqm {}`, where WIRELESS is /etc/config/wireless",
    ),
}
"""Configuration files of OpenWrt: pattern of a typical line, and the command that reads the
file."""


def hint_of(path: Path, lines: Iterable[str]) -> str | None:
    """Return a hint if the lines belong to a file of OpenWrt that another command reads; else
    None.
    """
    for name, (begin, command) in OPENWRT.items():
        if any(re.match(begin, line.strip()) for line in lines):
            return f"it is /etc/config/{name} of OpenWrt: {command.format(path)}"
    return None


def _sections(path: Path, lines: list[tuple[int, str]], what: str) -> Iterator[Section]:
    sections: dict[str, Section] = {}
    unnamed = Counter[str]()
    section: Section | None = None
    for number, line in lines:
        words = _words(path, number, line)
        match words:
            case ["package", _]:
                continue
            case ["config", kind, *name] if len(name) < 2:
                called = name[0] if name and name[0] else f"@{kind}[{unnamed[kind]}]"
                unnamed[kind] += called.startswith("@")
                section = sections.get(called)
                if section is None or section.kind != kind:  # A file may repeat a section.
                    section = sections[called] = Section(path, kind, called)
            case ["option" | "list" as form, name, value] if section is not None:
                section.put(name, value, number, listed=form == "list")
            case ["option", _] if section is not None:
                continue  # The value was removed before the file was shared.
            case _:
                raise UserError(
                    f'{path}:{number}: "{words[0][:20]} ..." is no line of {what}: '
                    "expected config TYPE 'NAME', option NAME 'VALUE' and list NAME 'VALUE'",
                    f"for hostapd.conf use `lasthop import hostapd {path}`"
                    if re.match(r"[a-z]\w*=", line)
                    else None,
                )
    if section is None:
        raise UserError(f"{path}: no line config TYPE 'NAME': not {what}")
    yield from sections.values()


def _words(path: Path, number: int, line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True) or [""]
    except ValueError:
        raise UserError(f"{path}:{number}: a quote without its end") from None


def _shown(path: Path, lines: list[tuple[int, str]]) -> Iterator[Section]:
    sections: dict[str, Section] = {}
    for number, line in lines:
        match = SHOWN.fullmatch(line)
        assert match is not None, "the caller has matched all lines"
        name, option, shown = match.groups()
        value = " ".join(_words(path, number, shown))
        if option is None:
            sections[name] = Section(path, value, name)
        elif name in sections:
            sections[name].put(option, value, number)
        else:
            raise UserError(f"{path}:{number}: `{name}`: no line gives its type")
    yield from sections.values()
