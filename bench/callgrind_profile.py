"""Parse the output of callgrind: costs by function and by line, without those of called functions.

The format is described in the manual of valgrind, chapter "Callgrind Format Specification".
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

NAMED = re.compile(r"(fl|fi|fe|fn)=\((\d+)\)(?: (.*))?")
CALLED = re.compile(r"(cfi|cfl|cfn|cob|ob)=")
COSTS = re.compile(r"([+-]?\d+|\*)((?: \d+)+)$")


@dataclass
class Profile:
    """Counts of events of one run. An event is an instruction (`Ir`), a cache miss, etc."""

    functions: dict[str, Counter[str]] = field(default_factory=dict)
    """Counts of each event, by function. Inlined code belongs to the function that contains it."""
    lines: dict[str, Counter[str]] = field(default_factory=dict)
    """Counts of each event, by line of source code (`file:line`)."""

    def minus(self, other: "Profile") -> "Profile":
        """Return the counts of this run without those of another run."""
        return Profile(
            less(self.functions, other.functions),
            less(self.lines, other.lines),
        )

    @property
    def totals(self) -> Counter[str]:
        """Counts of each event in the whole run."""
        return sum(self.functions.values(), Counter())


def less(
    many: Mapping[str, Counter[str]], few: Mapping[str, Counter[str]]
) -> dict[str, Counter[str]]:
    """Return the differences of counts. Negative differences are kept."""
    differences = {name: Counter(counts) for name, counts in many.items()}
    for name, counts in few.items():
        differences.setdefault(name, Counter()).subtract(counts)
    return differences


def read_profile(lines: Iterable[str]) -> Profile:
    """Read the output file of callgrind, which must use positions by line."""
    profile, events = Profile(), []
    names: dict[tuple[str, str], str] = {}
    file, function, line, is_call = "", "", 0, False
    for text in lines:
        text = text.rstrip("\n")
        if text.startswith("events: "):
            events = text.split()[1:]
        elif named := NAMED.match(text):
            kind, number, name = named.groups()
            group = "fn" if kind == "fn" else "file"
            if name is not None:
                names[group, number] = name
            if kind == "fn":
                function = names[group, number]
            else:
                file = names[group, number]
        elif CALLED.match(text):
            note_names(text, names)
        elif text.startswith("calls="):
            is_call = True
        elif costs := COSTS.match(text):
            position, counts = costs.groups()
            line = position_after(line, position)
            if not is_call:
                counted = dict(zip(events, map(int, counts.split()), strict=False))
                profile.functions.setdefault(function, Counter()).update(counted)
                profile.lines.setdefault(f"{file}:{line}", Counter()).update(counted)
            is_call = False
    return profile


def note_names(text: str, names: dict[tuple[str, str], str]) -> None:
    """Keep the name that a line about a called function defines."""
    defined = re.match(r"(cfi|cfl|cfn)=\((\d+)\) (.*)", text)
    if defined:
        kind, number, name = defined.groups()
        names["fn" if kind == "cfn" else "file", number] = name


def position_after(line: int, position: str) -> int:
    """Return the line number of a record. Numbers with a sign, and `*`, are relative to the line of
    the record before.
    """
    if position == "*":
        return line
    return line + int(position) if position[0] in "+-" else int(position)
