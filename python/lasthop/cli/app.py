"""All commands under one name."""

import re
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from lasthop import __version__
from lasthop.cli.check import check
from lasthop.cli.compare import compare
from lasthop.cli.emulate import emulate
from lasthop.cli.gateway import COMMANDS as GATEWAY
from lasthop.cli.predict import predict
from lasthop.cli.reproduce import reproduce
from lasthop.cli.schema import schema
from lasthop.cli.simulate import simulate
from lasthop.cli.stability import COMMANDS as STABILITY
from lasthop.cli.sweep import sweep
from lasthop.cli.tune import tune

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Who gets what on a WiFi hot-spot, and why: predicted, and simulated packet by packet.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # Plain text: no boxes, no types beside flags.
)


class Command(TyperCommand):
    """A command whose help names arguments by their metavar alone."""

    def get_help(self, ctx: Any) -> str:
        """Help without Python's types (``FILE <str>``) and braces around what is required."""
        return re.sub(r" <\S+>|[{}]", "", super().get_help(ctx))


COMMANDS: dict[Callable[..., None], str] = {
    schema: "Print the JSON Schema of scenario files.",
    check: "Check a scenario, say what is in it.",
    predict: "Predict a scenario by a model.",
    simulate: "Simulate a scenario packet by packet.",
    compare: "Predict and simulate: a table, a picture.",
    emulate: "Run a scenario in real time with real TCP.",
    sweep: "Simulate a scenario at many settings.",
    tune: "Find the access parameters that serve an aim best.",
    reproduce: "Repeat the papers, judge their claims.",
}
"""Every command and its line in the list of them."""

for each, line in COMMANDS.items():
    app.command(cls=Command, short_help=line)(each)

stability = typer.Typer(
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)
for command, line in STABILITY.items():
    stability.command(command.__name__.replace("_", "-"), cls=Command, short_help=line)(command)
app.add_typer(stability, name="stability", short_help="Will this queue oscillate? By theory.")

gateway = typer.Typer(
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)
for command, line in GATEWAY.items():
    gateway.command(command.__name__, cls=Command, short_help=line)(command)
app.add_typer(gateway, name="gateway", short_help="Enforce fairness on a Linux gateway.")


@gateway.callback(invoke_without_command=True)
def gateway_root(context: typer.Context) -> None:
    """Enforce fairness between stations on a Linux machine in front of the access points."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@stability.callback(invoke_without_command=True)
def stability_root(context: typer.Context) -> None:
    """Will this queue oscillate? Fluid models of TCP over RED and small buffers."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


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
