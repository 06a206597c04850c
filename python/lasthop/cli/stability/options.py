"""Arguments and options that the stability commands share."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lasthop.cli.options import file_name, pairs, writable_file
from lasthop.errors import UserError

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure
    from lasthop.stability.case import Case
    from lasthop.stability.curve import Axis

__all__ = ["CaseName", "Over", "Parameters", "Picture", "axes", "picture", "read_case", "save"]

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


PICTURES = (".png", ".pdf", ".svg")


def picture(text: object) -> Path:
    """The value of an option that names a picture."""
    path = file_name(text)
    if path.suffix not in PICTURES:
        raise typer.BadParameter(f"{path}: the name must end in {', '.join(PICTURES)}")
    return writable_file(path, "--out")


Picture = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        parser=picture,
        help="Write a picture, PNG, PDF or SVG.",
        show_default=False,
    ),
]


def save(figure: "Figure", path: Path) -> None:
    """Write a picture, and say so."""
    from lasthop.saving import write_atomically

    write_atomically(path, lambda file: figure.savefig(file, format=path.suffix[1:]))
    typer.echo(f"picture: {path}")


def read_case(name: str, settings: list[str] | None) -> "Case":
    """Return the case that a command names."""
    # Before numpy: the matrices are small, and threads would mostly wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
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
