"""The command line: one file per command, and `boundary` for all errors."""

from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0 on success, 2 after an error of the user."""
    import sys

    given = list(sys.argv[1:] if args is None else args)
    # The shell runs this command at each Tab. No other command is imported, so the completion is
    # fast.
    if given[:2] == ["completion", "answer"]:
        from lasthop.cli.completion.answering import answer

        return answer(given[2:])
    if "--version" in given:
        from lasthop.cli.version import options_of, print_version

        options = options_of(given)
        if options is not None and print_version(options):
            return 0
    asked = given
    if "--plot" in given:
        from lasthop.cli.picture import with_values

        given = with_values(given)
    if given[:1] == ["emulate"]:
        from lasthop.cli.emulate import joined

        given = joined(given)
    from lasthop.cli.boundary import run_command
    from lasthop.cli.command_line import remember
    from lasthop.cli.fast_arguments import run

    remember(asked)
    return run_command(run, given)
