"""All commands under one name."""

from typing import Annotated

import typer

from lasthop import __version__
from lasthop.cli.check import check
from lasthop.cli.compare import compare
from lasthop.cli.predict import predict
from lasthop.cli.reproduce import reproduce
from lasthop.cli.schema import schema
from lasthop.cli.simulate import simulate
from lasthop.cli.sweep import sweep

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Who gets what on a WiFi hot-spot, and why: predicted, and simulated packet by packet.",
    pretty_exceptions_enable=False,
)
for each in (schema, check, predict, simulate, compare, sweep, reproduce):
    app.command()(each)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Options of `lasthop` itself."""
    if version:
        typer.echo(f"lasthop {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
