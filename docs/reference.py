"""The reference pages, written from what the program says about itself."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from lasthop import _core
from lasthop.cli.app import app

Schema = Mapping[str, Any]

NAMED = "NAME"
"""Stands in a path for a name that the user chooses."""
QUIET = "quiet"
"""The option of every command, which is told of once."""
UNITS = {
    "ns|us": 'a time, such as "20 us"',
    "bps|": 'a rate, such as "11 Mbps"',
    "B|kB": "a size",
    "mm|m|km": 'a length, such as "250 m"',
}
"""What a quantity's pattern contains, and what to call the quantity."""


def scenario_page() -> str:
    """Every setting of a scenario under a heading of its own."""
    schema: Schema = json.loads(_core.schema())
    lines = [
        "# Scenario settings",
        "",
        "Every key of a scenario file, TOML or JSON. Quantities carry their unit in the value, see",
        "[units](../guide/scenarios.md#units-stand-in-the-value). `lasthop schema` prints the JSON",
        "Schema from which this page is written.",
        "",
    ]
    for paths, table in tables(schema):
        lines += section(paths, table)
    return "\n".join(lines).rstrip() + "\n"


def tables(schema: Schema) -> list[tuple[list[str], Schema]]:
    """Each table with the paths at which it may stand, in order of the file."""
    definitions: Schema = schema["$defs"]
    paths: dict[str, list[str]] = {}

    def visit(table: Schema, path: str) -> None:
        for key, value in table["properties"].items():
            for name, suffix in references(value):
                place = f"{path}{key}{suffix}"
                known = paths.setdefault(name, [])
                known.append(place)
                if len(known) == 1:
                    visit(definitions[name], f"{place}.")

    visit(schema, "")
    return [([""], schema)] + [(places, definitions[name]) for name, places in paths.items()]


def references(value: Schema) -> Iterator[tuple[str, str]]:
    """Tables that a value may be: their name, and what they add to the path."""
    if "$ref" in value:
        yield value["$ref"].removeprefix("#/$defs/"), ""
    for choice in value.get("oneOf", ()):
        yield from references(choice)
    if value.get("additionalProperties"):
        for name, _ in references(value["additionalProperties"]):
            yield name, f".{NAMED}"


def section(paths: list[str], table: Schema) -> list[str]:
    """A table: what it is for, and its keys."""
    title = " and ".join(f"`{path}`" for path in paths) if paths != [""] else "Top level"
    prefix = f"{paths[0]}." if paths[0] else ""
    required = table.get("required", ())
    lines = [f"## {title}", "", table["description"], ""]
    for key, value in table["properties"].items():
        lines += [f"### `{prefix}{key}`", "", value["description"], "", allowed(value)]
        if key in required:
            lines[-1] += " Required."
        elif "default" in value:
            lines[-1] += f" Default: {literal(value['default'])}."
        lines.append("")
    return lines


def allowed(value: Schema) -> str:
    """What may stand there."""
    if "oneOf" in value:
        return " Or: ".join(allowed(choice) for choice in value["oneOf"])
    if "$ref" in value:
        return "A table, see below."
    if "enum" in value:
        return f"One of {', '.join(literal(word) for word in value['enum'])}."
    match value["type"]:
        case "integer":
            return f"A whole number from {value['minimum']} to {value['maximum']}."
        case "number" if "maximum" in value:
            return f"A number from {value['minimum']:g} to {value['maximum']:g}."
        case "number":
            return f"A number from {value['minimum']} to below {value['exclusiveMaximum']}."
        case "boolean":
            return "`true` or `false`."
        case "array" if "oneOf" in value["items"]:
            return f"A list of {value['minItems']} to {value['maxItems']} times."
        case "array" if value["items"]["type"] == "array":
            point, coordinate = value["items"], value["items"]["items"]
            return (
                f"A list of {value['minItems']} to {value['maxItems']} points, each "
                f"{point['minItems']} numbers above {coordinate['exclusiveMinimum']}."
            )
        case "array" if value.get("uniqueItems"):
            return "A list of names in quotes."
        case "array":
            return "A list of texts."
        case "object" if "oneOf" in value["additionalProperties"]:
            return f"By name: {lower_first(allowed(value['additionalProperties']))}"
        case "object":
            return "Tables with names of your choice."
    return text_allowed(value)


def lower_first(text: str) -> str:
    """The text with a small first letter."""
    return text[:1].lower() + text[1:]


def text_allowed(value: Schema) -> str:
    """What a text may be: a quantity, a word, or anything."""
    pattern = value.get("pattern", "")
    kind = next((name for units, name in UNITS.items() if units in pattern), "text")
    word = re.match(r"\^\\s\*\((\w+)\|", pattern)
    rates = value.get("$comment", "").partition("; ")[2]
    line = kind[0].upper() + kind[1:] + (f', or "{word[1]}"' if word else "")
    return f"{line} ({rates})." if rates else f"{line}."


def literal(value: object) -> str:
    """A value as it is written in a file."""
    return f"`{json.dumps(value)}`"


def cli_page() -> str:
    """Every command under a heading of its own."""
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
    """Commands by their names; a group, then what is in it."""
    for name, command in commands.items():
        yield name, command
        for inner, each in getattr(command, "commands", {}).items():
            yield f"{name} {inner}", each


def usage_of(argument: Any) -> str:
    """An argument in the usage line: in brackets if it may be left out, with dots if repeated."""
    name = argument.metavar if argument.required else f"[{argument.metavar}]"
    return name if argument.nargs == 1 else f"{name}..."


def spelled(option: Any) -> str:
    """An option as it is typed."""
    names = ", ".join([*option.opts, *option.secondary_opts])
    return names if option.is_flag else f"{names} {option.metavar}"


def default_of(parameter: Any) -> str:
    """Return the default of an option or argument; empty for flags and where it is not shown."""
    is_flag = getattr(parameter, "is_flag", False)
    if is_flag or parameter.default is None or not parameter.show_default:
        return ""
    given = parameter.show_default
    shown = given if isinstance(given, str) else parameter.default
    return f" Default: `{shown}`."


def terms() -> list[dict[str, str]]:
    """Return the terms of the glossary, in alphabetical order."""
    text = (Path(__file__).parent / "terms.toml").read_text("utf-8")
    found: list[dict[str, str]] = tomllib.loads(text)["term"]
    return found


def terms_table() -> list[str]:
    """Return the glossary as a table."""
    rows = [
        f"| {each['name']} | {each['means']} | {each['source'] or '-'} | {each['carried_by']} |"
        for each in terms()
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


def nomenclature_page() -> str:
    """Return the glossary, then every measured quantity under a heading of its own."""
    quantities: list[Schema] = json.loads(_core.quantities())
    lines = [
        "# Nomenclature",
        "",
        *terms_table(),
        "",
        "## Quantities",
        "",
        "Every quantity that an answer of lasthop may contain, with its unit, the lists of the",
        "result in which it appears, and its definition. Names are those of the JSON object, of",
        "the columns of tables and of `--json`; the unit is part of the name. A quantity that an",
        "answer does not give is absent. This page is written from the registry in the engine.",
        "",
    ]
    for quantity in quantities:
        lists = ", ".join(f"`{name}`" for name in quantity["lists"])
        definition = quantity["definition"]
        lines += [f"### `{quantity['name']}`", ""]
        lines += [f"{definition[0].upper()}{definition[1:]}.", ""]
        lines += [f"Unit: {quantity['unit']}. In: {lists}.", ""]
    return "\n".join(lines).rstrip() + "\n"
