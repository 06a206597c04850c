"""`lasthop doctor`."""

import sys

import typer

from lasthop.cli.options import JSON
from lasthop.cli.screen import screen_width

NOT_RUNNING = 1
"""Exit code if a verb of the command line does not run."""


def doctor(
    verbs: list[str] | None = typer.Argument(
        None,
        metavar="[VERB]",
        help="Report only this verb or group, such as emulate or gateway; repeatable. Exit with 1 "
        "if one of these verbs does not run.",
    ),
    as_json: bool = JSON,
) -> int:
    """Report which verbs run on this machine, and what helps where they do not.

    The command changes nothing on the machine and needs no root. The report has no private data: no
    names of the user or the machine, no addresses and no values of the environment.

    Without VERB the exit code is 0. A verb that runs without some of its parts counts as running.
    """
    from lasthop.doctor import doctor as diagnose
    from lasthop.doctor.diagnosis import verbs_named

    diagnosis = diagnose(*(verbs or ()))
    report = diagnosis.text(screen_width(), has_facts=not verbs)
    sys.stdout.write(diagnosis.to_json() if as_json else report)
    return NOT_RUNNING if diagnosis.failed(verbs_named(verbs or ())) else 0
