"""Output of `down` and `status` for gateways and queues."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lasthop.cli.options import counted
from lasthop.errors import UserError

if TYPE_CHECKING:
    from rich.console import Group

    from lasthop.daemon.sort import Settings, Sort, Wanted

PLAIN_WIDTH = 160
"""Width of a table where there is no terminal. [characters]"""


def needs_linux(what: str) -> None:
    """Refuse other systems, which have no such network, in one line."""
    if not sys.platform.startswith("linux"):
        raise UserError(f"the {what} needs Linux; this is {sys.platform}")


def down(
    sort: "Sort[Wanted]", file: str, settings: "Settings", state: Path | None, *, as_json: bool
) -> None:
    """End what the file has up."""
    from lasthop.daemon import verbs

    done = verbs.down(sort, file, settings, state)
    typer.echo(json.dumps({"done": done}) if as_json else done)


def status(
    sort: "Sort[Wanted]",
    file: str,
    settings: "Settings",
    state: Path | None,
    tables: "Callable[[dict[str, Any], int], Group]",
    *,
    as_json: bool,
) -> None:
    """Print the status of the file's gateway or queue, or why it is not up.

    `tables` is called with the status and the available width.
    """
    from lasthop.daemon import verbs

    now = verbs.status(sort, file, settings, state)
    if as_json:
        typer.echo(json.dumps(None if isinstance(now, verbs.NotUp) else now, indent=2))
    elif isinstance(now, verbs.NotUp):
        left = counted(now.left, "change")
        killed = [f"{left} of a process that was killed are left"] if now.left else []
        typer.echo("; ".join(["not up", *killed, *now.elsewhere]))
    else:
        from rich.console import Console

        console = Console()
        if not console.is_terminal:  # a file or a pipe has no edge
            console.width = PLAIN_WIDTH
        console.print(tables(now, console.width))
