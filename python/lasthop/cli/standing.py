"""Commands `down`, `status` and `run`, which gateways and shaped queues have in common."""

import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from lasthop.cli.options import counted

if TYPE_CHECKING:
    from rich.console import Group

    from lasthop.daemon.configuration import Settings
    from lasthop.daemon.service_kind import ServiceKind

    Tables: TypeAlias = Callable[[dict[str, Any], int], Group]
    """Function that formats a status as tables for an available width."""

PLAIN_WIDTH = 160
"""Width of tables if standard output is not a terminal. [characters]"""


@dataclass(frozen=True)
class Service:
    """The gateway or shaped queue that is described in a file.

    Parameters
    ----------
    kind : ServiceKind
        Whether the file describes a gateway or a queue.
    file : str
        Path of the file.
    settings : sequence of pairs
        Values set from the command line.
    state : path, optional
        Directory of the lock file and the undo log.
    """

    kind: "ServiceKind[Any]"
    file: str
    settings: "Settings"
    state: Path | None

    def down(self, *, as_json: bool) -> None:
        """Stop the gateway or queue."""
        from lasthop.daemon import verbs

        done = verbs.down(self.kind, self.file, self.settings, self.state)
        typer.echo(json.dumps({"done": done}) if as_json else done)

    def status(self, tables: "Tables", *, as_json: bool) -> None:
        """Print the status of the gateway or queue, or the reason why it is not running.

        `tables` is called with the status and the available width.
        """
        from lasthop.daemon import verbs

        now = verbs.status(self.kind, self.file, self.settings, self.state)
        if as_json:
            typer.echo(json.dumps(None if isinstance(now, verbs.NotUp) else now, indent=2))
        elif isinstance(now, verbs.NotUp):
            word = self.kind.word
            killed = []
            if now.left:
                left = counted(now.left, "change")
                killed = [f"a killed process left {left}, which `lasthop {word} down` reverts"]
            typer.echo("; ".join([f"the {word} is not up", *killed, *now.elsewhere]))
        else:
            from rich.console import Console

            console = Console()
            # Do not cut the lines of a file or a pipe.
            if not console.is_terminal:
                console.width = PLAIN_WIDTH
            console.print(tables(now, console.width))

    def run(self, wanted: Any, tables: "Tables", *, live: bool | None, as_json: bool) -> None:
        """Run the gateway or queue in the foreground. If `live` is true, the tables that `tables`
        makes of the status are shown every second.
        """
        from lasthop.cli.following import following, print_line
        from lasthop.daemon import verbs

        follow = sys.stdout.isatty() if live is None else live
        shown = following(tables) if follow else nullcontext()
        with nullcontext(print_line) if as_json else shown as show:
            verbs.run(self.kind, self.file, wanted, self.settings, self.state, show)
