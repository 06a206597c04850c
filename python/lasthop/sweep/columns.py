"""Swept values as columns of a table, as numbers where possible."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lasthop.scenario.values import in_si

WHOLE = re.compile(r"[+-]?\d{1,18}")
TRUTH = {"true": True, "false": False}

RESERVED = {"name": "scenario.name", "time_s": "scenario.time_s"}
"""Swept paths whose names other columns already have, with the names that replace them."""

Value = bool | int | float | str


@dataclass(frozen=True)
class Column:
    """Column of a swept path in a table."""

    path: str
    name: str
    """The path, with the SI unit at its end where the values have units: ``dumbbell.rtt_s``."""
    values: dict[str, Value]
    """Value in the table for each swept value, by the text of the swept value."""
    unit: str = ""
    """SI unit of the numbers, as the suffix of the column's name."""


def column(path: str, texts: Sequence[str]) -> Column:
    """Return the column of a path.

    The values become integers, numbers, booleans, or quantities of one kind in SI units. If the
    texts are of several kinds, they stay texts.

    Parameters
    ----------
    path : str
        Key path.
    texts : sequence of str
        All swept values of the path.
    """
    name = RESERVED.get(path, path)
    if all(text in TRUTH for text in texts):
        return Column(path, name, {text: TRUTH[text] for text in texts})
    if all(WHOLE.fullmatch(text) for text in texts):
        return Column(path, name, {text: int(text) for text in texts})
    read = {text: in_si(text) for text in texts}
    units = {result[1] for result in read.values() if result is not None}
    if None in read.values() or len(units) > 1:
        return Column(path, name, {text: text for text in texts})
    [unit] = units
    numbers = {text: float(result[0]) for text, result in read.items() if result is not None}
    return Column(path, f"{name}_{unit}" if unit else name, dict(numbers), unit)
