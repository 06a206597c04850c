"""`lasthop stability normal-form`."""

import typer

from lasthop.cli.options import JSON, MAX_MEMORY, MAX_TIME
from lasthop.cli.stability.answers import number, root_object
from lasthop.cli.stability.options import PARAMETERS, CaseName, Over, axes, read_case
from lasthop.cli.tables import print_table


def normal_form(
    name: CaseName,
    over: Over,
    settings: list[str] | None = PARAMETERS,
    max_time: float = MAX_TIME,
    max_memory: float = MAX_MEMORY,
    as_json: bool = JSON,
) -> None:
    """Find whether the oscillation at a Hopf point is small and stable, or large and sudden.

    A Hopf point is super-critical if, beyond the point, a small stable cycle grows with the square
    root of the distance. It is sub-critical if, before the point, only disturbances inside an
    unstable cycle decay. Beyond a sub-critical point the oscillation jumps to a large amplitude.
    """
    from lasthop.stability.hopf import hopf_points_on
    from lasthop.stability.normal_form import normal_form as find

    asked = read_case(name, settings)
    [axis] = axes(asked, over, 1)
    with asked.answering(max_time, max_memory):
        forms = [find(point) for point in hopf_points_on(asked.case, axis)]
    if as_json:
        results = [
            {
                "value": form.point.value,
                "period_s": form.point.period,
                "c1": root_object(form.c1),
                "lyapunov": form.lyapunov,
                "mu2": form.mu2,
                "mu2_kappa": form.mu2_of("kappa"),
                "beta2": form.beta2,
                "supercritical": form.supercritical,
            }
            for form in forms
        ]
        asked.printed(parameter=axis.name, points=results)
        return
    asked.introduce()
    if not forms:
        typer.echo("no Hopf point in the range")
        return
    rows = [
        [
            f"{form.point.value:.6g}",
            number(form.mu2),
            number(form.mu2_of("kappa")),
            number(form.beta2),
            "super-critical" if form.supercritical else "sub-critical",
        ]
        for form in forms
    ]
    print_table([axis.name, "mu2", "mu2 of\nkappa", "beta2", "Hopf point"], rows)
