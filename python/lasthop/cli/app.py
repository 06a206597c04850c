"""All commands under one name."""

import re
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from lasthop import __version__
from lasthop.cli.check import check
from lasthop.cli.compare import compare
from lasthop.cli.completion.command import completion
from lasthop.cli.congestion import COMMANDS as CONGESTION
from lasthop.cli.emulate import emulate
from lasthop.cli.gateway import COMMANDS as GATEWAY
from lasthop.cli.importing import COMMANDS as IMPORT
from lasthop.cli.init import init
from lasthop.cli.predict import predict
from lasthop.cli.queue import COMMANDS as QUEUE
from lasthop.cli.quiet import be_quiet
from lasthop.cli.relay import COMMANDS as RELAY
from lasthop.cli.reproduce import reproduce
from lasthop.cli.schema import schema
from lasthop.cli.simulate import simulate
from lasthop.cli.stability import COMMANDS as STABILITY
from lasthop.cli.sweep import sweep
from lasthop.cli.tune import tune
from lasthop.cli.workbench import workbench

app = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Who gets what on a WiFi hot-spot, and why: predicted, and simulated packet by packet.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # Plain text: no boxes, no types beside flags.
)


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Print nothing but the answer and errors: no progress, warnings or notes.",
    ),
]


def _says_less(quiet: Quiet = False) -> None:
    """The option of every command, which is built here once."""


def _asked_to_be_quiet(context: Any, option: Any, value: bool) -> None:
    """Both places of the option count: before the command, and behind it."""
    if value:
        be_quiet(True)


def quiet_option() -> Any:
    """The option that commands have beside those of their functions."""
    alone = typer.Typer(add_completion=False)
    alone.command()(_says_less)
    [option] = typer.main.get_command(alone).params
    option.expose_value = False
    option.callback = _asked_to_be_quiet
    return option


class Command(TyperCommand):
    """A command with --quiet, whose help names arguments by their metavar alone."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(quiet_option())

    def get_help(self, ctx: Any) -> str:
        """Help without Python's types (``FILE <str>``) and braces around what is required."""
        return re.sub(r" <\S+>|[{}]", "", super().get_help(ctx))


COMMANDS: dict[Callable[..., object], str] = {
    init: "Write a first scenario: five questions.",
    schema: "Print the JSON Schema of scenario files.",
    check: "Check a scenario, say what is in it.",
    predict: "Predict a scenario by a model.",
    simulate: "Simulate a scenario packet by packet.",
    compare: "Predict and simulate: a table, a picture.",
    emulate: "Run a scenario in real time with real TCP.",
    sweep: "Simulate a scenario at many settings.",
    tune: "Find the access parameters that serve an aim best.",
    reproduce: "Repeat the papers, judge their claims.",
    workbench: "Serve a page: the engine in a browser.",
    completion: "Print a script: completion at Tab.",
}
"""Every command and its line in the list of them."""

for each, line in COMMANDS.items():
    app.command(cls=Command, short_help=line)(each)


def show_help(context: typer.Context) -> None:
    """Print the help of a group of commands where none of them is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def add_group(name: str, commands: dict[Callable[..., None], str], line: str, text: str) -> None:
    """Add commands under a name of their own; `line` stands in the list, `text` in its help."""
    group = typer.Typer(context_settings=app.info.context_settings, rich_markup_mode=None)
    for command, short in commands.items():
        group.command(command.__name__.replace("_", "-"), cls=Command, short_help=short)(command)
    group.callback(invoke_without_command=True, help=text)(show_help)
    app.add_typer(group, name=name, short_help=line)


add_group(
    "import",
    IMPORT,
    "A scenario from a capture, a dump, settings.",
    "Make a scenario of what is there: a capture, a station dump, an access point's settings.",
)
add_group(
    "stability",
    STABILITY,
    "Will this queue oscillate? By theory.",
    "Will this queue oscillate? Fluid models of TCP over RED and small buffers.",
)
add_group(
    "gateway",
    GATEWAY,
    "Enforce fairness on a Linux gateway.",
    "Enforce fairness between stations on a Linux machine in front of the access points.",
)
add_group(
    "queue",
    QUEUE,
    "A shaped queue of an interface: threshold, VBS, ...",
    "Shape a network interface of Linux, with the queue of a scenario's link in front.",
)
add_group(
    "congestion",
    CONGESTION,
    "Compound and Illinois for Linux's own TCP.",
    "TCP congestion controls for Linux: the laws of the simulator as BPF programs.",
)
add_group(
    "relay",
    RELAY,
    "One user's many connections, for any program.",
    "Cut the streams of any program over as many TCP connections as the rule asks for.",
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    quiet: Quiet = False,
) -> None:
    """Options of `lasthop` itself."""
    if quiet:
        be_quiet(True)
    if version:
        typer.echo(f"lasthop {__version__}")
    else:
        show_help(context)
