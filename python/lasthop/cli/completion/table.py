"""Generator of ``words.json``, the list of commands, options and words for completion. `make
docs-pages` writes the file.
"""

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer

from lasthop.cli.app import app
from lasthop.cli.listing import COMMANDS, GROUPS
from lasthop.cli.tune import CONFIGURATIONS
from lasthop.emulated.ignored import CAN_FOLLOW
from lasthop.importing.phy import PRESETS as PHYS
from lasthop.init.aims import AIMS
from lasthop.init.answers import AGGREGATING, disciplines
from lasthop.init.questions import HOPS
from lasthop.models import MODELS
from lasthop.models.choices import words_of
from lasthop.scenario.access_points import KINDS as ACCESS_POINTS
from lasthop.stability.models import MODELS as FLUIDS
from lasthop.stability.presets import PRESETS
from lasthop.studies.ledger import load
from lasthop.tuning.categories import CATEGORIES
from lasthop.tuning.objectives import OBJECTIVES

KINDS = {
    "PATH=VALUE": "key",
    "PATH=VALUES": "keys",
    "DIR": "directory",
    "FILE": "file",
    "FILE.csv": "file",
    "FILE.toml": "file",
    "[NAME=]FILE": "file",
    "UP DOWN": "file",
    "-- COMMAND ...": "file",
    "CASE": "case",
    "SUBJECT|CLAIM": "claim",
    "SHELL": "shell",
    "NAME=LOW..HIGH": "parameter",
}
"""Kinds of values by metavar, for the options and arguments of all commands."""

OF_OPTIONS = {
    ("", "--model"): "model",
    ("", "--option"): "model option",
    ("init", "--aim"): "aim",
    ("init", "--hop"): "hop",
    ("init", "--queue"): "queue",
    ("import", "--phy"): "phy",
    ("tune", "--for"): "objective",
    ("tune", "--category"): "category",
    ("tune", "--write"): "configuration",
    ("emulate", "--follow"): "followed",
    ("stability", "--set"): "parameter or key",
    ("congestion", "NAME"): "control",
    ("relay", "--rule"): "rule",
    ("kernel", "NAME"): "kernel",
    ("doctor", "COMMAND"): "command",
}
"""Kinds of values by command and option; an empty command name means all commands."""


def completion_page() -> str:
    """Return the contents of ``words.json``, with one command or list per line."""
    lines = ["{"]
    for section, entries in table().items():
        lines.append(f" {json.dumps(section)}: {{")
        texts = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in entries.items()]
        lines += [",\n".join(texts), " },"]
    return "\n".join(lines).removesuffix(",") + "\n}\n"


def table() -> dict[str, dict[str, Any]]:
    """Return the contents of ``words.json``: commands, words by kind, and options of all
    commands.
    """
    root: Any = typer.main.get_command(app)
    commands = dict(every_command(root))
    return {"commands": commands, "words": words(), "everywhere": EVERYWHERE}


EVERYWHERE = {
    "--quiet": {"help": "Print nothing but the answer and errors."},
    "--help": {"help": "Describe the command and its options."},
}
"""Options of every command."""


def words() -> dict[str, list[str]]:
    """Return the possible words by kind of value."""
    from lasthop.enforce.congestion.controls import CONTROLS
    from lasthop.relay.settings import RULES

    ledger = load()
    return {
        "model": sorted(MODELS),
        "model option": sorted({each for name in MODELS for each in options_of(name)}),
        "aim": list(AIMS),
        "hop": ["wifi", *HOPS],
        "queue": [*disciplines(AGGREGATING[0]), *ACCESS_POINTS],
        "phy": list(PHYS),
        "objective": list(OBJECTIVES),
        "category": list(CATEGORIES),
        "configuration": list(CONFIGURATIONS),
        "followed": list(CAN_FOLLOW),
        "control": list(CONTROLS),
        "command": [*COMMANDS, *GROUPS],
        "rule": list(RULES),
        "shell": ["bash", "zsh", "fish"],
        "case": [*FLUIDS, *PRESETS],
        "parameter": sorted({each.name for fluid in FLUIDS.values() for each in fluid.parameters}),
        "claim": [*ledger.subjects, *(claim.id for claim in ledger.claims)],
    }


def options_of(model: str) -> Iterator[str]:
    """Yield the options of a model: NAME=WORD for each possible word, or NAME= for a number."""
    package = import_module(f"lasthop.models.{model}")
    for option, allowed in words_of(package.Options) if hasattr(package, "Options") else ():
        yield from (f"{option}={word}" for word in allowed or ("",) if word is not None)


def every_command(command: Any, name: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and description of a command, then those of its subcommands."""
    inside: Mapping[str, Any] = getattr(command, "commands", {})
    entry: dict[str, Any] = {"help": help_text(command)}
    if inside:
        entry["commands"] = list(inside)
    arguments = [
        {"takes": kind_of(name, each), **({"many": True} if each.nargs != 1 else {})}
        for each in command.params
        if each.param_type_name == "argument"
    ]
    options = {
        option: described(name, each)
        for each in command.params
        if each.param_type_name == "option"
        for option in (*each.opts, *each.secondary_opts)
        if option.startswith("--") and option not in EVERYWHERE
    }
    entry |= {"arguments": arguments} if arguments else {}
    entry |= {"options": options} if options else {}
    yield name, entry
    for inner, each in inside.items():
        yield from every_command(each, f"{name} {inner}".strip())


def help_text(command: Any) -> str:
    """Return the one-line description of a command."""
    return str(command.short_help or (command.help or "").partition("\n")[0])


def described(command: str, option: Any) -> dict[str, Any]:
    """Return the description of an option: help, kind and number of its values, and
    repeatability.
    """
    entry: dict[str, Any] = {"help": first_sentence(option.help)}
    if not option.is_flag:
        entry["takes"] = kind_of(command, option)
        count = len(str(option.metavar).split())
        entry |= {"values": count} if count > 1 else {}
    return entry | ({"many": True} if option.multiple else {})


def first_sentence(text: str) -> str:
    """Return the first sentence or clause of a text, without its period."""
    return text.partition(". ")[0].partition("; ")[0].removesuffix(".")


def kind_of(command: str, parameter: Any) -> str:
    """Return the kind of a parameter's value; empty if neither `OF_OPTIONS` nor `KINDS` contains
    it.
    """
    metavar = str(parameter.metavar)
    own = parameter.opts[0] if parameter.param_type_name == "option" else metavar
    for first in (command.partition(" ")[0], ""):
        if (first, own) in OF_OPTIONS:
            return OF_OPTIONS[first, own]
    if metavar.strip("[]") == "FILE" and str(parameter.help).startswith("Scenario"):
        return "scenario"
    return KINDS.get(metavar, "")
