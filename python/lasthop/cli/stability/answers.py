"""Text and JSON of the numbers of the stability commands."""

import json
from typing import Any

import typer

from lasthop.answers.digits import plain

UNITS = {"window": "packets", "queue": "packets", "average": "packets", "probability": "-"}
"""Unit of each kind of state, by the first word of its name."""


def unit_of(state: str) -> str:
    """Return the unit of a state."""
    return UNITS[state.partition("_")[0]]


def number(value: float | None) -> str:
    """Return a number as text; small numbers have a power of ten."""
    if value is not None and value != 0.0 and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.3e}"
    return plain(value)


def certain(value: float, error: float) -> str:
    """Return a number as text with the digits that its error permits; `-` if no digit is
    certain.
    """
    shown = number(value)
    mantissa, _, power = shown.partition("e")
    places = len(mantissa.partition(".")[2])
    unit = float(f"1e{power or 0}")
    while places > 0 and error > 0.5 * unit * 10.0**-places:
        places -= 1
    if error > 0.5 * unit * 10.0**-places:
        return "-"
    return f"{value / unit:.{places}f}" + (f"e{power}" if power else "")


def root_object(root: complex) -> dict[str, float]:
    """Return a complex number as an object for JSON."""
    return {"real": float(root.real), "imag": float(root.imag)}


def print_json(answer: Any) -> None:
    """Print an answer as JSON."""
    typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
