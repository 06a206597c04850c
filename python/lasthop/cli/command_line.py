"""Command line of this process as text. Files contain the command that wrote them."""

from collections.abc import Sequence

__all__ = ["command_line", "remember"]

_given: list[str] = []


def remember(args: Sequence[str]) -> None:
    """Store the arguments of the running command."""
    _given[:] = args


def command_line() -> str:
    """Return the running command as text, quoted for a shell."""
    from shlex import join

    return join(["lasthop", *_given])
