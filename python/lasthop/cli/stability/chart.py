"""`lasthop stability chart`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lasthop.cli.options import JSON, MAX_MEMORY, MAX_TIME, number_of
from lasthop.cli.picture import PLOT
from lasthop.cli.progress import count_bar
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

if TYPE_CHECKING:
    from lasthop.stability.chart import Chart


def chart(
    name: CaseName,
    over: Over,
    settings: list[str] | None = PARAMETERS,
    size: int = number_of(100, 2, 2000, "Use N values of each parameter."),
    out: Path | None = OUT,
    plot: str | None = PLOT,
    max_time: float = MAX_TIME,
    max_memory: float = MAX_MEMORY,
    as_json: bool = JSON,
) -> None:
    """Draw the region of two parameters in which the equilibrium is stable; give --over twice."""
    from lasthop.stability.chart import chart as find

    asked = read_case(name, settings)
    x, y = axes(asked, over, 2)
    path = picture_path(out, plot, asked, "chart", *over_parts(over))
    with asked.answering(max_time, max_memory), count_bar("chart") as progress:
        result = find(asked.case, x, y, size, progress)
    if as_json:
        asked.printed(**described(result))
    else:
        asked.introduce()
        print_chart(result)
    save(lambda plot: plot.chart_figure(result, asked.title, asked.about), path, as_json=as_json)


def print_chart(result: "Chart") -> None:
    """Print the stable fraction of the chart, and the ends of the stable region's edges."""
    x, y = result.x, result.y
    part = result.stable.mean()
    typer.echo(f"{result.case.model.name}: the equilibrium is stable on {part:.1%} of the chart")
    for curve in result.curves:
        ends = [f"{x.name} {curve.x[k]:.4g}, {y.name} {curve.y[k]:.4g}" for k in (0, -1)]
        beyond = int((~curve.boundary).sum())
        kind = "Hopf points in the unstable region"
        if curve.boundary.any():
            kind = "Hopf points, partly on the stability boundary"
        if beyond <= 2:  # All points bound the stable region, except perhaps the two ends.
            kind = "stability boundary"
        typer.echo(f"{kind}: from {ends[0]} to {ends[1]}")
    if len(result.jumps):
        typer.echo(
            f"points of the stability boundary without a Hopf point: {len(result.jumps)}; there, "
            "the slope of RED's drop function or of the window rule changes abruptly"
        )


def described(result: "Chart") -> dict[str, Any]:
    """Return a chart as an object for JSON."""

    def lists(array: Any) -> Any:
        return [[None if value != value else value for value in row] for row in array.tolist()]

    return {
        "x": {"parameter": result.x.name, "values": result.x_values.tolist()},
        "y": {"parameter": result.y.name, "values": result.y_values.tolist()},
        "rightmost_root_real": lists(result.abscissa),
        "rightmost_root_imag": lists(result.frequency),
        "hopf_curves": [
            {
                "x": curve.x.tolist(),
                "y": curve.y.tolist(),
                "frequency": curve.frequency.tolist(),
                "boundary": curve.boundary.tolist(),
            }
            for curve in result.curves
        ],
        "jumps": {"x": result.jumps[:, 0].tolist(), "y": result.jumps[:, 1].tolist()},
    }
