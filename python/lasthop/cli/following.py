"""Display of the status of a gateway or queue on the terminal, updated in place."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Group


@contextmanager
def following(
    tables: Callable[[dict[str, Any], int], "Group"],
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield a function that shows a status on the terminal; `tables` formats the status for the
    width of the terminal.
    """
    from rich.live import Live

    with Live(screen=False, auto_refresh=False, transient=True) as live:

        def show(status: dict[str, Any]) -> None:
            live.update(tables(status, live.console.width), refresh=True)

        yield show


def print_line(status: dict[str, Any]) -> None:
    """Print a status as one line of JSON."""
    print(json.dumps(status), flush=True)
