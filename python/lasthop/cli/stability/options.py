"""Arguments and options that the stability commands share."""

from typing import TYPE_CHECKING, Annotated

import typer

from lasthop.cli.options import pairs
from lasthop.errors import UserError

if TYPE_CHECKING:
    from lasthop.stability.case import Case
    from lasthop.stability.curve import Axis

__all__ = ["CaseName", "Over", "Parameters", "axes", "read_case"]

CaseName = Annotated[
    str,
    typer.Argument(metavar="CASE", help="A model or a paper's case; `models` lists both."),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help='Set a parameter, such as rtt="200 ms".'),
]
Over = Annotated[
    list[str],
    typer.Option(
        "--over", metavar="NAME=LOW..HIGH", help="Vary a parameter, such as rtt=10ms..1s."
    ),
]


def read_case(name: str, settings: list[str] | None) -> "Case":
    """Return the case that a command names."""
    from lasthop.stability.presets import named

    return named(name, dict(pairs(settings or [], "--set", "NAME=VALUE", 'rtt="200 ms"')))


def axes(case: "Case", over: list[str], count: int) -> list["Axis"]:
    """Return the parameters to vary, of which there must be `count`."""
    from lasthop.stability.curve import Axis

    found = []
    for name, span in pairs(over, "--over", "NAME=LOW..HIGH", "rtt=10ms..1s"):
        number = case.number(name)
        ends = span.split("..")
        if len(ends) != 2:
            raise UserError(f"--over {name}={span}: LOW..HIGH is needed", "--over rtt=10ms..1s")
        low, high = (number.read(end) for end in ends)
        if not low < high:
            raise UserError(f"--over {name}={span}: {ends[0]} is not below {ends[1]}")
        found.append(Axis(name, low, high))
    if len(found) != count:
        times = "once" if count == 1 else "twice"
        raise UserError(f"--over is needed {times}, not {len(found)} times")
    return found
