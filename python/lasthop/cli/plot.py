"""`lasthop plot`."""

from pathlib import Path
from typing import Annotated

import typer

from lasthop.answers.answer import Answer
from lasthop.answers.kinds import kind_named
from lasthop.answers.load import load
from lasthop.cli.options import flag, out_option, stem, unset
from lasthop.cli.picture import OUT, PLOT, changed, place, save_picture
from lasthop.errors import UserError
from lasthop.extras import need


def plot(
    saved: Annotated[
        str,
        typer.Argument(
            metavar="DIR|FILE",
            help="Directory of a saved result or sweep, or a file with the output of --json.",
        ),
    ],
    quantity: str | None = unset(
        "NAME",
        "Draw this quantity: over the swept values for a sweep, or over time for a simulation "
        "that was saved with time series.",
    ),
    series: bool = flag("--series", "Draw the saved time series of a simulation."),
    picture: str | None = PLOT,
    out: Path = out_option("The file is the picture.", OUT),
) -> None:
    """Draw a saved result again, without another run."""
    need("lasthop plot")
    answer = load(saved)
    kind = kind_named(answer.kind)
    if not (answer.has_scenario or isinstance(answer, Answer)):
        raise UserError(
            f"{saved}: the output of {kind.command} has no scenario, which its picture needs",
            f"draw it by `lasthop {kind.command} FILE --plot`",
        )
    draw = answer.plot.drawing(quantity, series=series)
    given = [("quantity", quantity), ("series", "" if series else None)]
    parts = [(name, value) for name, value in given if value is not None]
    if answer.has_scenario:
        beginning, parts = stem(answer.scenario), [*changed(answer.scenario), *parts]
    else:
        beginning = Path(saved).stem
    path = place(picture or "", f"{beginning}-{kind.command}", parts, out)
    save_picture(draw, path)
