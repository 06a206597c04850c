"""`lasthop stability cycle`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lasthop.cli.options import Json
from lasthop.cli.progress import count_bar
from lasthop.cli.stability.options import (
    CaseName,
    Over,
    Parameters,
    Picture,
    axes,
    read_case,
    save,
)

if TYPE_CHECKING:
    from lasthop.stability.branch import Branch

__all__ = ["cycle"]

ROWS = 14
"""Cycles of the printed table; --json has all."""


def cycle(
    name: CaseName,
    over: Over,
    settings: Parameters = None,
    count: Annotated[
        int, typer.Option(metavar="N", min=2, max=1000, help="Most cycles to compute.")
    ] = 30,
    out: Picture = None,
    as_json: Json = False,
) -> None:
    """Follow the cycles born at each Hopf point of a range: period, swing, stability, folds.

    Cycles of the equations as the analysis has them, without floor of the queue and without limits
    of probabilities; `integrate` has both.
    """
    from lasthop.cli.stability.answers import print_json
    from lasthop.stability.branch import branch
    from lasthop.stability.hopf import hopf_points

    case = read_case(name, settings)
    [axis] = axes(case, over, 1)
    branches = []
    for point in hopf_points(case, axis.name, axis.low, axis.high):
        with count_bar("cycles") as progress:
            branches.append(branch(point, axis.low, axis.high, cycles=count, progress=progress))
    if as_json:
        print_json(
            {
                "model": case.model.name,
                "parameter": axis.name,
                "branches": [described(each) for each in branches],
            }
        )
        return
    if not branches:
        typer.echo("no Hopf point in the range")
        return
    for each in branches:
        print_branch(each)
    if out is not None:
        from lasthop.plot.stability import branch_figure

        save(branch_figure(branches), out)


def print_branch(branch: "Branch") -> None:
    """Print some cycles of a branch, its folds, and why it ends."""
    from lasthop.cli.stability.answers import number
    from lasthop.cli.tables import print_table

    kind = "super" if branch.form.supercritical else "sub"
    typer.echo(f"{kind}-critical at {branch.parameter} = {branch.form.point.value:.6g}\n")
    every = max(1, -(-len(branch.cycles) // ROWS))
    rows = [
        [
            f"{value:.6g}",
            number(cycle.amplitude),
            number(cycle.period),
            number(float(abs(cycle.others[0]))),
            "stable" if cycle.stable else "unstable",
        ]
        for value, cycle in list(zip(branch.values, branch.cycles, strict=True))[::every]
    ]
    heads = [branch.parameter, "swing\n[packets]", "period\n[s]", "largest\nmultiplier", "cycle"]
    print_table(heads, rows)
    for fold in branch.folds:
        typer.echo(f"fold near {branch.parameter} = {branch.values[fold]:.6g}")
    typer.echo(f"the branch ends: {branch.ended}")


def described(branch: "Branch") -> dict[str, Any]:
    """Return a branch as an object."""
    return {
        "hopf": branch.form.point.value,
        "supercritical": branch.form.supercritical,
        "ended": branch.ended,
        "folds": [float(branch.values[fold]) for fold in branch.folds],
        "cycles": [
            {
                "value": float(value),
                "swing_packets": cycle.amplitude,
                "period_s": cycle.period,
                "largest_multiplier": float(abs(cycle.others[0])),
                "stable": cycle.stable,
            }
            for value, cycle in zip(branch.values, branch.cycles, strict=True)
        ],
    }
