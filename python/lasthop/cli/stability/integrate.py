"""`lasthop stability integrate`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lasthop.cli.options import JSON, MAX_MEMORY, MAX_TIME, flag, pairs, preset, unset
from lasthop.cli.picture import PLOT
from lasthop.cli.progress import count_bar
from lasthop.cli.stability.answers import number, unit_of
from lasthop.cli.stability.options import (
    OUT,
    PARAMETERS,
    CaseName,
    picture_path,
    read_case,
    save,
)
from lasthop.cli.tables import print_table
from lasthop.errors import UserError

if TYPE_CHECKING:
    from lasthop.stability.integrate import Trajectory

TOLERANCE = 1e-9
"""Relative error tolerance per step, with which four digits of a period agree on all processors.
[-]
"""
POINTS = 1001
"""Number of points in time in the JSON output."""


def integrate(
    name: CaseName,
    settings: list[str] | None = PARAMETERS,
    until: str = preset("100 s", "TIME", "Stop at this time."),
    start: list[str] | None = unset(
        "STATE=VALUE",
        "Start at this value of a state, such as window=20. The other states start at the "
        "equilibrium. By default only windows start elsewhere, 5 % above the equilibrium.",
    ),
    free: bool = flag("--free", "Do not limit queues and probabilities to their range."),
    out: Path | None = OUT,
    plot: str | None = PLOT,
    max_time: float = MAX_TIME,
    max_memory: float = MAX_MEMORY,
    as_json: bool = JSON,
) -> None:
    """Integrate the equations over time, from states that are constant before time 0."""
    import numpy as np

    from lasthop.stability.integrate import integrate as run
    from lasthop.stability.settling import manner

    asked = read_case(name, settings)
    case = asked.case
    given = pairs(start or [], "--start", "STATE=VALUE", "window=20")
    more = [("until", until), *given, *([("free", "yes")] if free else [])]
    path = picture_path(out, plot, asked, "integrate", *more)
    past = {state: as_number(value, f"--start {state}") for state, value in given}
    with asked.answering(max_time, max_memory), time_bar() as progress:
        trajectory = run(
            case,
            as_time(until),
            start=past or None,
            constrained=not free,
            tolerance=TOLERANCE,
            progress=progress,
        )
    if as_json:
        times = np.linspace(0.0, float(trajectory.starts[-1]), POINTS)
        states = dict(zip(case.model.states, trajectory.at(times).tolist(), strict=True))
        asked.printed(ends=manner(trajectory), time_s=times.tolist(), states=states)
    else:
        asked.introduce()
        print_trajectory(trajectory)
    save(
        lambda plot: plot.trajectory_figure(trajectory, asked.title, asked.about),
        path,
        as_json=as_json,
    )


def print_trajectory(trajectory: "Trajectory") -> None:
    """Print final range of each state variable, and whether the solution settles."""
    import numpy as np

    case, end = trajectory.case, float(trajectory.starts[-1])
    late = trajectory.at(np.linspace(0.7 * end, end, 20001))
    rows = [
        [
            state,
            number(float(rest)),
            *map(number, (row.min(), row.mean(), row.max())),
            unit_of(state),
        ]
        for state, rest, row in zip(case.model.states, case.equilibrium, late, strict=True)
    ]
    print_table(["state", "equilibrium", "minimum", "mean", "maximum", "unit"], rows)
    typer.echo(f"from {0.7 * end:g} s on: {ending(trajectory)}")


def ending(trajectory: "Trajectory") -> str:
    """Return a text on the end of the integration: equilibrium, oscillation, or still changing."""
    from lasthop.stability.settling import CYCLE, MOVING, REST, manner

    how = manner(trajectory)
    if how == REST:
        return "at equilibrium"
    period = trajectory.period()
    text = "" if period is None else f", period {number(period)} s"
    amplitude = f"±{number(trajectory.amplitude())}{text}"
    if how == CYCLE:
        return f"the window oscillates by {amplitude}"
    if how == MOVING:
        return f"the window still changes, within {amplitude}; set a longer --until to see the end"
    return f"the oscillation of the window is still {how}: {amplitude}; set a longer --until"


def as_number(text: str, what: str) -> float:
    """Return a number from text of the command line."""
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{what}={text}: expected a number") from None


def as_time(text: str) -> float:
    """Return a time from text of the command line. [s]"""
    from lasthop.stability.parameters import Number

    return Number("--until", 100.0, "s", "end of the trajectory").read(text)


@contextmanager
def time_bar() -> Iterator[Callable[[float, float], None] | None]:
    """Draw the progress of the integration."""
    with count_bar("integrating") as bar:
        if bar is None:
            yield None
        else:
            counted = bar
            yield lambda time, until: counted(int(100.0 * time / until), 100)
