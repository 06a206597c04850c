"""`lasthop schema`."""

import json

import typer

from lasthop import scenario
from lasthop.cli.options import Json


def schema(as_json: Json = False) -> None:
    """Print the JSON Schema of scenario files, for editors and checkers.

    The output is JSON with and without --json.
    """
    typer.echo(json.dumps(scenario.schema(), indent=2, ensure_ascii=False))
