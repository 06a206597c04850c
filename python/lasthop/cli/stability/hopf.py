"""`lasthop stability hopf`."""

from lasthop.cli.options import Json
from lasthop.cli.stability.options import CaseName, Over, Parameters, axes, read_case

__all__ = ["hopf"]


def hopf(name: CaseName, over: Over, settings: Parameters = None, as_json: Json = False) -> None:
    """Find the values of a parameter at which the point of rest begins or ceases to be stable."""
    import typer

    from lasthop.cli.stability.answers import number, root_object
    from lasthop.cli.tables import print_table
    from lasthop.stability.hopf import hopf_points
    from lasthop.stability.spectrum import roots

    asked = read_case(name, settings)
    case = asked.case
    [axis] = axes(case, over, 1)
    points = hopf_points(case, axis.name, axis.low, axis.high)
    if as_json:
        found = [
            {
                "value": point.value,
                "period_s": point.period,
                "frequency": point.frequency,
                "speed": root_object(point.speed),
                "unstable_above": point.unstable_above,
                "states": dict(
                    zip(case.model.states, map(float, point.case.equilibrium), strict=True)
                ),
            }
            for point in points
        ]
        asked.printed({"model": case.model.name, "parameter": axis.name, "points": found})
        return
    asked.introduce()
    if not points:
        middle = case.with_(**{axis.name: float(axis.value(0.5))})
        state = "stable" if roots(middle, 2).stable else "unstable"
        typer.echo(f"no Hopf point: {state} over the whole range, where there is an equilibrium")
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
        "root's speed\nto the right",
        "window\n[packets]",
    ]
    print_table([*heads, "unstable"], rows)
