"""Requests of the page as commands, each a process of its own that answers as with ``--json``."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lasthop.errors import UserError

__all__ = ["COMMANDS", "Asked", "Told", "told"]

COMMANDS: dict[str, tuple[list[str], dict[str, str]]] = {
    "predict": (["predict"], {"model": "--model", "option": "--option"}),
    "compare": (["compare"], {"model": "--model", "replications": "--replications"}),
    "sweep": (
        ["sweep"],
        {"over": "--over", "replications": "--replications", "seed": "--seed"},
    ),
    "tune": (
        ["tune"],
        {
            "for": "--for",
            "category": "--category",
            "confirm": "--confirm",
            "replications": "--replications",
        },
    ),
    "chart": (["stability", "chart"], {"over": "--over", "size": "--size"}),
}
"""What can be asked for: the command, and the options that it takes from the page."""


@dataclass(frozen=True)
class Asked:
    """A request, checked."""

    arguments: list[str]
    """What stands behind ``lasthop``."""
    file: str
    """The name of the scenario's file."""
    text: str

    @classmethod
    def of(cls, command: str, request: object) -> "Asked":
        """Read a request: its `text`, and if they are given `settings` and `options`.

        Raises
        ------
        UserError
            If it is none.
        """
        if command not in COMMANDS:
            raise UserError(f"`{command}` is not among {', '.join(COMMANDS)}")
        if not isinstance(request, Mapping):
            raise UserError("a request is an object with `text`, `settings` and `options`")
        text = request.get("text")
        if not isinstance(text, str):
            raise UserError("`text` of a request is a scenario, as text")
        settings = request.get("settings", [])
        if not isinstance(settings, list) or not all(isinstance(each, str) for each in settings):
            raise UserError('`settings` of a request are a list such as ["cell.ap.cwmin=15"]')
        options = request.get("options", {})
        if not isinstance(options, Mapping):
            raise UserError("`options` of a request are an object")
        words, known = COMMANDS[command]
        file = "scenario.json" if text.lstrip().startswith("{") else "scenario.toml"
        arguments = [*words, file, "--json"]
        arguments += [f"--set={each}" for each in settings]
        for name, given in options.items():
            if name not in known:
                raise UserError(f"`{name}` is not among the options: {', '.join(known)}")
            for each in given if isinstance(given, list) else [given]:
                if isinstance(each, bool) or not isinstance(each, (str, int, float)):
                    raise UserError(f"`{name}` of the options is a text or a number")
                arguments.append(f"{known[name]}={each}")
        return cls(arguments, file, text)

    @property
    def process(self) -> list[str]:
        """The whole command line."""
        return [sys.executable, "-m", "lasthop", *self.arguments]


@dataclass(frozen=True)
class Told:
    """What a command has said."""

    status: int
    """Of HTTP."""
    body: dict[str, Any]


def told(code: int, output: bytes, messages: bytes) -> Told:
    """What is answered where a command has ended.

    `answer` is what it printed, `notes` are its warnings; `error` and `hint` say what is wrong.
    """
    lines = messages.decode("utf-8", "replace").splitlines()
    if code == 0:
        return Told(200, {"answer": json.loads(output), "notes": lines})
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    hints = [line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")]
    status = 422 if code == 2 else 500
    error = "\n".join(errors) or f"the command ended with code {code}"
    return Told(status, {"error": error, "hint": "\n".join(hints) or None})
