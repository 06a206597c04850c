"""`lasthop completion`."""

from pathlib import Path
from typing import Annotated

import typer

SHELLS = ("bash", "zsh", "fish")

SHARE = Path(__file__).parent / "share"


def shell_name(text: str) -> str:
    """Return the name of a supported shell from the argument SHELL."""
    if text not in SHELLS:
        raise typer.BadParameter(f'"{text}": expected one of {", ".join(SHELLS)}')
    return text


def completion(
    shell: Annotated[
        str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.", parser=shell_name)
    ],
) -> None:
    """Print a script with which a shell completes commands, options, files and key paths at Tab.

    The first lines of the script explain where to install it.
    """
    typer.echo((SHARE / f"lasthop.{shell}").read_text("utf-8"), nl=False)
