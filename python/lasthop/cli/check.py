"""`lasthop check`."""

import json

import typer

from lasthop.cli.options import File, Json, Settings, read_scenario

__all__ = ["check"]


def check(file: File, settings: Settings = None, as_json: Json = False) -> None:
    """Check a scenario and say what is in it.

    --json prints it in normalised form, every default filled in and every group of stations and
    connections written out in SI units. This is what models and engine read, not a scenario file.
    """
    scenario = read_scenario(file, settings)
    if as_json:
        typer.echo(json.dumps(scenario.to_dict(), indent=2, ensure_ascii=False))
        return
    runs = f"{scenario['replications']} x {scenario['duration_s']:g} s"
    csma = scenario.get("csma")
    parts = (csma, ("links", "flows")) if csma else (scenario, ("stations", "flows"))
    counts = ", ".join(
        f"{len(parts[0][what])} {what if len(parts[0][what]) != 1 else what[:-1]}"
        for what in parts[1]
    )
    typer.echo(f"{scenario.source}: ok: {scenario['name']}: {counts}, {runs}")
