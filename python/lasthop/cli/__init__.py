"""The command line: one file a command, `boundary` for everything that can go wrong."""

from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0, 2 for what the user can put right."""
    import sys

    given = list(sys.argv[1:] if args is None else args)
    if given[:2] == ["completion", "answer"]:  # At each Tab: no command is imported.
        from lasthop.cli.completion.answering import answer

        return answer(given[2:])
    from lasthop.cli.app import app
    from lasthop.cli.boundary import run_command
    from lasthop.cli.emulate import joined
    from lasthop.cli.picture import with_values

    given = with_values(given)
    return run_command(app, joined(given) if given[:1] == ["emulate"] else given)
