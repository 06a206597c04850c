"""Columns of the swept values in tables, with numbers where possible."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lasthop.scenario.values import in_si

WHOLE = re.compile(r"[+-]?\d{1,18}")
TRUTH = {"true": True, "false": False}

RESERVED = {"name": "scenario.name", "time_s": "scenario.time_s"}
"""Swept key paths whose names belong to other columns of a table, each with the name that its
column gets instead.
"""

Value = bool | int | float | str


@dataclass(frozen=True)
class Column:
    """Column of a swept key path in a table."""

    path: str
    name: str
    """Name of the column: the key path, followed by the SI unit if the values have units, such as
    ``dumbbell.rtt_s``.
    """
    values: dict[str, Value]
    """Values in the table, by the text of the swept value."""
    unit: str = ""
    """SI unit of the numbers, as in the suffix of the column's name."""


def column(path: str, texts: Sequence[str]) -> Column:
    """Return the column of a swept key path.

    The texts are converted to integers, numbers, booleans, or quantities in SI units if all texts
    have the same type. If they have different types, the column contains the texts.

    Parameters
    ----------
    path : str
        Key path.
    texts : sequence of str
        All swept values of the key path.
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
