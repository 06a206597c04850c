"""`lasthop schema`."""

import json

import typer

from lasthop import scenario
from lasthop.cli.options import Json


def schema(as_json: Json = False) -> None:
    """Print the JSON Schema of scenario files, for editors and checkers.

    It is JSON with or without --json, which every command takes.
    """
    typer.echo(json.dumps(scenario.schema(), indent=2, ensure_ascii=False))
