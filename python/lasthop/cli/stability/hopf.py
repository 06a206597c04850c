"""`lasthop stability hopf`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.cli.options import JSON, MAX_MEMORY, MAX_TIME
from lasthop.cli.picture import PLOT
from lasthop.cli.stability.answers import number, root_object
from lasthop.cli.stability.options import (
    OUT,
    PARAMETERS,
    CaseName,
    Over,
    axes,
    over_parts,
    picture_path,
    read_case,
    save,
)
from lasthop.cli.tables import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from lasthop.cli.stability.options import Asked
    from lasthop.stability.axis import Axis
    from lasthop.stability.case import Case
    from lasthop.stability.hopf import HopfPoint, Jump


def hopf(
    name: CaseName,
    over: Over,
    settings: list[str] | None = PARAMETERS,
    out: Path | None = OUT,
    plot: str | None = PLOT,
    max_time: float = MAX_TIME,
    max_memory: float = MAX_MEMORY,
    as_json: bool = JSON,
) -> None:
    """Find the values of a parameter at which the equilibrium becomes stable or unstable.

    The list also has jumps. These are values at which the slope of RED's drop function or of the
    window rule changes abruptly, so that stability changes without a Hopf point.
    """
    from lasthop.stability.hopf import HopfPoint, Jump, scan

    asked = read_case(name, settings)
    [axis] = axes(asked, over, 1)
    path = picture_path(out, plot, asked, "hopf", *over_parts(over))
    with asked.answering(max_time, max_memory):
        result = scan(asked.case, axis)
    points = [each for each in result.edges if isinstance(each, HopfPoint)]
    jumps = [each for each in result.edges if isinstance(each, Jump)]
    if as_json:
        print_object(asked, axis, points, jumps)
    else:
        print_points(asked, axis, points, jumps)
    save(lambda plot: plot.hopf_figure(result, asked.title, asked.about), path, as_json=as_json)


def print_object(
    asked: "Asked", axis: "Axis", points: "Sequence[HopfPoint]", jumps: "Sequence[Jump]"
) -> None:
    """Print Hopf points and jumps as JSON."""
    states = asked.case.model.states
    results = [
        {
            "value": point.value,
            "period_s": point.period,
            "frequency": point.frequency,
            "speed": root_object(point.speed),
            "unstable_above": point.unstable_above,
            "states": dict(zip(states, map(float, point.case.equilibrium), strict=True)),
        }
        for point in points
    ]
    corners = [{"value": each.value, "unstable_above": each.unstable_above} for each in jumps]
    asked.printed(parameter=axis.name, points=results, jumps=corners)


def print_points(
    asked: "Asked", axis: "Axis", points: "Sequence[HopfPoint]", jumps: "Sequence[Jump]"
) -> None:
    """Print Hopf points and jumps as lines and a table."""
    import numpy as np
    import typer

    from lasthop.stability.spectrum import roots

    case = asked.case
    asked.introduce()
    for jump in jumps:
        side = "above" if jump.unstable_above else "below"
        typer.echo(
            f"unstable {side} {axis.name} = {jump.value:.6g} without a Hopf point: there, the "
            "slope of RED's drop function or of the window rule changes abruptly"
        )
    values = axis.value(np.linspace(0.0, 1.0, 101))
    rest, _ = case.over(**{axis.name: values})
    for line in gaps(case, axis.name, values, np.isfinite(rest[0])):
        typer.echo(line)
    if not points and not jumps:
        place = 0.01 * float(np.median(np.flatnonzero(np.isfinite(rest[0]))))
        present = case.with_(**{axis.name: float(axis.value(round(place, 2)))})
        state = "stable" if roots(present, 2).stable else "unstable"
        typer.echo(f"no Hopf point: the equilibrium is {state} wherever it exists in the range")
        return
    if not points:
        return
    unit = case.number(axis.name).unit
    rows = [
        [
            f"{point.value:.6g}",
            number(point.period),
            number(point.speed.real),
            number(float(point.case.equilibrium[0])),
            "above" if point.unstable_above else "below",
        ]
        for point in points
    ]
    heads = [
        f"{axis.name}\n[{unit}]",
        "period\n[s]",
        f"change of real\npart per {axis.name}",
        "window\n[packets]",
    ]
    print_table([*heads, "unstable\nside"], rows)


def gaps(
    case: "Case", name: str, values: "NDArray[np.float64]", sound: "NDArray[np.bool_]"
) -> Iterator[str]:
    """Yield a line for each value at which the range changes from values with an equilibrium to
    values without, or back. The line says why there is no equilibrium.

    The printed values have an error of about a hundredth of the range."""
    from lasthop.stability.errors import NoEquilibriumError

    for k in range(len(values) - 1):
        if sound[k] == sound[k + 1]:
            continue
        side, beyond = ("above", k + 1) if sound[k] else ("below", k)
        try:
            _ = case.with_(**{name: float(values[beyond])}).equilibrium
        except NoEquilibriumError as error:
            why = str(error).partition("no equilibrium: ")[2]
            yield f"no equilibrium {side} {name} = {values[beyond]:.4g}: {why}"
