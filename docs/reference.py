"""Generate the reference pages from the command line and from the registry of quantities."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import typer

from lasthop import _core
from lasthop.cli.app import app
from lasthop.explanation.terms import entries, glossary

Schema = Mapping[str, Any]

QUIET = "quiet"
"""Option of all commands, which the page describes only once."""


def cli_page() -> str:
    """Return the page with a section for each command."""
    root: Any = typer.main.get_command(app)
    lines = [
        "# Commands",
        "",
        root.help or "",
        "",
        "Data goes to standard output; progress, warnings and errors go to standard error. The",
        "exit code is 0 on success, 1 after a defect of lasthop, 2 after an error that you can",
        "correct, and 130 after an interruption. An error is reported in one line. An interrupted",
        "command keeps what it has finished.",
        "",
        "The option `--out` sets where a command writes its files. Each file is reported in one",
        "line, on standard error with `--json`. A file that lasthop did not write is never",
        "replaced.",
        "",
        "Every command accepts `--quiet` or `-q`, before or after its name. It then prints only",
        "the answer and errors, without progress, warnings and names of files. Every command also",
        "accepts `--help`. [The command line](../guide/shell.md) describes completion in shells",
        "and the modules that each command loads.",
        "",
    ]
    lines += ["## `lasthop`", "", "```text", "lasthop [OPTIONS] COMMAND", "```", ""]
    for option in root.params:
        if option.name != QUIET:
            lines += [f"`{spelled(option)}`", f": {option.help}", ""]
    for name, command in every_command(root.commands):
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        options = [p for p in command.params if p.param_type_name == "option" and p.name != QUIET]
        usage = " ".join(["lasthop", name, *map(usage_of, arguments)])
        lines += [f"## `lasthop {name}`", "", command.help or "", ""]
        if hasattr(command, "commands"):
            usage += " COMMAND"
        lines += ["```text", f"{usage} [OPTIONS]", "```", ""]
        for parameter in arguments:
            lines += [f"`{parameter.metavar}`", f": {parameter.help}{default_of(parameter)}", ""]
        for option in options:
            lines += [f"`{spelled(option)}`", f": {option.help}{default_of(option)}", ""]
    return "\n".join(lines).rstrip() + "\n"


def every_command(commands: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each command with its full name. A group precedes its commands."""
    for name, command in commands.items():
        yield name, command
        for inner, each in getattr(command, "commands", {}).items():
            yield f"{name} {inner}", each


def usage_of(argument: Any) -> str:
    """Return an argument as text for the usage line: in brackets if optional, with dots if
    repeatable.
    """
    name = argument.metavar if argument.required else f"[{argument.metavar}]"
    return name if argument.nargs == 1 else f"{name}..."


def spelled(option: Any) -> str:
    """Return an option as the user types it, with its value."""
    names = ", ".join([*option.opts, *option.secondary_opts])
    return names if option.is_flag else f"{names} {option.metavar}"


def default_of(parameter: Any) -> str:
    """Return the default of an option or argument, or an empty text for flags and hidden
    defaults.
    """
    is_flag = getattr(parameter, "is_flag", False)
    if is_flag or parameter.default is None or not parameter.show_default:
        return ""
    given = parameter.show_default
    shown = given if isinstance(given, str) else parameter.default
    return f" Default: `{shown}`."


def terms_table() -> list[str]:
    """Return the lines of the glossary as a table."""
    rows = [
        f"| {each.name} | {each.means} | {each.source or '-'} | {each.carried_by} |"
        for each in glossary()
    ]
    head = "The terms of these pages. A term without a source is defined by lasthop."
    return [
        "## Terms",
        "",
        head,
        "",
        "| term | meaning | source | in lasthop |",
        "|---|---|---|---|",
        *rows,
    ]


def headings_table() -> list[str]:
    """Return the lines of the table of column headings that are not titles of quantities."""
    headings = (entry for entry in entries() if entry.kind == "heading")
    rows = []
    for entry in sorted(headings, key=lambda entry: entry.name.casefold()):
        tables, _, unit = entry.title.removeprefix("heading in the tables of ").rpartition(
            ", unit "
        )
        rows.append(f"| {entry.name} | {unit} | {entry.means} | {tables} |")
    return [
        "## Headings of tables",
        "",
        "Headings of printed tables that are not titles of [quantities](#quantities). `lasthop",
        'explain HEADING` prints the entry, such as `lasthop explain "base RTT"`.',
        "",
        "| heading | unit | meaning | tables |",
        "|---|---|---|---|",
        *rows,
    ]


def nomenclature_page() -> str:
    """Return the page with the glossary, the headings of tables, and a section for each measured
    quantity.
    """
    quantities: list[Schema] = json.loads(_core.quantities())
    lines = [
        "# Nomenclature",
        "",
        *terms_table(),
        "",
        *headings_table(),
        "",
        "## Quantities",
        "",
        "Every quantity that an answer of lasthop may contain, with its unit, the lists of the",
        "result in which it appears, and its definition. Names are those of the JSON object, of",
        "the columns of tables and of `--json`; the unit is part of the name. A quantity that an",
        "answer does not give is absent. This page is written from the registry in the engine.",
        "",
    ]
    headings = {each.name: each.headings for each in entries() if each.kind == "quantity"}
    for quantity in quantities:
        lists = ", ".join(f"`{name}`" for name in quantity["lists"])
        definition = quantity["definition"]
        lines += [f"### `{quantity['name']}`", ""]
        lines += [f"{definition[0].upper()}{definition[1:]}.", ""]
        lines += [f"Unit: {quantity['unit']}. In: {lists}.", ""]
        if known := headings[quantity["name"]]:
            lines += [f"Column heading: {'; '.join(known)}.", ""]
    return "\n".join(lines).rstrip() + "\n"
