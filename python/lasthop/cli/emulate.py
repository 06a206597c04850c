"""`lasthop emulate`."""

import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lasthop.cli.boundary import note, print_warnings, warn
from lasthop.cli.footer import print_footer
from lasthop.cli.options import (
    JSON,
    SEED,
    SETTINGS,
    File,
    cost_of_time,
    file_name,
    flag,
    pairs,
    preset,
    read_scenario,
    unset,
    whole_number,
    writable_file,
)
from lasthop.cli.picture import PLOT, changed, picture_path, save_picture, tell
from lasthop.cli.progress import emulation_bar
from lasthop.cli.report import ANONYMISE, REPORT_FILE, report_path, save_report
from lasthop.cli.tables import print_answer
from lasthop.display.delays import Delays
from lasthop.errors import UserError

if TYPE_CHECKING:
    from lasthop.emulated.captured import Captured
    from lasthop.emulated.emulation import Emulation
    from lasthop.emulation.places import Ways
    from lasthop.emulation.programs import Program
    from lasthop.scenario.scenario import Scenario

LONGEST_S, MAX_PROCESSOR_S = 3600.0, 3600.0
"""Default values of --deadline and --max-time, equal to those of `lasthop.emulation.emulate`.
[s]
"""
WITH, LINK, TRACE = "--with", "--link", "--trace"
MAX_RUNS = 1000
SYSCTL = ("--sysctl", "NAME=VALUE", "net.ipv4.tcp_sack=0")
"""An option with NAME=VALUE pairs: its name, its metavar and an example."""
WIDTHS = (20, 14, 20, 1)
"""Widths of the columns in the list of places (network namespaces). [characters]"""


def run_count(text: str) -> int:
    """Return the number from an option that sets a number of runs."""
    return whole_number(text, 1, MAX_RUNS, "a number of runs")


def deadline_s(text: object) -> float:
    """Return the value of --deadline. [s]"""
    value = cost_of_time(text)
    if value > LONGEST_S:
        raise typer.BadParameter(f'"{text}" is too long: expected at most 1h')
    return value


def emulate(
    file: File,
    command: list[str] | None = typer.Argument(
        None,
        metavar="-- COMMAND ...",
        help="Run COMMAND at a place; the run ends when COMMAND ends.",
    ),
    at: str | None = unset("NAME", "Run COMMAND at this place.", "--at"),
    others: list[str] | None = unset(
        "NAME COMMAND", "Also run a shell command at a place; repeatable.", WITH
    ),
    shell: str | None = unset("NAME", "Run a shell at a place; the run ends when the shell ends."),
    places: bool = flag("--places", "List the places with their addresses."),
    link: str | None = unset(
        "LINK",
        "Emulate one link instead of FILE, given by rate, one-way delay, queue N and loss P.",
        LINK,
    ),
    trace: tuple[str, str] | None = unset(
        "UP DOWN",
        "Emulate one link instead of FILE; its rates follow traces of delivery opportunities, one "
        "file per direction.",
        TRACE,
    ),
    uplink: str | None = unset(
        "INTERFACE", "Forward packets that leave the scenario to this interface of the machine."
    ),
    virtual: bool = flag(
        "--virtual",
        "Run in simulated time in a user-mode Linux, without root and with the same numbers "
        "in each run.",
    ),
    seed: str | None = SEED,
    replications: int | None = unset(
        "N",
        "Run the scenario this many times, each time with another seed; by default once.",
        parser=run_count,
    ),
    deadline: float = preset(
        LONGEST_S,
        "TIME",
        "End COMMAND this long after the start of the emulation, in simulated time with --virtual.",
        "--deadline",
        parser=deadline_s,
        show_default="1h",
    ),
    max_time: float = preset(
        MAX_PROCESSOR_S,
        "TIME",
        "With --virtual, limit the CPU time of each run; a run ends early if its estimated CPU "
        "time exceeds the limit.",
        "--max-time",
        parser=cost_of_time,
        show_default="1h",
    ),
    pcapng: Path | None = unset(
        "FILE", "Write the frames of the cell to a file for Wireshark.", parser=file_name
    ),
    sysctl: list[str] | None = unset(
        "NAME=VALUE",
        "Set a network parameter of the kernel at each place, such as net.ipv4.tcp_sack=0; "
        "repeatable.",
        "--sysctl",
    ),
    relays: bool = flag(
        "--relays", "Send one stream per user of a conflict graph through two relays."
    ),
    follow: list[str] | None = unset(
        "SETTING",
        "Apply initial_rto (by BPF) or initial_window of the scenario's table tcp to the kernel; "
        "repeatable.",
        "--follow",
    ),
    gro: bool = flag("--gro", "Combine segments that arrive together at a host into one packet."),
    settings: list[str] | None = SETTINGS,
    plot: str | None = PLOT,
    report: Path | None = REPORT_FILE,
    anonymise: bool = ANONYMISE,
    as_json: bool = JSON,
) -> int:
    """Run a scenario with the real TCP of Linux between network namespaces.

    By default the scenario runs in real time and needs root. With --virtual it runs in simulated
    time in a user-mode Linux, needs no root, and gives the same numbers in each run.

    COMMAND starts when the warm-up is over. The run ends when COMMAND ends, and lasthop exits with
    the exit code of COMMAND. Programs run at places, which are nodes of the scenario (--places).

    --link "12 Mbps, 40 ms, queue 100" replaces the scenario by one link between the places client
    and server; COMMAND runs at client. With --trace UP DOWN, the rate of the link follows files
    in mahimahi's format. With --uplink, programs reach addresses outside the scenario through the
    scenario's network and an interface of this machine, by address translation.
    """
    from lasthop.emulation.limits import check_programs

    scenario, ways = of_file_or_link(file, link, trace, settings, seed)
    if places:
        check_programs(scenario)
        print_places(scenario, ways, as_json)
        return 0
    if ways and shell is None and not command:
        option = TRACE if link is None else LINK
        raise UserError(
            f"{option}: missing command to run", f"add the command: {option} ... -- COMMAND ..."
        )
    if command and at is None:
        at = next((client for client, _ in ways.values()), None)
    if pcapng is not None:
        writable_file(pcapng, "--pcapng", file)
    if virtual and shell is not None:
        raise UserError("--shell: cannot be combined with --virtual: a shell needs real time")
    if not virtual and max_time != MAX_PROCESSOR_S:
        raise UserError("--max-time: limits only runs in simulated time", "add --virtual")
    more = (
        ("virtual", "yes" if virtual else None),
        ("link", link),
        ("trace", None if trace is None else " ".join(trace)),
        ("at", at if command else shell),
        ("relays", "yes" if relays else None),
        ("follow", ",".join(follow or []) or None),
        ("gro", "yes" if gro else None),
        ("replications", None if replications is None else str(replications)),
        *((name, value) for name, value in pairs(sysctl or [], *SYSCTL)),
    )
    picture = picture_path(plot, scenario, "emulate", changed(scenario, *more))
    reported = report_path(report, anonymise, file)
    companions = [companion_program(each) for each in others or []]
    foreground = program_of(command, at, shell)
    count = replications or 1
    kernel = dict(pairs(sysctl or [], *SYSCTL))
    from lasthop.emulation.replicate import replicate

    title = f"emulating {count} times" if count > 1 else "emulating"
    bar = emulation_bar(title, virtual=virtual)
    with nullcontext() if foreground else bar as progress:
        emulation = replicate(
            scenario,
            count,
            progress,
            foreground=foreground,
            others=companions,
            quiet=as_json,
            pcapng=pcapng,
            ways=ways,
            uplink=uplink,
            sysctl=kernel,
            relays=relays,
            follow=follow or [],
            gro=gro,
            virtual=virtual,
            deadline_s=deadline,
            max_time_s=max_time,
        )
    runs_programs = bool(foreground or companions or ways or scenario.typed.programs)
    print_emulation(scenario, emulation, as_json=as_json, runs_programs=runs_programs)
    print_captured(emulation.captured)
    if pcapng is not None:
        tell("capture", pcapng, as_json=as_json)
    save_picture(lambda: emulation.plot(), picture, as_json=as_json)
    save_report(emulation, reported, anonymise, as_json=as_json)
    return emulation.exit_code or 0


def of_file_or_link(
    file: str,
    words: str | None,
    traces: tuple[str, str] | None,
    settings: list[str] | None,
    seed: str | None,
) -> "tuple[Scenario, Ways]":
    """Return the scenario of FILE, or of --link and --trace. Also return the routes (`Ways`) that
    only programs use; there are none for a FILE.
    """
    if words is None and traces is None:
        return read_scenario(file, settings, seed=seed), {}
    from lasthop.emulation.link import WAYS, link

    if file:
        option = TRACE if words is None else LINK
        raise UserError(
            f"{option}: replaces FILE, and cannot be combined with {file}: expected one of the two"
        )
    replaced = pairs(settings or [], "--set", "PATH=VALUE", "tcp.mss=1000")
    replaced += [] if seed is None else [("seed", seed)]
    return link(words or "", replaced, traces), WAYS


def program_of(
    command: Sequence[str] | None, at: str | None, shell: str | None
) -> "Program | None":
    """Return the program of --shell or of the command after ``--``; None if neither is given."""
    from lasthop.emulation.programs import Program, shell_of_user

    if shell is not None:
        if command or at:
            raise UserError(
                "--shell: cannot be combined with a command: both run in the foreground"
            )
        return Program(shell, shell_of_user())
    if command and not command[0]:
        raise UserError("the command is empty", "give a command: -- COMMAND ...")
    if command and at is None:
        raise UserError(
            f"{command[0]}: missing place for this command",
            "add --at NAME; run `lasthop emulate FILE --places` for the names",
        )
    if at is not None and not command:
        raise UserError(
            f"--at {at}: missing command to run", f"add the command: --at {at} -- COMMAND ..."
        )
    return Program(at, command) if at is not None and command else None


def companion_program(text: str) -> "Program":
    """Return the program of one --with option, from text NAME=COMMAND."""
    from lasthop.emulation.programs import Program

    name, equals, command = text.partition("=")
    if not (name and equals and command.strip()):
        raise UserError(
            f'--with "{text}": expected a place and a command',
            "give both, such as --with server 'iperf3 -s'",
        )
    return Program.of_shell(name, command)


def joined(args: Sequence[str]) -> list[str]:
    """Return the arguments with each `--with NAME COMMAND` joined to `--with NAME=COMMAND`.

    If `--link` or `--trace` is given, an empty argument FILE is added.
    """
    done: list[str] = []
    rest = list(args)
    while rest and rest[0] != "--":
        arg = rest.pop(0)
        done.append(arg)
        lacking = {TRACE: rest[:2], WITH: rest[:1]}.get(arg, [])
        if "--" in lacking:  # The parser reports missing values.
            return [*done, *rest[: rest.index("--")]]
        has_command = len(rest) > 1 and not rest[1].startswith("--")
        if arg == WITH and has_command and "=" not in rest[0]:
            done.append(f"{rest.pop(0)}={rest.pop(0)}")
    options = [arg.partition("=")[0] for arg in done]
    has_link = any(each in (LINK, TRACE) for each in options) and done[-1] not in (LINK, TRACE)
    return [*done, *([""] if has_link else []), *rest]


def print_places(scenario: "Scenario", ways: "Ways", as_json: bool) -> None:
    """Print one line per place, which is a network namespace of the emulation."""
    from lasthop.emulation.places import every_place
    from lasthop.emulation.programs import host_name

    heads = ("place", "address", "host name", "talks to")
    rows = [
        (name, place.address, host_name(name), place.other)
        for name, place in every_place(scenario.typed, ways).items()
    ]
    if as_json:
        keys = [head.replace(" ", "_") for head in heads]
        typer.echo(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=2))
        return
    for row in (heads, *rows):
        typer.echo("  ".join(f"{cell:{width}}" for cell, width in zip(row, WIDTHS, strict=True)))


def print_emulation(
    scenario: "Scenario", emulation: "Emulation", *, as_json: bool, runs_programs: bool
) -> None:
    """Print the results of an emulation, and how late packets were."""
    if as_json:
        sys.stdout.write(emulation.to_json())
    else:
        heading, known = emulation.heading, scenario.typed
        runs = heading.replications
        length = f"{heading.duration_s:.3g} s in {emulation.clock}"
        if emulation.is_simulated_time:
            length += f", seed {heading.seed}"
        if runs > 1:
            length = f"{runs} x {length}"
        if known.warmup_s > 0:
            length += f", first {known.warmup_s:g} s cut"
        if runs > 1:
            length += "; ± is a 95 % interval"
        delays = Delays.of(emulation)
        typer.echo("\n".join([known.name, *delays.headlines(), f"{length}\n"]))
        print_answer(emulation, delays)
        if not runs_programs:
            print_footer(emulation.scenario, emulation)
    print_warnings(emulation)
    print_lateness(emulation)


def print_captured(captured: "Captured | None") -> None:
    """Print a warning if a packet capture is incomplete.

    Raises
    ------
    UserError
        If the capture could not be written.
    """
    if captured is None:
        return
    if captured.error is not None:
        raise UserError(f"--pcapng {captured.path}: {captured.error}")
    if not captured.is_whole:
        warn(f"{captured.path}: ends after {captured.frames} frames")


def print_lateness(emulation: "Emulation") -> None:
    """Print on standard error how late packets were."""
    for line in emulation.lateness:
        note(line, err=True)
