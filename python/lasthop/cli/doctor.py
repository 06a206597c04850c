"""`lasthop doctor`."""

import sys

import typer

from lasthop.cli.options import JSON
from lasthop.cli.screen import screen_width

NOT_RUNNING = 1
"""Exit code if a named command does not run."""


def doctor(
    commands: list[str] | None = typer.Argument(
        None,
        metavar="COMMAND",
        help="Report only this command, group or heading, such as emulate or gateway; repeatable. "
        "Exit with 1 if one of these commands does not run.",
    ),
    as_json: bool = JSON,
) -> int:
    """Report which commands run on this machine, and the remedies for those that do not.

    `lasthop doctor` changes nothing on the machine and needs no root. The report has no private
    data: no names of the user or the machine, no addresses and no values of the environment.

    Without COMMAND the exit code is 0. A command that runs without some of its parts counts as
    running.
    """
    from lasthop.doctor import doctor as diagnose
    from lasthop.doctor.diagnosis import commands_named

    diagnosis = diagnose(*(commands or ()))
    report = diagnosis.text(screen_width(), has_facts=not commands)
    sys.stdout.write(diagnosis.to_json() if as_json else report)
    return NOT_RUNNING if diagnosis.failed(commands_named(commands or ())) else 0
