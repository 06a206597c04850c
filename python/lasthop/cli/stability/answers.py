"""Numbers of the stability commands as text and JSON."""

import json
from typing import Any

import typer

from lasthop.answers.digits import plain

UNITS = {"window": "packets", "queue": "packets", "average": "packets", "probability": "-"}
"""Units of the state variables of fluid models, by the first word of the variable's name."""


def unit_of(state: str) -> str:
    """Return the unit of a state variable of a fluid model."""
    return UNITS[state.partition("_")[0]]


def number(value: float | None) -> str:
    """Return a number as text, in scientific notation if it is very small or very large."""
    if value is not None and value != 0.0 and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.3e}"
    return plain(value)


def certain(value: float, error: float) -> str:
    """Return a number as text, without the digits that its error makes uncertain; `-` if none is
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
    """Return a complex number as an object with the keys ``real`` and ``imag``."""
    return {"real": float(root.real), "imag": float(root.imag)}


def print_json(answer: Any) -> None:
    """Print a result as JSON."""
    typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
