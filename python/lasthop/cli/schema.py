"""`lasthop schema`."""

import json

import typer

from lasthop.cli.options import JSON
from lasthop.scenario import scenario


def schema(as_json: bool = JSON) -> None:
    """Print the JSON Schema of scenario files, for editors and checkers.

    The output is JSON with and without --json.
    """
    typer.echo(json.dumps(scenario.schema(), indent=2, ensure_ascii=False))
