"""Execution of the page's requests: each request runs a lasthop command with ``--json`` as a
process.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lasthop.errors import UserError

__all__ = ["COMMANDS", "Asked", "Reply", "reply_of"]

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
"""Accepted requests: the command, and the options that the page may set."""

MAX_CHARACTERS = 10_000
"""Maximum length of a setting or option in a request, since each is a command line argument.
[characters]
"""

MAX_ARGUMENTS = 200
"""Maximum number of settings and options in a request. A request with more is refused."""


@dataclass(frozen=True)
class Asked:
    """A request of the page after its check."""

    arguments: list[str]
    """Command line arguments after ``lasthop``."""
    file: str
    """Name of the scenario's file in the temporary directory."""
    text: str

    @classmethod
    def of(cls, command: str, request: object) -> "Asked":
        """Check a request: its `text` (the scenario), and optionally `settings` and `options`.

        Raises
        ------
        UserError
            If the request is invalid.
        """
        if command not in COMMANDS:
            raise UserError(f"`{command}` is not among {', '.join(COMMANDS)}")
        if not isinstance(request, Mapping):
            raise UserError("a request must be an object with `text`, `settings` and `options`")
        text = request.get("text")
        if not isinstance(text, str):
            raise UserError("`text` of a request must be a scenario, as text")
        settings = request.get("settings", [])
        if not isinstance(settings, list) or not all(isinstance(each, str) for each in settings):
            raise UserError('`settings` of a request must be a list such as ["cell.ap.cwmin=15"]')
        check_text("text", text)
        options = request.get("options", {})
        if not isinstance(options, Mapping):
            raise UserError("`options` of a request must be an object")
        words, known = COMMANDS[command]
        file = "scenario.json" if text.lstrip().startswith("{") else "scenario.toml"
        arguments = [*words, file, "--json"]
        arguments += [f"--set={each}" for each in settings]
        for name, given in options.items():
            if name not in known:
                raise UserError(f"`{name}` is not among the options: {', '.join(known)}")
            for each in given if isinstance(given, list) else [given]:
                if isinstance(each, bool) or not isinstance(each, (str, int, float)):
                    raise UserError(f"`{name}` of the options must be a text or a number")
                arguments.append(f"{known[name]}={each}")
        if len(arguments) > MAX_ARGUMENTS:
            raise UserError(f"more than {MAX_ARGUMENTS} settings and options")
        for each in arguments:
            check_text("settings` and `options", each)
            if len(each) > MAX_CHARACTERS:
                raise UserError(f"a setting or an option of more than {MAX_CHARACTERS} characters")
        return cls(arguments, file, text)

    @property
    def process(self) -> list[str]:
        """Return the whole command line of the process."""
        return [sys.executable, "-m", "lasthop", *self.arguments]


def check_text(name: str, text: str) -> None:
    """Raise an error if a text cannot be written to a file or passed on a command line.

    Raises
    ------
    UserError
        If the text contains null characters or surrogates.
    """
    if "\0" in text or any("\ud800" <= each <= "\udfff" for each in text):
        raise UserError(f"`{name}` of a request: not text in UTF-8")


@dataclass(frozen=True)
class Reply:
    """Reply of the server with the output of a command."""

    status: int
    """HTTP status code of the reply."""
    body: dict[str, Any]


def reply_of(code: int, output: bytes, messages: bytes) -> Reply:
    """Return the reply to a request after its command has ended.

    In the reply, `answer` is the printed JSON, and `notes` are the warnings. The values `error` and
    `hint` describe an error. If the scenario is invalid, the HTTP status is still that of a
    success.
    """
    lines = messages.decode("utf-8", "replace").splitlines()
    errors, hints, notes = (
        [line.removeprefix(sort) for line in lines if line.startswith(sort)]
        for sort in ("error: ", "hint: ", "warning: ")
    )
    if code == 0:
        try:
            # JSON does not permit NaN and infinity, so null (unknown) replaces these values.
            answer = json.loads(output, parse_constant=lambda _: None)
        except ValueError:
            return Reply(500, {"error": "the command has not printed JSON", "hint": None})
        return Reply(200, {"answer": answer, "notes": notes})
    status = 200 if code == 2 else 500
    error = "\n".join(errors) or f"the command ended with code {code}"
    return Reply(status, {"error": error, "hint": "\n".join(hints) or None})
