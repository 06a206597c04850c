"""`lasthop gateway`: commands that enforce fairness on a Linux machine."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lasthop.cli.boundary import warn
from lasthop.cli.options import JSON, counted, file_name, flag, pairs, unset
from lasthop.cli.standing import Service
from lasthop.errors import UserError

if TYPE_CHECKING:
    from lasthop.enforce.gateway.config import Gateway

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="Scenario with a table [gateway], TOML or JSON; - is standard input."
    ),
]
SETTINGS = unset("PATH=VALUE", "Replace a value, such as gateway.fairness=flow.", "--set")
DIRECTORY = unset(
    "DIR",
    "Keep the lock and the undo log in this directory; by default in /run/lasthop/NAME, where "
    "NAME is the value of gateway.lan. In a network namespace other than the first, NAME ends "
    "in @ and the number of the namespace.",
    "--state",
    parser=file_name,
)


def read(file: str, settings: list[str] | None) -> "Gateway":
    """Read the gateway configuration in `file` with settings of the command line, and check whether
    the kernel supports it.
    """
    from lasthop.enforce.gateway import config
    from lasthop.enforce.gateway.layout import refuse_excess_stations

    source = file if file in ("", "-") else Path(file)
    gateway = config.read(source, given(settings))
    try:
        refuse_excess_stations(gateway, gateway.stations)
    except UserError as error:
        raise UserError(f"{file}: {error}", error.hint) from None
    return gateway


def given(settings: list[str] | None) -> list[tuple[str, str]]:
    """Return the --set options as pairs of key path and value."""
    return pairs(settings or [], "--set", "PATH=VALUE", "gateway.fairness=flow")


def service(file: str, settings: list[str] | None, state: Path | None) -> Service:
    """Return the gateway that is described in a file."""
    from lasthop.enforce.gateway import operate

    return Service(operate.GATEWAY, file, given(settings), state)


def check(file: File, settings: list[str] | None = SETTINGS, as_json: bool = JSON) -> None:
    """Check a gateway's file and, with root rights, this machine.

    The features of the kernel are tested in a separate network namespace; this machine is not
    changed.
    """
    gateway = read(file, settings)
    from lasthop.enforce.gateway import operate

    warnings, leaves, ports = operate.check(gateway)
    if as_json:
        answer = {
            "name": gateway.name,
            "warnings": warnings,
            "leaves": leaves,
            "ports": dict(ports),
        }
        typer.echo(json.dumps(answer, indent=2))
        return
    counts = [counted(len(gateway.aps), "access point"), counted(len(gateway.stations), "station")]
    found = ", and discovered stations" if gateway.finds_stations else ""
    typer.echo(f"{file}: ok: {gateway.name}: {', '.join(counts)}{found}{leaves_text(leaves)}")
    for port, count in ports.items():
        typer.echo(f"{port}: {counted(count, 'MAC address', 'MAC addresses')}")
    warn(*warnings)


def plan(
    file: File,
    settings: list[str] | None = SETTINGS,
    as_script: bool = flag(
        "--sh",
        "Print a shell script that runs these commands on a router without Python (OpenWrt). The "
        "script also discovers stations, adapts the rate C, and finally reverts all changes.",
    ),
    as_json: bool = JSON,
) -> None:
    """Print the commands that are equivalent to `up`, without running them.

    The commands are complete for stations whose IP addresses are in the file. Stations and members
    of groups that are listed only by MAC address are added by `up` when it finds them. `up`
    configures the kernel directly and does not use the programs ip, tc, bpftool and ethtool.
    """
    if as_script:
        if as_json:
            raise UserError("--sh: cannot be combined with --json: a script is not JSON")
        from lasthop.enforce.gateway.script import script

        gateway = read(file, settings)
        try:
            text = script(gateway)
        except UserError as error:
            raise UserError(f"{file}: {error}", error.hint) from None
        typer.echo(text, nl=False)
        return
    from lasthop.enforce.gateway.shaper import plan as commands

    lines = commands(read(file, settings))
    typer.echo(json.dumps(lines, indent=2) if as_json else "\n".join(lines))


def up(
    file: File,
    settings: list[str] | None = SETTINGS,
    state: Path | None = DIRECTORY,
    as_json: bool = JSON,
) -> None:
    """Enforce fairness in the background.

    A gateway that is already up switches to the new file. A file that is refused changes nothing.
    """
    gateway = read(file, settings)
    from lasthop.daemon import verbs
    from lasthop.enforce.gateway import operate

    done = verbs.up(operate.GATEWAY, file, gateway, given(settings), state)
    now = verbs.status(operate.GATEWAY, file, given(settings), state)
    leaves = None if isinstance(now, verbs.NotUp) else now["leaves"]
    warnings = operate.warnings(gateway, leaves)
    if as_json:
        typer.echo(json.dumps({"done": done, "warnings": warnings, "leaves": leaves}))
        return
    typer.echo(done + leaves_text(leaves))
    warn(*warnings)


def down(
    file: File,
    settings: list[str] | None = SETTINGS,
    state: Path | None = DIRECTORY,
    as_json: bool = JSON,
) -> None:
    """Stop the gateway and revert all its changes, also after a crash. Nothing else is changed."""
    service(file, settings, state).down(as_json=as_json)


def status(
    file: File,
    settings: list[str] | None = SETTINGS,
    state: Path | None = DIRECTORY,
    as_json: bool = JSON,
) -> None:
    """Print rates, round-trip times, and the throughput of every station."""
    gateway = service(file, settings, state)
    from lasthop.enforce.gateway.live import tables

    gateway.status(lambda now, columns: tables(now, width=columns), as_json=as_json)


def run(
    file: File,
    settings: list[str] | None = SETTINGS,
    state: Path | None = DIRECTORY,
    live: bool | None = flag(
        "--live/--no-live",
        "Show rates as they change, or do not show them; by default show them only on a terminal.",
        default=None,
    ),
    as_json: bool = JSON,
) -> None:
    """Enforce fairness in the foreground, until Ctrl-C or SIGTERM; then revert all changes.

    On SIGHUP the command reads the file again. Service managers start this command. With --json,
    the command prints the status every second, one object per line.
    """
    gateway = read(file, settings)
    from lasthop.enforce.gateway import operate
    from lasthop.enforce.gateway.live import MAX_ROWS, tables

    warn(*operate.warnings(gateway))
    service(file, settings, state).run(
        gateway, lambda now, columns: tables(now, MAX_ROWS, columns), live=live, as_json=as_json
    )


def leaves_text(leaves: Mapping[str, str] | None) -> str:
    """Return a clause about the queue discipline of the leaf classes, and why it was chosen."""
    return "" if leaves is None else f"; leaf queues: {leaves['discipline']}, {leaves['why']}"


COMMANDS: dict[Callable[..., None], str] = {
    check: "Check a gateway's file and this machine.",
    plan: "Print the equivalent tc commands, or a script.",
    up: "Enforce fairness, in the background.",
    status: "Print rates and the throughput of stations.",
    down: "Stop the gateway and revert all changes.",
    run: "Enforce fairness, in the foreground.",
}
"""Functions of the group's commands, with one-line descriptions."""
