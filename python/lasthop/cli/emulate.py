"""`lasthop emulate`."""

import signal
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from lasthop.cli.options import File, Json, Settings, read_scenario, unset, whole_number
from lasthop.cli.predict import print_warnings
from lasthop.cli.progress import real_time_bar
from lasthop.cli.tables import print_answer
from lasthop.errors import UserError

if TYPE_CHECKING:
    from lasthop.emulation import Emulation
    from lasthop.emulation.programs import Program
    from lasthop.scenario import Scenario

WITH = "--with"
MOST_RUNS = 1000

Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="-- COMMAND ...", help="Program that runs at NAME; the run ends with it."
    ),
]
At = Annotated[str | None, unset("NAME", "Place where COMMAND runs.", "--at")]
Others = Annotated[
    list[str] | None,
    unset("NAME COMMAND", "Run a command of the shell at a place beside it; repeatable.", WITH),
]
Shell = Annotated[str | None, unset("NAME", "Run a shell at a place; the run ends with it.")]
Replications = Annotated[str | None, unset("N", "Runs one after another, with other seeds.")]
Places = Annotated[bool, typer.Option("--places", help="List places with their addresses.")]


def emulate(
    file: File,
    command: Command = None,
    at: At = None,
    others: Others = None,
    shell: Shell = None,
    places: Places = False,
    replications: Replications = None,
    settings: Settings = None,
    as_json: Json = False,
) -> int:
    """Run a scenario in real time, with the real TCP of Linux between network namespaces.

    With a program it begins when the warm-up is over, the run ends with it, and its exit code is
    the command's own.
    """
    from lasthop.emulation.limits import check_programs

    scenario = read_scenario(file, settings)
    if places:
        check_programs(scenario)
        print_places(scenario)
        return 0
    foreground = program_of(command, at, shell)
    beside = [beside_of(each) for each in others or []]
    count = 1 if replications is None else whole_number(replications, 1, MOST_RUNS, "a number")
    from lasthop.emulation import emulate as run
    from lasthop.emulation.repeat import together

    if foreground is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program's, which the terminal tells too
    runs = []
    for number in range(count):
        seed = {"seed": scenario["seed"] + number}
        shown = nullcontext() if foreground else real_time_bar(f"emulating {number + 1}/{count}")
        with shown as progress:
            one = run(
                scenario,
                settings=seed,
                progress=progress,
                foreground=foreground,
                others=beside,
                quiet=as_json,
            )
            runs.append(one)
    emulation = together(runs)
    print_emulation(scenario, emulation, as_json)
    return emulation.exit_code or 0


def program_of(
    command: Sequence[str] | None, at: str | None, shell: str | None
) -> "Program | None":
    """The program in the foreground, if there is one."""
    from lasthop.emulation.programs import Program, shell_of_user

    if shell is not None:
        if command or at:
            raise UserError(
                "`--shell` and a command exclude each other: both are in the foreground"
            )
        return Program(shell, shell_of_user())
    if command and at is None:
        raise UserError(f"{command[0]}: at which place?", "--at NAME; --places lists them")
    if at is not None and not command:
        raise UserError(f"`--at {at}`: what is to run there?", f"--at {at} -- COMMAND ...")
    return Program(at, command) if at is not None and command else None


def beside_of(text: str) -> "Program":
    """A program beside, from NAME=COMMAND."""
    from lasthop.emulation.programs import Program

    name, equals, command = text.partition("=")
    if not (name and equals and command.strip()):
        raise UserError(
            f'`--with "{text}"`: allowed is a place and a command', "--with server 'iperf3 -s'"
        )
    return Program(name, ["sh", "-c", command])


def joined(args: Sequence[str]) -> list[str]:
    """Arguments in which `--with NAME COMMAND` is one value."""
    done, rest = [], list(args)
    while rest:
        arg = rest.pop(0)
        done.append(arg)
        if arg == "--":
            return [*done, *rest]
        if arg == WITH and len(rest) > 1 and "=" not in rest[0]:
            done.append(f"{rest.pop(0)}={rest.pop(0)}")
    return done


def print_places(scenario: "Scenario") -> None:
    """A line for each place."""
    from lasthop.emulation.places import every_place
    from lasthop.emulation.programs import host_name

    for name, (address, other) in every_place(scenario.typed).items():
        typer.echo(f"{name:20} {address:14} {host_name(name):20} talks to {other}")


def print_emulation(scenario: "Scenario", emulation: "Emulation", as_json: bool) -> None:
    """The answer, and how late it was."""
    if as_json:
        sys.stdout.write(emulation.to_json())
    else:
        length = f"{emulation.summary['duration_s']:.3g} s"
        typer.echo(
            f"{scenario['name']}\n{length} in real time, first {scenario['warmup_s']:g} s cut\n"
        )
        print_answer(emulation.summary, emulation.scenario.typed)
    print_warnings(emulation)
    print_lateness(emulation)


def print_lateness(emulation: "Emulation") -> None:
    """How late packets were, on standard error."""
    if (line := emulation.lateness) is not None:
        print(line, file=sys.stderr)
