"""`lasthop completion`."""

from pathlib import Path
from typing import Annotated

import typer

SHELLS = ("bash", "zsh", "fish")

SHARE = Path(__file__).parent / "share"


def shell_name(text: str) -> str:
    """The value of SHELL."""
    if text not in SHELLS:
        raise typer.BadParameter(f'"{text}" is no shell of these: {", ".join(SHELLS)}')
    return text


def completion(
    shell: Annotated[
        str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.", parser=shell_name)
    ],
) -> None:
    """Print a script that has a shell complete commands, options, files and key paths at Tab.

    Its first lines say where it goes.
    """
    typer.echo((SHARE / f"lasthop.{shell}").read_text("utf-8"), nl=False)
