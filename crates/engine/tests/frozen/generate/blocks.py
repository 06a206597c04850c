"""Blocks of a frozen file, and functions that write tables as TOML."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dice import Table, Value

from lasthop import _core
from lasthop.errors import ScenarioError

LINE = re.compile(r"^(\s*)([\w.-]+)\s*=\s*(.*?)\s*$")


@dataclass(frozen=True)
class Block:
    """A block of a frozen file: a scenario, or a gateway file."""

    name: str
    text: str
    settings: Sequence[str] = ()
    words: str = ""
    #: Edits that change the text of another block into the text of this block. Such a block has an
    #: empty `text`.
    edits: Sequence[str] = ()

    def __str__(self) -> str:
        head = f"=== {self.name} {self.words}".rstrip()
        settings = [f"--- set {setting}" for setting in self.settings]
        edits = [f"--- {edit}" for edit in self.edits]
        return "\n".join([head, *settings, *edits, *([self.text] if self.text else []), ""])


def toml(value: Value) -> str:
    """Return a value as TOML text."""
    match value:
        case bool():
            return "true" if value else "false"
        case dict():
            inner = ", ".join(f"{key} = {toml(each)}" for key, each in value.items())
            return f"{{ {inner} }}" if inner else "{}"
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case _:
            return json.dumps(value)


def sections(table: Table, path: str = "") -> Iterator[str]:
    """Yield the lines of a TOML file: one line for each key, one section for each table."""
    tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    plain = [f"{key} = {toml(value)}" for key, value in table.items() if key not in tables]
    if path and (plain or not tables):
        yield f"[{path}]"
    yield from plain
    for key, value in tables.items():
        yield from sections(value, f"{path}.{key}" if path else key)


def refused(block: Block) -> bool:
    """Return whether lasthop refuses the block as a scenario or as a gateway file."""
    pairs = [setting.partition("=") for setting in block.settings]
    settings = [(path, value) for path, _, value in pairs]
    content, form = block.text.encode(), "json" if "json" in block.words else "toml"
    check = _core.check_gateway if "gateway" in block.words else _core.check
    try:
        check(content, form, f"{block.name}.{form}", settings)
    except ScenarioError:
        return True
    return False
