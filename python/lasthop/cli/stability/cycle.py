"""`lasthop stability cycle`."""

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lasthop.cli.boundary import warn
from lasthop.cli.options import JSON, MAX_MEMORY, MAX_TIME, flag, number_of
from lasthop.cli.picture import PLOT
from lasthop.cli.progress import count_bar
from lasthop.cli.stability.answers import certain
from lasthop.cli.stability.options import (
    OUT,
    PARAMETERS,
    Asked,
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
    from lasthop.stability.axis import Axis
    from lasthop.stability.branch import Branch
    from lasthop.stability.settling import Settled, Sweep

ROWS = 14
"""Maximum number of cycles in the printed table; --json prints all cycles."""


def cycle(
    name: CaseName,
    over: Over,
    settings: list[str] | None = PARAMETERS,
    count: int = number_of(
        30,
        2,
        1000,
        "Compute at most N cycles; with --constrained, use N values of the parameter.",
    ),
    constrained: bool = flag(
        "--constrained",
        "Integrate the equations at increasing, then decreasing values of the parameter, with "
        "limited queues and probabilities.",
    ),
    out: Path | None = OUT,
    plot: str | None = PLOT,
    max_time: float = MAX_TIME,
    max_memory: float = MAX_MEMORY,
    as_json: bool = JSON,
) -> None:
    """Compute the cycles from each Hopf point of a range: period, amplitude, stability, folds.

    Without --constrained, the equations are those of the analysis, in which queues and
    probabilities have no limits. The command then finds stable and unstable cycles. With
    --constrained, the equations are integrated until the solution settles, at --count values of the
    range, upwards and back. The command then finds stable cycles only, of any size.
    """
    from lasthop.stability.branch import branch
    from lasthop.stability.hopf import hopf_points_on

    asked = read_case(name, settings)
    [axis] = axes(asked, over, 1, of_rest=not constrained)
    kind = "motions" if constrained else "cycle"
    path = picture_path(out, plot, asked, kind, *over_parts(over))
    if constrained:
        with asked.answering(max_time, max_memory):
            follow_motions(asked, axis, count, path, as_json)
        return
    branches = []
    with asked.answering(max_time, max_memory):
        for point in hopf_points_on(asked.case, axis):
            with count_bar("cycles") as progress:
                branches.append(branch(point, axis.low, axis.high, cycles=count, progress=progress))
    if as_json:
        asked.printed(parameter=axis.name, branches=[described(each) for each in branches])
    else:
        asked.introduce()
        for each in branches:
            print_branch(each)
        if not branches:
            typer.echo("no Hopf point in the range")
    if path is not None and not branches:
        warn(f"{path}: not drawn: the range has no Hopf point")
        return

    title, about = asked.title, asked.about
    save(lambda draw: draw.branch_figure(branches, title, about), path, as_json=as_json)


def follow_motions(
    asked: Asked, axis: "Axis", count: int, path: Path | None, as_json: bool
) -> None:
    """Integrate with limited queues and probabilities over a range; print and draw the final
    states.
    """
    from lasthop.stability.settling import sweep

    with count_bar("motions") as progress:
        result = sweep(asked.case, axis, count, progress)
    if as_json:
        asked.printed(**described_sweep(result))
    else:
        asked.introduce()
        print_sweep(result)
    save(lambda plot: plot.sweep_figure(result, asked.title, asked.about), path, as_json=as_json)


def print_sweep(sweep: "Sweep") -> None:
    """Print the final state of the integration at each value of the varied parameter."""
    states = sweep.case.model.states
    queue = next((name for name in states if name.startswith("queue")), None)
    rows = []
    for value, up, down in zip(sweep.values, sweep.up, sweep.down, strict=True):
        row = [f"{value:.6g}", amplitude_text(up), amplitude_text(down)]
        row.append("-" if down is None or down.period is None else to_error(down.period, down))
        if queue is not None:
            row += ["-"] * 3 if down is None else room(down, queue)
        rows.append(row)
    heads = [
        sweep.parameter,
        "amplitude\nupwards\n[packets]",
        "amplitude\ndownwards\n[packets]",
        "period\n[s]",
    ]
    if queue is not None:
        heads += ["minimum\nqueue\n[packets]", "maximum\nqueue\n[packets]", "queue\nempty\n[%]"]
    print_table(heads, rows)
    if sweep.differ:
        low, high = sweep.differ[0], sweep.differ[-1]
        span = f"from {sweep.parameter} = {low:.6g} to {high:.6g}"
        typer.echo(f"both equilibrium and oscillation are possible {span}")
    lost = sum(each is None for each in (*sweep.up, *sweep.down))
    if lost:
        runs = "1 integration has" if lost == 1 else f"{lost} integrations have"
        typer.echo(f"-: {runs} reached neither an equilibrium nor a periodic oscillation in time")


def amplitude_text(end: "Settled | None") -> str:
    """Return the amplitude of the window's final oscillation as text."""
    return "-" if end is None else to_error(end.amplitude, end)


def room(end: "Settled", queue: str) -> list[str]:
    """Return minimum and maximum of a queue and the percentage of time in which it is empty, as
    texts.
    """
    least, most = end.ends_of(queue)
    empty = 100.0 * end.part_at(queue, 0.0)
    return [to_error(least, end, most - least), to_error(most, end, most - least), f"{empty:.0f}"]


def to_error(value: float, end: "Settled", amplitude: float | None = None) -> str:
    """Return a number as text with its certain digits. The error is a fraction of the number, or of
    `amplitude` if given.
    """
    return certain(value, end.error * abs(value if amplitude is None else amplitude))


def described_sweep(swept: "Sweep") -> dict[str, Any]:
    """Return the final states of the integrations as an object for JSON."""

    def described(end: "Settled | None") -> dict[str, Any] | None:
        if end is None:
            return None
        means = end.states().mean(axis=1)
        states = {}
        for name, mean in zip(end.case.model.states, means, strict=True):
            least, most = end.ends_of(name)
            states[name] = {"least": least, "mean": float(mean), "most": most}
        return {
            "swing_packets": end.amplitude,
            "period_s": end.period,
            "relative_error": end.error,
            "states": states,
        }

    return {
        "parameter": swept.parameter,
        "motions": [
            {"value": float(value), "up": described(up), "down": described(down)}
            for value, up, down in zip(swept.values, swept.up, swept.down, strict=True)
        ],
    }


def print_branch(branch: "Branch") -> None:
    """Print the cycles of a branch, its folds (turning points), and the reason why the branch
    ends.
    """
    kind = "super" if branch.form.supercritical else "sub"
    point = f"{branch.parameter} = {branch.form.point.value:.6g}"
    typer.echo(f"{kind}-critical Hopf point at {point}\n")
    every = max(1, -(-len(branch.cycles) // ROWS))
    rows = [
        [
            f"{value:.6g}",
            certain(cycle.amplitude, cycle.swing_error * cycle.amplitude),
            certain(cycle.period, cycle.period_error * cycle.period),
            certain(float(abs(cycle.others[0])), cycle.multiplier_error) if cycle.resolved else "-",
            {True: "stable", False: "unstable", None: "unknown"}[cycle.stable],
            cycle.leaves or "-",
        ]
        for value, cycle in list(zip(branch.values, branch.cycles, strict=True))[::every]
    ]
    heads = [
        branch.parameter,
        "amplitude\n[packets]",
        "period\n[s]",
        "largest\nFloquet\nmultiplier",
        "cycle",
    ]
    print_table([*heads, "out of range"], rows)
    if every > 1:
        typer.echo(f"{len(rows)} of {len(branch.cycles)} cycles; --json prints all of them")
    for fold in branch.folds:
        typer.echo(f"fold near {branch.parameter} = {branch.values[fold]:.6g}")
    if branch.ended.startswith("it is followed"):
        last = f"{branch.parameter} = {branch.values[-1]:.6g}"
        typer.echo(f"the branch continues beyond {last}: --count {len(branch.cycles)} is reached")
    else:
        typer.echo(f"the branch ends: {branch.ended}")
    unknown = sum(cycle.stable is None for cycle in branch.cycles)
    if unknown:
        warn(
            f"the stability of {unknown} of {len(branch.cycles)} cycles is unknown, because they "
            "change too fast for the finest mesh or are too close to a fold"
        )
    rough = sum(not cycle.accurate for cycle in branch.cycles)
    if rough:
        warn(
            f"{rough} of {len(branch.cycles)} cycles have a relative error above 1e-5, even with "
            "the finest mesh; only correct digits are printed, or -; --json prints the errors"
        )
    wrong = [value for value, each in zip(branch.values, branch.cycles, strict=True) if each.leaves]
    if wrong:
        warn(
            f"cycles from {branch.parameter} = {min(wrong):.6g} to {max(wrong):.6g} leave the "
            f"range of a queue; add --constrained to limit queues and probabilities"
        )


def known(error: float) -> float | None:
    """Return the error of a computed value; None for infinity, which JSON does not support."""
    return error if isfinite(error) else None


def described(branch: "Branch") -> dict[str, Any]:
    """Return a branch of cycles as an object for JSON."""
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
                "relative_error": {
                    "swing": known(cycle.swing_error),
                    "period": known(cycle.period_error),
                },
                "largest_multiplier": (float(abs(cycle.others[0])) if cycle.resolved else None),
                "stable": cycle.stable,
                "out_of_range": cycle.leaves,
            }
            for value, cycle in zip(branch.values, branch.cycles, strict=True)
        ],
    }
