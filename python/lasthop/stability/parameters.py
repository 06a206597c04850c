"""Parameters of the fluid models: name, unit, range, and conversion of a given value."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

from lasthop.stability.errors import ParameterError
from lasthop.stability.windows import RULES, WindowRule

LONGEST = 40
"""Largest number of characters of an invalid value in an error message. A longer value is
shortened.
"""
TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
TIME = re.compile(r"(.*?[\d.])\s*(s|ms|us)")


@dataclass(frozen=True)
class Number:
    """A parameter whose value is a number.

    Parameters
    ----------
    name : str
        Name of the parameter.
    default : float
        Default value.
    unit : str
        Unit, ``"-"`` for none.
    meaning : str
        Meaning of the parameter, in words.
    low, high : float
        Ends of the range. The range excludes `low` unless `closed`.
    closed : bool
        Whether `low` is included in the range.
    plain_above : float or None
        Largest value with a special meaning, such as 0 for "no effect"; None if no value has a
        special meaning. If the parameter is varied along an axis, all values must be larger than
        this value.
    """

    name: str
    default: float
    unit: str
    meaning: str
    low: float = 0.0
    high: float = inf
    closed: bool = False
    plain_above: float | None = None

    def read(self, value: Any) -> float:
        """Return a value as a number in the unit of the parameter. A time that is given as text
        must have a unit.
        """
        try:
            number = seconds(value) if self.unit == "s" else float(value)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(f"`{self.name}`: {shown(value)} is not {self.kind}") from None
        above = number >= self.low if self.closed else number > self.low
        if not isfinite(number) or not above or number > self.high:
            raise ParameterError(f"`{self.name}`: {value} is not {self.kind} {self.range}")
        return number

    @property
    def kind(self) -> str:
        """Type of the value, as text for messages."""
        return 'a time such as "200 ms"' if self.unit == "s" else "a number"

    @property
    def range(self) -> str:
        """Range of the value, as text for messages."""
        start = f"from {self.low:g}" if self.closed else f"above {self.low:g}"
        return start if self.high == inf else f"{start} to {self.high:g}"


def switched(name: str, unit: str, meaning: str, *, low: float = 0.0, high: float = inf) -> Number:
    """Return a parameter whose default value 0 means that the parameter has no effect."""
    return Number(name, 0.0, unit, meaning, low, high, closed=True, plain_above=0.0)


@dataclass(frozen=True)
class Choice:
    """A parameter whose value is one of several keywords."""

    name: str
    default: str
    allowed: tuple[str, ...]
    meaning: str
    unit: str = "-"

    def read(self, value: Any) -> Any:
        """Return the keyword. For the parameter of the window rule, a `WindowRule` is also
        accepted.
        """
        if self.name == "tcp" and isinstance(value, WindowRule):
            value.need_series()
            return value
        if not isinstance(value, str) or value not in self.allowed:
            allowed = ", ".join(self.allowed)
            raise ParameterError(f"`{self.name}`: {value!r} is not allowed", f"one of {allowed}")
        return value

    @property
    def range(self) -> str:
        """Accepted keywords, as text for messages."""
        return ", ".join(self.allowed)


Parameter = Number | Choice


def seconds(value: Any) -> float:
    """Return a time given as a number [s] or as text with its unit.

    Raises
    ------
    ValueError
        If the value is neither a number nor a time with its unit.
    """
    if not isinstance(value, str):
        return float(value)
    match = TIME.fullmatch(value.strip())
    if match is None:
        raise ValueError(value)
    return float(match[1]) * TIME_UNITS[match[2]]


COMPOUND: tuple[Parameter, ...] = (
    Choice("tcp", "compound", tuple(RULES), "window rule"),
    Number("alpha", 0.125, "-", "Compound's growth"),
    Number("k", 0.75, "-", "Compound's exponent", closed=True, high=1.999),
    Number("beta", 0.5, "-", "Compound's part of the window given up with a loss", high=1.0),
    Number(
        "least_window",
        0.0,
        "packets",
        "window at which it stops to shrink where constraints count, 1 for a real sender",
        closed=True,
    ),
    switched(
        "most_window",
        "packets",
        "window at which it stops to grow, the receive window of a real sender; 0: no limit",
    ),
    Number(
        "least_rest",
        0.0,
        "packets",
        "least window of an equilibrium; a smaller one is refused",
        closed=True,
    ),
)
"""Parameters of the window: the window rule, and the parameters of Compound TCP (paper 004, section
II-A).
"""

KAPPA = Number("kappa", 1.0, "-", "factor of all rates, the bifurcation parameter of eq. (19)")


def shown(value: Any) -> str:
    """Return a value as text, shortened to fit into a line."""
    try:
        text = " ".join(str(value).split())
    except ValueError:  # an integer with too many digits to print
        return "a number of thousands of digits"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def checked(parameters: tuple[Parameter, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all parameters after checks, with defaults for missing values.

    Raises
    ------
    ParameterError
        If a name is unknown or a value is not accepted.
    """
    names = [each.name for each in parameters]
    for name in given:
        if name not in names:
            raise unknown(name, names)
    return {each.name: each.read(given.get(each.name, each.default)) for each in parameters}


def unknown(name: str, names: list[str]) -> ParameterError:
    """Return the error about a parameter that the model does not have."""
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    return ParameterError(f"`{name}`: the model has no such parameter", hint)


def renamed(parameter: Number, name: str, meaning: str, default: float | None = None) -> Number:
    """Return a copy of a parameter with another name and meaning."""
    value = parameter.default if default is None else default
    return replace(parameter, name=name, meaning=meaning, default=value)
