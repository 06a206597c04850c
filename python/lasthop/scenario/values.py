"""Values of a swept setting as text: a list, a range with steps, or a range with constant ratios.

``20,50,200`` is a list. ``20..100:20`` is the range from 20 to 100 in steps of 20. The steps of
``1..8`` are 1. ``10 ms..1 s log 5`` is a range of five times with constant ratios. A list may
contain ranges.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache
from typing import NamedTuple

from lasthop import _core
from lasthop.errors import UserError

__all__ = ["MAX_VALUES", "Quantity", "Range", "in_si", "parts", "values_of"]

MAX_VALUES = 1_000_000
"""Maximum number of values in a range. A larger range is an error."""

DIGITS = 6
"""Number of significant digits of the values in a range with constant ratios."""

NUMBER = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
UNIT = r"[A-Za-zµμ]*"
QUANTITY = re.compile(rf"({NUMBER})\s*({UNIT})")
RANGE = re.compile(
    rf"(?P<low>{NUMBER}\s*{UNIT})\s*\.\.\s*(?P<high>{NUMBER}\s*{UNIT}?)"
    rf"(?:\s*:\s*(?P<step>{NUMBER}\s*{UNIT})|\s+log\s+(?P<count>\d+))?"
)
LIKE_A_RANGE = re.compile(rf"{NUMBER}\s*{UNIT}\s*\.\.")
"""Pattern of text that begins like a range. Such text is an error if it is no valid range."""

FORMS = "1..5 for whole numbers, 20..100:20 for equal steps, or 10..1000 log 5 for equal ratios"

OPENING, CLOSING = "[{", "]}"


class Quantity(NamedTuple):
    """A number with its unit, as the user wrote it."""

    number: Decimal
    unit: str
    """Unit; empty for a number without a unit."""


@dataclass(frozen=True)
class Range:
    """Ends of a range, with its step or its number of values."""

    text: str
    low: Quantity
    high: Quantity
    step: Quantity | None
    count: int | None
    """Number of values in a range with constant ratios; None in a range with steps."""


@cache
def sizes() -> dict[str, tuple[str, Decimal]]:
    """Return all units by name, each with the suffix of its SI unit in keys, and its size in the SI
    unit.
    """
    return {name: (si, Decimal(size) / parts) for name, si, size, parts in _core.units()}


def quantity(text: str) -> Quantity | None:
    """Return a number with an optional unit; None for any other text."""
    match = QUANTITY.fullmatch(text.strip())
    if match is None or (match[2] and match[2] not in sizes()):
        return None
    return Quantity(Decimal(match[1]), match[2])


def in_si(text: str) -> tuple[Decimal, str] | None:
    """Return a number in SI units, and the suffix of the SI unit in keys; None for other text."""
    result = quantity(text)
    if result is None:
        return None
    si, size = sizes()[result.unit] if result.unit else ("", Decimal(1))
    return result.number * size, si


def values_of(text: str, what: str, example: str) -> list[str]:
    """Return the values of a text, each in the notation of settings.

    Parameters
    ----------
    text : str
        Values, such as ``20,50,200``, ``20..100:20`` or ``10 ms..1 s log 5``. Commas inside braces,
        brackets and quotes do not separate values.
    what : str
        Beginning of messages, such as ``--over queue``.
    example : str
        Example that contains a table. Errors about unclosed braces show the example.

    Raises
    ------
    UserError
        If a value is empty, if a brace or quote is not closed, or if a range is not valid.
    """
    result = parts(text, what, example)
    if not all(result):
        raise UserError(f'{what}: "{text}" has an empty value', example)
    return [value for part in result for value in ranged(part, what)]


def parts(text: str, what: str, example: str, separator: str = ",") -> list[str]:
    """Split a text at separators outside braces, brackets and quotes."""
    result, open_brackets, quote = [""], 0, ""
    for sign in text:
        if quote or sign in "\"'":
            quote = "" if sign == quote else quote or sign
        elif sign in OPENING or (sign in CLOSING and open_brackets):
            open_brackets += 1 if sign in OPENING else -1
        elif sign == separator and not open_brackets:
            result.append("")
            continue
        result[-1] += sign
    if open_brackets or quote:
        missing = f"a quote {quote}" if quote else "a brace or bracket"
        raise UserError(f'{what}: {missing} is not closed in "{text}"', example)
    return [value.strip() for value in result]


def ranged(text: str, what: str) -> list[str]:
    """Return the values of a range; if the text is no range, return the text itself."""
    read = read_range(text, what)
    if read is None:
        return [text]
    return ratios(read, what) if read.count is not None else steps(read, what)


def read_range(text: str, what: str) -> Range | None:
    """Return the range in a text; None if the text does not begin like a range.

    Raises
    ------
    UserError
        If the text looks like a range, but is not valid.
    """
    if LIKE_A_RANGE.match(text) is None:
        return None
    match = RANGE.fullmatch(text)
    if match is None:
        raise UserError(f'{what}: "{text}" is not a range', f"write {FORMS}")
    low, high, step = (
        None if match[part] is None else quantity(match[part]) for part in ("low", "high", "step")
    )
    if low is None or high is None or (match["step"] is not None and step is None):
        if re.search(r"\slog\s*$", text):
            raise UserError(f'{what}: "{text}" lacks the number of values', f"write {FORMS}")
        units = ", ".join(sizes())
        raise UserError(f'{what}: "{text}" has an unknown unit', f"use one of {units}")
    unit = high.unit or low.unit
    low, high = (each._replace(unit=each.unit or unit) for each in (low, high))
    if step is not None:
        step = step._replace(unit=step.unit or unit)
    if len({dimension(each) for each in (low, high, step) if each is not None}) > 1:
        raise UserError(f'{what}: the units in "{text}" must be of one kind')
    if not plain(low, low.unit) < plain(high, low.unit):
        raise UserError(f"{what}: {match['low']} is not below {match['high']}")
    count = None if match["count"] is None else int(match["count"][:10])
    return Range(text, low, high, step, count)


def dimension(given: Quantity) -> str:
    """Return the suffix of a quantity's SI unit; empty for a number without a unit."""
    return sizes()[given.unit][0] if given.unit else ""


def plain(given: Quantity, unit: str) -> Decimal:
    """Return the number converted to another unit of the same dimension."""
    if given.unit == unit:
        return given.number
    return given.number * sizes()[given.unit][1] / sizes()[unit][1]


def steps(given: Range, what: str) -> list[str]:
    """Return the values of a range in equal steps, from the lower end to at most the upper end."""
    unit = given.low.unit
    low, high = given.low.number, plain(given.high, unit)
    if given.step is None and not (is_whole(low) and is_whole(high) and not unit):
        raise UserError(
            f"{what}: {given.text} needs a step, or a number of values", f"write {FORMS}"
        )
    step = Decimal(1) if given.step is None else plain(given.step, unit)
    if not step > 0:
        raise UserError(f"{what}: the step of {given.text} must be above 0")
    with localcontext() as context:
        context.clear_traps()
        count = (high - low) / step
    check_count(int(count) + 1 if count < MAX_VALUES else MAX_VALUES + 1, given.text, what)
    return [written(low + index * step, unit) for index in range(int(count) + 1)]


def ratios(given: Range, what: str) -> list[str]:
    """Return values with constant ratios, including both ends.

    If both ends are whole numbers without a unit, the values are rounded to whole numbers.
    """
    unit, count = given.low.unit, given.count or 0
    low, high = given.low.number, plain(given.high, unit)
    if not low > 0:
        raise UserError(f"{what}: {given.text}: a range of equal ratios must be above 0")
    if count < 2:
        raise UserError(f"{what}: {given.text}: a range of equal ratios needs at least 2 values")
    check_count(count, given.text, what)
    length = (high / low).ln()
    inner = [low * (length * index / (count - 1)).exp() for index in range(1, count - 1)]
    ends = "." not in given.text.replace("..", "") and not unit
    if ends and is_whole(low) and is_whole(high):
        inner = [value.to_integral_value() for value in inner]
        if len({low, *inner, high}) < count:
            hint = f"choose fewer values, or write {written(low, unit)}.0 for fractional values"
            raise UserError(f"{what}: {given.text} does not contain this many whole numbers", hint)
    else:
        inner = [rounded(value) for value in inner]
    return [written(value, unit) for value in (low, *inner, high)]


def check_count(count: int, text: str, what: str) -> None:
    """Raise an error if a range has more than `MAX_VALUES` values."""
    if count > MAX_VALUES:
        raise UserError(f"{what}: {text}: expected at most {MAX_VALUES:,} values")


def is_whole(number: Decimal) -> bool:
    """Return whether a number is whole."""
    return number == number.to_integral_value()


def rounded(number: Decimal) -> Decimal:
    """Return a number rounded to `DIGITS` significant digits."""
    return number.quantize(Decimal(1).scaleb(number.adjusted() - DIGITS + 1))


def written(number: Decimal, unit: str) -> str:
    """Return a number and its unit as text, without an exponent and trailing zeros."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text} {unit}".rstrip()


def twice(values: Sequence[str]) -> str | None:
    """Return the first value that occurs twice; None if all values differ."""
    seen = set[str]()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None
