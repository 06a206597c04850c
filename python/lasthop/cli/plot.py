"""`lasthop plot`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lasthop.answers.answer import Answer
from lasthop.answers.load import load
from lasthop.cli.options import OUT_RULE, file_name, stem, unset
from lasthop.cli.picture import OUT, Plot, changed, place, save_picture
from lasthop.comparison.compare import Comparison
from lasthop.errors import UserError
from lasthop.extras import need
from lasthop.simulation.result import Result
from lasthop.sweep import Sweep
from lasthop.whatif.what_if import WhatIf

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

COMMANDS = {"simulation": "simulate", "prediction": "predict", "emulation": "emulate"}
"""Commands by the ``kind`` of the answer that they print. Pictures are named after them."""


def plot(
    saved: Annotated[
        str,
        typer.Argument(
            metavar="DIR|FILE",
            help="Directory of a saved result or sweep, or a file with the output of --json.",
        ),
    ],
    quantity: Annotated[
        str | None,
        unset(
            "NAME",
            "Draw this quantity: of a sweep over its values, of a simulation over time if the "
            "result has time series.",
        ),
    ] = None,
    series: Annotated[
        bool, typer.Option("--series", help="Draw the saved time series of a simulation.")
    ] = False,
    picture: Plot = None,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", parser=file_name, help=f"{OUT_RULE} The file is the picture."),
    ] = OUT,
) -> None:
    """Draw a saved result again, without another run."""
    need("lasthop plot", "matplotlib")
    answer = load(saved)
    if isinstance(answer, Comparison):
        raise UserError(
            f"{saved}: the output of compare has no scenario, which its picture needs",
            "draw it by `lasthop compare FILE --plot`",
        )
    draw = drawing(answer, quantity, series=series)
    given = [("quantity", quantity), ("series", "" if series else None)]
    parts = [(name, value) for name, value in given if value is not None]
    if isinstance(answer, Sweep | WhatIf) or answer.has_scenario:
        beginning, parts = stem(answer.scenario), [*changed(answer.scenario), *parts]
    else:
        beginning = Path(saved).stem
    path = place(picture or "", f"{beginning}-{command_of(answer)}", parts, out)
    save_picture(draw, path)


def command_of(answer: Sweep | WhatIf | Answer) -> str:
    """Return the name of the command that printed or saved an answer."""
    if isinstance(answer, Sweep):
        return "sweep"
    if isinstance(answer, WhatIf):
        return "what-if"
    return COMMANDS[answer.summary["kind"]]


def drawing(
    answer: Sweep | WhatIf | Answer, quantity: str | None, *, series: bool
) -> "Callable[[], Figure]":
    """Return the function that draws the requested picture of an answer.

    Raises
    ------
    UserError
        The answer has no such picture.
    """
    if isinstance(answer, Sweep) and not series:
        return lambda: answer.plot(quantity)
    if isinstance(answer, Result) and (series or quantity is not None):
        return lambda: answer.plot.series(quantity)
    if series or quantity is not None:
        option = "--series" if series else f"--quantity {quantity}"
        raise UserError(
            f"{option}: the answer has one picture only, since it is a {command_of(answer)} answer",
            "omit the option",
        )
    return lambda: answer.plot()
