"""`lasthop summary`."""

import sys

import typer

from lasthop.cli.options import File, Json, Replications, Seed, Settings, read_scenario
from lasthop.cli.picture import Plot, changed, picture_path, save_picture
from lasthop.simulation.simulate import simulate
from lasthop.summary import Summary


def summary(
    file: File,
    replications: Replications = None,
    seed: Seed = None,
    settings: Settings = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Simulate a scenario and print the goodput of each station."""
    scenario = read_scenario(file, settings, replications=replications, seed=seed)
    picture = picture_path(plot, scenario, "summary", changed(scenario))
    answer = Summary.of(simulate(scenario))
    if as_json:
        sys.stdout.write(answer.to_json())
    else:
        typer.echo(repr(answer))
    save_picture(answer.plot, picture, as_json=as_json)
