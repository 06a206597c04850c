"""The command line: one file a command, `boundary` for everything that can go wrong."""

from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0, 2 for what the user can put right."""
    import sys

    from lasthop.cli.app import app
    from lasthop.cli.boundary import run_command
    from lasthop.cli.emulate import joined
    from lasthop.cli.picture import with_values

    given = with_values(sys.argv[1:] if args is None else args)
    return run_command(app, joined(given) if given[:1] == ["emulate"] else given)
