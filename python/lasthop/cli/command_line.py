"""Command line of this process as text. Files contain the command that wrote them."""

from collections.abc import Sequence

__all__ = ["command_line", "given_after", "remember"]

_given: list[str] = []


def remember(args: Sequence[str]) -> None:
    """Store the arguments of the running command."""
    _given[:] = args


def command_line() -> str:
    """Return the running command as text, quoted for a shell."""
    from lasthop.shell import command_text

    return command_text(["lasthop", *_given])


def given_after(option: str) -> str | None:
    """Return the argument after an option of the running command; None if there is none."""
    from itertools import pairwise

    return next((value for name, value in pairwise(_given) if name == option), None)
