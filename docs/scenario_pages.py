"""Generate the pages on scenario settings from the engine's schema and from
`scenario_pages.toml`.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from lasthop import _core

Schema = Mapping[str, Any]

NAMED = "NAME"
"""Placeholder in a key path for a name that the user chooses."""
UNITS = {
    "ns|us": 'a time, such as "20 us"',
    "bps|": 'a rate, such as "11 Mbps"',
    "B|kB": 'a size, such as "1500 B"',
    "mm|m|km": 'a length, such as "250 m"',
    "dB": 'a level, such as "25 dB"',
}
"""Text that describes each quantity, such as a time. A key has the units of the quantity, separated
by `|` as in the patterns of the schema.
"""


class Table(NamedTuple):
    """A table of settings in a scenario file."""

    places: list[str]
    """Key paths at which the table may occur. The first path is the name of the table."""
    schema: Schema

    @property
    def name(self) -> str:
        """Path of the table in headings; empty for the top level."""
        return self.places[0]

    @property
    def title(self) -> str:
        """Title of the table in links and headings."""
        return f"`{self.name}`" if self.name else "Top level"

    @property
    def summary(self) -> str:
        """First sentence of the table's description."""
        return re.split(r"(?<!\.)\. ", self.schema["description"])[0].rstrip(".")

    @property
    def anchor(self) -> str:
        """Anchor of the table's heading, as MyST and code hosts generate it."""
        return f"table-{self.name.lower().replace('.', '')}" if self.name else "top-level"


class Page(NamedTuple):
    """A page described in `scenario_pages.toml`."""

    name: str
    title: str
    text: str
    examples: Mapping[str, str]
    """Example of each table, in the order of the page."""


@cache
def pages() -> list[Page]:
    """Return the pages, in order."""
    read = tomllib.loads((Path(__file__).parent / "scenario_pages.toml").read_text("utf-8"))
    return [
        Page(
            page["name"],
            page["title"],
            page["text"],
            {table["path"]: table["example"] for table in page["table"]},
        )
        for page in read["page"]
    ]


@cache
def tables() -> dict[str, Table]:
    """Return each table, keyed by its name, which is the shortest of its key paths."""
    schema: Schema = json.loads(_core.schema())
    definitions: Schema = schema["$defs"]
    paths: dict[str, list[str]] = {}

    def visit(table: Schema, path: str) -> None:
        for key, value in table["properties"].items():
            for name, suffix in references(value):
                place = f"{path}{key}{suffix}"
                paths.setdefault(name, []).append(place)
                visit(definitions[name], f"{place}.")

    visit(schema, "")
    listed = [Table([""], schema)]
    for name, places in paths.items():
        listed.append(Table(sorted(places, key=lambda path: path.count(".")), definitions[name]))
    return {table.name: table for table in listed}


def references(value: Schema) -> Iterator[tuple[str, str]]:
    """Yield the name of each table that the schema accepts as this value or in it, and a suffix of
    the value's key path. The suffix is empty if the value itself is such a table. It is ``.NAME``
    if the value contains such tables, each under a name that the user chooses.
    """
    if "$ref" in value:
        yield value["$ref"].removeprefix("#/$defs/"), ""
    for choice in value.get("oneOf", ()):
        yield from references(choice)
    if value.get("additionalProperties"):
        for name, _ in references(value["additionalProperties"]):
            yield name, f".{NAMED}"


def index_page() -> str:
    """Return the page on the structure of a scenario file, with a list of all tables."""
    lines = [INDEX, "## Tables", "", "| table | contents |", "|---|---|"]
    for page in pages():
        lines.append(f"| **[{page.title}](scenario/{page.name}.md)** | |")
        for name in page.examples:
            table = tables()[name]
            link = f"[{table.title}](scenario/{page.name}.md#{table.anchor})"
            also = [f"`{place}`" for place in table.places[1:] if parent_is_named(place)]
            lines.append(f"| {', '.join([link, *also])} | {table.summary} |")
    lines += ["", "```{toctree}", ":maxdepth: 1", ":hidden:", ""]
    lines += [*(f"scenario/{page.name}" for page in pages()), "```"]
    return "\n".join(lines) + "\n"


def parent_is_named(place: str) -> bool:
    """Return whether the part of the key path `place` before its last key is the name of a table. A
    placeholder for a user's name at the end of `place` is ignored.
    """
    return place.removesuffix(f".{NAMED}").rpartition(".")[0] in tables()


def table_page(page: Page) -> str:
    """Return a page that has one section per table."""
    lines = [f"# {page.title}", "", page.text, INTRODUCTION, ""]
    for name, example in page.examples.items():
        lines += section(tables()[name], page, example)
    return "\n".join(lines).rstrip() + "\n"


def section(table: Table, page: Page, example: str) -> list[str]:
    """Return the section of a table: description, key paths, an example and the keys."""
    lines = [f"## Table {table.title}" if table.name else f"## {table.title}", ""]
    lines += [table.schema["description"], ""]
    if len(table.places) > 1:
        also = ", ".join(f"`{place}`" for place in table.places[1:])
        lines += [f"This table may also be at {also}.", ""]
    lines += ["```toml", f"{example}```", ""]
    prefix = f"{table.name}." if table.name else ""
    required = required_keys(table.schema)
    for key, value in table.schema["properties"].items():
        link = "".join(link_to(f"{prefix}{key}{suffix}", page) for _, suffix in references(value))
        lines += [f"### `{prefix}{key}`", "", value["description"], "", allowed(value, link)]
        if key in required:
            lines[-1] += " Required."
        elif "default" in value:
            lines[-1] += f" Default: {literal(value['default'])}."
        lines.append("")
    return lines


def required_keys(schema: Schema) -> Sequence[str]:
    """Return the keys that a table must contain. For the whole file, return the keys that a
    simulation needs.

    A file may also contain only a gateway or an interface, so that the schema of the file has
    alternatives. The first alternative is the simulation.
    """
    alternatives: Sequence[Schema] = schema.get("anyOf", ({},))
    required: Sequence[str] = schema.get("required") or alternatives[0].get("required", ())
    return required


def link_to(place: str, page: Page) -> str:
    """Return a link from a page to the table at the key path `place`.

    Raises
    ------
    ValueError
        If no page has the table.
    """
    table = next(each for each in tables().values() if place in each.places)
    target = next((each.name for each in pages() if table.name in each.examples), None)
    if target is None:
        raise ValueError(f"docs/scenario_pages.toml: no page has the table `{table.name}`")
    return f"[{table.title}]({'' if target == page.name else f'{target}.md'}#{table.anchor})"


def allowed(value: Schema, link: str = "") -> str:
    """Return a text about the accepted values, with a link to their table."""
    if "oneOf" in value:
        first, *others = [allowed(choice, link) for choice in value["oneOf"]]
        return " ".join([first, *(f"Or {lower_first(other)}" for other in others)])
    if "$ref" in value:
        return f"A table: {link}."
    if "enum" in value:
        if len(value["enum"]) == 1:
            return f"The word {literal(value['enum'][0])}."
        return f"One of {', '.join(literal(word) for word in value['enum'])}."
    match value["type"]:
        case "integer" if value["minimum"] == value["maximum"]:
            return f"The number {value['minimum']}."
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
            return "A list of texts in quotes."
        case "object" if "oneOf" in value["additionalProperties"]:
            return (
                "Keys with names of your choice, each with a value: "
                f"{lower_first(allowed(value['additionalProperties'], link))}"
            )
        case "object":
            return f"Tables with names of your choice: {link}."
    return text_allowed(value)


def lower_first(text: str) -> str:
    """Return the text with a lower-case first letter."""
    return text[:1].lower() + text[1:]


def text_allowed(value: Schema) -> str:
    """Return a text about the accepted values of a string: a quantity, a word, or any text."""
    pattern = value.get("pattern", "")
    kind = next((name for units, name in UNITS.items() if units in pattern), "text in quotes")
    word = re.match(r"\^\\s\*\((\w+)\|", pattern)
    rates = value.get("$comment", "").partition("; ")[2]
    line = kind[0].upper() + kind[1:] + (f', or "{word[1]}"' if word else "")
    return f"{line} ({rates})." if rates else f"{line}."


def literal(value: object) -> str:
    """Return a default value as Markdown code."""
    return f"`{json.dumps(value)}`"


INTRODUCTION = """\
The page [Scenario settings](../scenario.md) describes how a file is built, and lists all tables."""

INDEX = """\
# Scenario settings

A scenario is a file in TOML, or in JSON with the same structure. The pages below list all tables of
such a file and every setting in these tables, each table with an example. [The guide to
scenarios](../guide/scenarios.md) introduces scenarios step by step.

## How a file is built

```toml
duration = "60 s"           # keys of the top level come first

[cell]                      # a table
phy = "802.11g"

[cell.ap]                   # a table within it
queue = 200                 # a bare value: packets

[station.laptop]            # NAME is laptop
download = 2                # a bare value: connections
udp_up = { rate = "1 Mbps", packet = "500 B" }
```

- **Required settings.** A simulation needs `duration`, and traffic of
  [stations](scenario/station.md) in a [cell](scenario/cell.md) or of [flows](scenario/flow.md)
  across wired or wireless links. All other settings have defaults. A file that describes only a
  [gateway](scenario/gateway.md) or an [interface](scenario/interface.md) needs no `duration` and no
  traffic.
- **Paths.** A path such as `cell.ap.queue` is the key `queue` of the table `[cell.ap]`. This
  setting can also be written as `ap.queue = 200` in `[cell]`, as `cell.ap.queue = 200` at the top
  level, or in an inline table. TOML cannot add keys to an inline table later.
- **Names.** `NAME` in a path is a name of the author's choice.
- **Bare values.** Some keys accept a single value in place of a table. For example, `download = 2`
  is a table with `connections = 2`.
- **Quantities.** A quantity [contains its unit](../guide/scenarios.md#units-stand-in-the-value).

`lasthop check FILE` reports all errors of a file with their lines and the accepted values. A
gateway or an interface has a check of its own, `lasthop gateway check FILE` or `lasthop queue check
FILE`. `--set cell.ap.queue=100` replaces a value for one run. `lasthop schema` prints the JSON
Schema from which these pages are written.
"""

PAGES: dict[str, Callable[[], str]] = {
    "docs/reference/scenario.md": index_page,
    **{f"docs/reference/scenario/{page.name}.md": partial(table_page, page) for page in pages()},
}
"""Functions that return the generated pages, by path."""
