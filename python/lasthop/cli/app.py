"""The command `lasthop`. A subcommand is imported only when it is used."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from lasthop.cli.coercion import WithoutAdapters
from lasthop.cli.declared import for_typer
from lasthop.cli.listing import COMMANDS, GROUPS
from lasthop.cli.quiet import be_quiet
from lasthop.cli.version import lines
from lasthop.errors import UserError
from lasthop.linux_only import COMMANDS as LINUX_COMMANDS
from lasthop.linux_only import require_linux
from lasthop.progress.interruption import raise_interrupt
from lasthop.references import named

CONTEXT = {"help_option_names": ["-h", "--help"]}

Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Print nothing but the answer and errors: no progress, warnings or notes.",
    ),
]


def _with_quiet(quiet: Quiet = False) -> None:
    """Declare the option ``--quiet``, which every command accepts."""


def _apply_quiet(context: Any, option: Any, value: bool) -> None:
    """Apply ``--quiet``, which is accepted before and after the name of the command."""
    if value:
        be_quiet(True)


def quiet_option() -> Any:
    """Return the option ``--quiet``, which is added to the options of each command."""
    declaring_app = typer.Typer(add_completion=False)
    declaring_app.command()(_with_quiet)
    [option] = typer.main.get_command(declaring_app).params
    option.expose_value = False
    option.callback = _apply_quiet
    return option


class Command(WithoutAdapters, TyperCommand):
    """A command that accepts ``--quiet``. Its help names arguments by their metavar, such as
    FILE.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(quiet_option())

    def invoke(self, ctx: Any) -> Any:
        """Run the command's function. After Ctrl-C the function may report which results are
        saved.
        """
        raise_interrupt()
        return super().invoke(ctx)

    def get_help(self, ctx: Any) -> str:
        """Write arguments and options into the help text; each column is as wide as its longest
        text.
        """
        return without_types(super().get_help(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options into the help; the columns are as wide as the longest
        text.
        """
        write = formatter.write_dl

        def write_shown(rows: Any, **more: Any) -> None:
            write([(without_types(name), text) for name, text in rows], **more)

        formatter.write_dl = write_shown
        super().format_options(ctx, formatter)


def without_types(text: str) -> str:
    """Remove Python's types (``FILE <str>``) and the braces around required arguments.

    An empty table ``{}`` in an example remains.
    """
    return re.sub(r" <\S+>|\{(?!\})|(?<!\{)\}", "", text)


MODULES = {"completion": "completion.command", "import": "importing"}
"""Modules of the commands whose module name differs from the command name."""


def imported(command: str, name: str) -> Any:
    """Import the module of a command, and return the object `name` from the module."""
    return named(f"cli.{MODULES.get(command, command)}:{name}".replace("-", "_"))


def show_help(context: typer.Context) -> None:
    """Print the help of a group, such as `gateway`, if no command of the group is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


class Group(WithoutAdapters, TyperGroup):
    """A group of commands, such as `gateway`."""


def single(name: str) -> Any:
    """Import a command that is not in a group, and return its typer object."""
    typer_app = typer.Typer(add_completion=False, rich_markup_mode=None)
    function = for_typer(imported(name, name.replace("-", "_")))
    typer_app.command(name, cls=Command, short_help=COMMANDS[name])(function)
    return typer.main.get_command(typer_app)


def group(name: str) -> Any:
    """Import the commands of a group and return its typer object."""
    line, text = GROUPS[name]
    typer_app = typer.Typer(
        name=name, add_completion=False, context_settings=CONTEXT, rich_markup_mode=None
    )
    for function, short in imported(name, "COMMANDS").items():
        command = function.__name__.replace("_", "-")
        typer_app.command(command, cls=Command, short_help=short)(for_typer(function))
    decorator = typer_app.callback(
        cls=Group, invoke_without_command=True, help=text, short_help=line
    )
    decorator(show_help)
    return typer.main.get_command(typer_app)


class Commands(Mapping[str, Any]):
    """Commands and groups by name; each is imported on its first access."""

    def __init__(self) -> None:
        self._imported: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        if name not in self._imported:
            self._imported[name] = single(name) if name in COMMANDS else group(name)
        return self._imported[name]

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS or name in GROUPS

    def __iter__(self) -> Iterator[str]:
        return iter((*COMMANDS, *GROUPS))

    def __len__(self) -> int:
        return len(COMMANDS) + len(GROUPS)


class Root(Group):
    """The command `lasthop`, which lists its subcommands without importing them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        commands: Any = Commands()
        self.commands = commands

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return a command with its name and arguments. A command that needs Linux is refused on
        other systems before it is imported.
        """
        if args[0] in LINUX_COMMANDS:
            require_linux(f"lasthop {args[0]}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of commands and groups, in the order of the help."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands into the help."""
        rows = [*COMMANDS.items(), *((name, entry.line) for name, entry in GROUPS.items())]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


app = typer.Typer(
    add_completion=False,
    cls=Root,
    context_settings=CONTEXT,
    help="How much of the Wi-Fi does each device get, and why? Predict it, and simulate every "
    "packet.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # Plain text: no boxes, no types next to flags.
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="With --version, also print the build profile, the engine's fingerprint, and the "
            "version and path of Python.",
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Options of `lasthop` itself."""
    if quiet:
        be_quiet(True)
    if verbose and not version:
        raise UserError(
            "--verbose: must be given with --version", "run `lasthop --version --verbose`"
        )
    if version:
        typer.echo("\n".join(lines(verbose=verbose)))
    else:
        show_help(context)
