"""`lasthop queue`: shape an interface of this machine with the queue of a scenario's link."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lasthop.cli.boundary import warn
from lasthop.cli.options import JSON, counted, file_name, flag, pairs, unset, whole_number
from lasthop.cli.progress import real_time_bar
from lasthop.cli.standing import Service
from lasthop.errors import UserError
from lasthop.scenario.scenario import Scenario

if TYPE_CHECKING:
    from lasthop.enforce.queue.config import LinkQueue

MIN_LISTEN_S, MAX_LISTEN_S = 2, 600
"""Smallest and largest observation time of --listen. [s]"""
MAX_FLOWS = 100_000
DEFAULT_CONGESTION = "newreno"
"""Default congestion control of the flows in the stability check."""

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="Scenario with a table [interface], TOML or JSON; - is standard input."
    ),
]
SETTINGS = unset("PATH=VALUE", 'Replace a value, such as interface.rate="18 Mbps".', "--set")
DIRECTORY = unset(
    "DIR",
    "Keep the lock and the undo log in this directory; by default in /run/lasthop/NAME, where "
    "NAME is the interface. In a network namespace other than the first, NAME ends in @ and "
    "the number of the namespace.",
    "--state",
    parser=file_name,
)


def read(file: str, settings: list[str] | None) -> "LinkQueue":
    """Read the interface in `file` with settings of the command line, and check whether Linux
    supports the queue.
    """
    from lasthop.enforce.queue import config
    from lasthop.enforce.queue.layout import discipline_of

    source = file if file in ("", "-") else Path(file)
    wanted = config.read(source, given(settings))
    try:
        discipline_of(wanted)
    except UserError as error:
        raise UserError(f"{file}: {error}", error.hint) from None
    return wanted


def given(settings: list[str] | None) -> list[tuple[str, str]]:
    """Return the --set options as pairs of key path and value."""
    return pairs(settings or [], "--set", "PATH=VALUE", "interface.rate=18 Mbps")


def flows_text(flows: int, rtt: str, algorithm: str) -> str:
    """Return a phrase such as ``5 newreno flows with an RTT of 40 ms``."""
    return f"{counted(flows, f'{algorithm} flow')} with an RTT of {rtt}"


def flow_count(text: str) -> int:
    """Return the number from --flows."""
    return whole_number(text, 1, MAX_FLOWS, "a number of flows")


def seconds(text: str) -> int:
    """Return the observation time from --listen. [s]"""
    return whole_number(text, MIN_LISTEN_S, MAX_LISTEN_S, "a number of seconds")


def service(file: str, settings: list[str] | None, state: Path | None) -> Service:
    """Return the shaped queue that is described in a file."""
    from lasthop.enforce.queue import operate

    return Service(operate.QUEUE, file, given(settings), state)


def check(
    file: File,
    settings: list[str] | None = SETTINGS,
    flows: int | None = unset(
        "N",
        "Predict whether the queue would oscillate with N long-lived flows; needs --rtt.",
        "--flows",
        parser=flow_count,
    ),
    rtt: str | None = unset(
        "TIME",
        'Set the round-trip time of these flows without the queue, such as "40 ms".',
        "--rtt",
    ),
    congestion: str | None = unset(
        "NAME", "Set the congestion control of these flows; by default newreno.", "--congestion"
    ),
    listen: int | None = unset(
        "SECONDS",
        "Observe the interface for this time, and predict whether the queue would oscillate "
        "with the flows that send now.",
        parser=seconds,
    ),
    state: Path | None = DIRECTORY,
    as_json: bool = JSON,
) -> None:
    """Check an interface's file and, with root rights, this machine; nothing is changed.

    The fluid models of `lasthop stability` predict whether the queue would oscillate. The flows are
    given by --flows and --rtt, observed with --listen, or taken from the file if the file is also a
    scenario to simulate.
    """
    from lasthop.enforce.queue import oscillation as model

    wanted = read(file, settings)
    if listen is not None and (flows is not None or rtt is not None):
        raise UserError("--listen: measures flows and RTT: expected no --flows and no --rtt")
    if congestion is not None and flows is None and listen is None:
        raise UserError(
            f"--congestion {congestion}: expected --flows and --rtt, or --listen, as well"
        )
    algorithm = congestion or DEFAULT_CONGESTION
    oscillation = oscillation_of(wanted, file, settings, flows, rtt, algorithm)
    if listen is not None:
        # This call reports wrong options before the observation. Its result is ignored.
        model.verdict(wanted, 1, "1 s", algorithm)
    from lasthop.enforce.queue import operate

    warnings, observed = operate.check(wanted, state), None
    if listen is not None:
        observed, oscillation = oscillation_of_observed(wanted, listen, algorithm)
    if as_json:
        answer = {
            "name": wanted.name,
            "warnings": warnings,
            "heard": observed,
            "swing": oscillation,
        }
        typer.echo(json.dumps(answer, indent=2))
        return
    typer.echo(f"{file}: ok: {queue_text(wanted)}")
    if observed is not None:
        typer.echo(observed["said"])
    if oscillation is not None:
        typer.echo(oscillation["said"])
    warn(*warnings)


def oscillation_of(
    wanted: "LinkQueue",
    file: str,
    settings: list[str] | None,
    flows: int | None,
    rtt: str | None,
    algorithm: str,
) -> dict[str, Any] | None:
    """Return the fluid models' verdict on the stability of the queue; None if its flows are
    unknown.
    """
    from lasthop.enforce.queue import oscillation

    if (flows is None) != (rtt is None):
        raise UserError("--flows and --rtt: must be given together")
    if flows is not None and rtt is not None:
        verdict = oscillation.verdict(wanted, flows, rtt, algorithm)
        text = flows_text(flows, rtt, algorithm)
    elif wanted.link is None or file == "-":
        return None
    else:
        verdict = oscillation.verdict_of(Scenario(Path(file), given(settings)))
        text = f"the scenario's flows over {wanted.link}"
    return {**verdict.as_json(), "said": oscillation.in_words(verdict, text)}


def oscillation_of_observed(
    wanted: "LinkQueue", over_s: int, algorithm: str
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Observe the interface; return its flows, and the stability of the queue with these flows."""
    from lasthop.enforce.queue import census, oscillation

    with real_time_bar("listening") as progress:
        counts = census.listen(wanted.interface, over_s, progress)
    observed = {**counts._asdict(), "rtt_s": counts.rtt_s, "said": census.in_words(counts, wanted)}
    if counts.rtt_s is None:
        return observed, None
    result = oscillation.verdict(wanted, counts.flows, f"{counts.rtt_s} s", algorithm)
    text = flows_text(counts.flows, f"{1e3 * counts.rtt_s:.3g} ms", algorithm)
    return observed, {**result.as_json(), "said": oscillation.in_words(result, text)}


def plan(file: File, settings: list[str] | None = SETTINGS, as_json: bool = JSON) -> None:
    """Print the commands that are equivalent to `up`, without running them.

    `up` configures the kernel directly and does not use the programs ip, tc and ethtool. A queue
    that classes share needs a BPF program whose settings `tc` cannot pass.
    """
    from lasthop.enforce.queue.shaped import plan as commands

    lines = commands(read(file, settings))
    typer.echo(json.dumps(lines, indent=2) if as_json else "\n".join(lines))


def up(
    file: File,
    settings: list[str] | None = SETTINGS,
    state: Path | None = DIRECTORY,
    as_json: bool = JSON,
) -> None:
    """Shape the interface in the background.

    A queue that is already up switches to the new file. A file that is refused changes nothing.
    """
    wanted = read(file, settings)
    from lasthop.daemon import verbs
    from lasthop.enforce.queue import operate

    done = verbs.up(operate.QUEUE, file, wanted, given(settings), state)
    warnings = operate.warnings(wanted)
    if as_json:
        typer.echo(json.dumps({"done": done, "warnings": warnings}))
        return
    typer.echo(f"{done}; {queue_text(wanted)}")
    warn(*warnings)


def down(
    file: File,
    settings: list[str] | None = SETTINGS,
    state: Path | None = DIRECTORY,
    as_json: bool = JSON,
) -> None:
    """Stop shaping and revert all its changes, also after a crash. Nothing else is changed."""
    service(file, settings, state).down(as_json=as_json)


def status(
    file: File,
    settings: list[str] | None = SETTINGS,
    state: Path | None = DIRECTORY,
    as_json: bool = JSON,
) -> None:
    """Print occupancy, delay, drops, and the throughput of every class."""
    queue = service(file, settings, state)
    from lasthop.enforce.queue.live import tables

    queue.status(lambda now, _: tables(now), as_json=as_json)


def run(
    file: File,
    settings: list[str] | None = SETTINGS,
    state: Path | None = DIRECTORY,
    live: bool | None = flag(
        "--live/--no-live",
        "Show the queue as it changes, or do not show it; by default show it only on a terminal.",
        default=None,
    ),
    as_json: bool = JSON,
) -> None:
    """Shape the interface in the foreground, until Ctrl-C or SIGTERM; then revert all changes.

    On SIGHUP the command reads the file again. Service managers start this command. With --json,
    the command prints the status every second, one object per line.
    """
    wanted = read(file, settings)
    from lasthop.enforce.queue import operate
    from lasthop.enforce.queue.live import tables

    warn(*operate.warnings(wanted))
    service(file, settings, state).run(
        wanted, lambda now, _: tables(now), live=live, as_json=as_json
    )


def queue_text(wanted: "LinkQueue") -> str:
    """Return a phrase with the rate and the queue of an interface."""
    from lasthop.enforce.queue.cake import options_of
    from lasthop.scenario.queues import Cake

    if isinstance(wanted.queue, Cake):
        return f"{wanted.interface}, cake {' '.join(options_of(wanted, wanted.queue).words())}"
    classes = f", {counted(len(wanted.classes), 'class', 'classes')}" if wanted.classes else ""
    return (
        f"{wanted.interface} at {wanted.rate_bps / 1e6:g} Mbit/s, "
        f"{wanted.discipline.replace('_', '-')} of {wanted.queue_packets} packets{classes}"
    )


COMMANDS: dict[Callable[..., None], str] = {
    check: "Check an interface's file and this machine.",
    plan: "Print the equivalent tc commands.",
    up: "Shape an interface, in the background.",
    status: "Print occupancy, delay, drops and classes.",
    down: "Stop shaping and revert all changes.",
    run: "Shape an interface, in the foreground.",
}
"""Functions of the group's commands, with one-line descriptions."""
