"""`lasthop import`: scenarios from captures, station dumps and settings of access points."""

import itertools
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lasthop.cli.boundary import Interrupted, note, warn
from lasthop.cli.options import (
    JSON,
    READING_TIME,
    counted,
    file_name,
    flag,
    preset,
    unset,
    whole_number,
    writable_file,
)
from lasthop.cli.progress import reading_bar
from lasthop.errors import ScenarioError, UserError
from lasthop.progress.cost_limits import allowing
from lasthop.scenario.scenario import Scenario

if TYPE_CHECKING:
    from lasthop.importing.observed import Network

MAX_STATIONS = 1000

OUT = unset(
    "FILE",
    "Write the scenario to this new file and print its name. By default the scenario goes to "
    "standard output.",
    parser=file_name,
)
ADDRESSES = flag("--addresses", "Show the addresses of stations in comments.")


def station_count(text: object) -> int:
    """Return the number from --stations."""
    if isinstance(text, int):  # The default value is a number.
        return text
    return whole_number(str(text), 1, MAX_STATIONS, "a number of stations")


def source(what: str) -> Any:
    """Return the argument for the file to import."""
    return typer.Argument(metavar="FILE", help=f"{what}; - is standard input.", parser=file_name)


STATIONS = preset(
    4,
    "N",
    "Assume this many stations, since the file does not list stations.",
    parser=station_count,
)


def pcap(
    file: Annotated[Path, source("Capture, pcap or pcapng, optionally compressed by gzip")],
    ap: str | None = unset(
        "MAC", "Select this access point; by default the access point with most data."
    ),
    lan: str | None = unset(
        "SUBNET",
        "Set the subnet of the stations of a wired capture; by default all private addresses.",
    ),
    phy: str | None = unset(
        "NAME",
        "Set the preset, such as 802.11g or 802.11ax; by default the preset that "
        "matches the frames.",
    ),
    addresses: bool = ADDRESSES,
    out: Path | None = OUT,
    max_time: float = READING_TIME,
    as_json: bool = JSON,
) -> None:
    """Make a scenario from a capture.

    In a capture of a radio in monitor mode, frames show stations, rates and directions. Round-trip
    times and the access point's queue are derived from the times of data and ACKs. A capture of
    wired packets shows all of this except for the properties of the radio.
    """
    from lasthop.importing.cells import Choices, network
    from lasthop.importing.phy import PRESETS

    if phy is not None and phy not in PRESETS:
        raise UserError(f'--phy "{phy}": expected one of {", ".join(PRESETS)}')

    def read() -> "Network":
        with reading_bar(f"reading {file.name}") as progress, allowing(max_time):
            return network(file, Choices(ap, lan, phy), progress)

    write(read, file, out, addresses=addresses, as_json=as_json)


def iw(
    file: Annotated[Path, source('Output of "iw dev wlan0 station dump"')],
    interface: str | None = unset(
        "NAME", "Read this interface; by default the interface with most stations."
    ),
    addresses: bool = ADDRESSES,
    out: Path | None = OUT,
    as_json: bool = JSON,
) -> None:
    """Make a scenario from a station dump of iw, which lists stations and their rates."""
    from lasthop.importing.iw import network

    write(lambda: network(file, interface), file, out, addresses=addresses, as_json=as_json)


def hostapd(
    file: Annotated[Path, source("hostapd.conf")],
    stations: int = STATIONS,
    out: Path | None = OUT,
    as_json: bool = JSON,
) -> None:
    """Make a scenario from hostapd.conf, which sets band, rates and access parameters."""
    from lasthop.importing.hostapd import network

    write(lambda: network(file, stations), file, out, as_json=as_json)


def openwrt(
    file: Annotated[Path, source('/etc/config/wireless, or output of "uci show wireless"')],
    stations: int = STATIONS,
    radio: str | None = unset(
        "NAME", "Read this radio; by default the radio of the first active access point."
    ),
    sqm: Path | None = unset(
        "FILE",
        "Read the rate and the queue of the router's Internet line from this file, "
        "/etc/config/sqm.",
        parser=file_name,
    ),
    autorate: Path | None = unset(
        "FILE",
        "Use the base rates of cake-autorate from this file, config.primary.sh; needs --sqm.",
        parser=file_name,
    ),
    out: Path | None = OUT,
    as_json: bool = JSON,
) -> None:
    """Make a scenario from OpenWrt's wireless settings."""
    from lasthop.importing.openwrt import network

    write(lambda: network(file, stations, radio, sqm, autorate), file, out, as_json=as_json)


COMMANDS: dict[Callable[..., None], str] = {
    pcap: "Make a scenario from a capture of a radio or a wire.",
    iw: "Make a scenario from a station dump of iw.",
    hostapd: "Make a scenario from hostapd.conf.",
    openwrt: "Make a scenario from OpenWrt's wireless settings.",
}
"""Functions of the group's commands, with one-line descriptions."""


def write(
    read: "Callable[[], Network]",
    file: Path,
    out: Path | None,
    *,
    addresses: bool = False,
    as_json: bool = False,
) -> None:
    """Read the file, write the scenario after a check, and print the assumptions."""
    from lasthop.importing.scenario import as_toml

    if out is not None:
        new_file(out)
    try:
        network = read()
    except KeyboardInterrupt:
        raise Interrupted("no scenario was written") from None
    text = as_toml(network, addresses=addresses)
    check(file, text)
    warn(*(note.text for note in network.notes if note.warns))
    if as_json:
        typer.echo(json.dumps(as_tree(network, text), indent=2, ensure_ascii=False))
    elif out is None:
        typer.echo(text, nl=False)
    if out is not None:
        put(out, text)
        if not as_json:
            many = counted(len(network.stations), "station")
            note(f"{out}: {many}; next: lasthop simulate {out}")
            for fact in network.facts:
                note(f"assumed: {fact.line}: {fact.short}; {out} has the source", err=True)


def check(file: Path, text: str) -> None:
    """Check an imported scenario; an error names the file that was imported."""
    try:
        Scenario(text)
    except ScenarioError as error:
        problem = error.problems[0]
        raise UserError(
            f"{file}: does not give a valid scenario: `{problem.path}`: {problem.message}",
            problem.hint,
        ) from None


def as_tree(network: "Network", text: str) -> dict[str, Any]:
    """Return the imported network as JSON, with the scenario's text and without addresses."""
    tree = asdict(network)
    tree["access"] = [
        {"table": table, "category": category, **asdict(access)}
        for (table, category), access in network.access.items()
    ]
    for each in tree["stations"]:
        del each["address"]
    return {"kind": "import", **tree, "scenario": text}


def new_file(path: Path, option: str = "--out") -> Path:
    """Return the path; raise an error if it exists or cannot be written."""
    if path.exists() or path.is_symlink():
        raise already_exists(path, option)
    return writable_file(path, option)


def already_exists(path: Path, option: str) -> UserError:
    """Return the error for a file that is not replaced; the hint has a name that is free."""
    numbers = itertools.count(2)
    free = next(name for n in numbers if not (name := path.with_stem(f"{path.stem}-{n}")).exists())
    text = f"{path}: exists, and is not replaced; expected a new name"
    return UserError(text, f"give another {option}, such as {free}")


def put(path: Path, text: str, option: str = "--out") -> None:
    """Write a new file atomically. If another program has created a file at this path in the
    meantime, that file is not replaced.
    """
    import os
    import tempfile

    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".writing-") as staging:
        partial = Path(staging, path.name)
        partial.write_text(text, encoding="utf-8", newline="\n")
        try:
            try:
                os.link(partial, path)
            except FileExistsError:
                raise
            except OSError:  # This file system has no hard links.
                with path.open("x", encoding="utf-8", newline="\n") as file:
                    file.write(text)
        except FileExistsError:
            raise already_exists(path, option) from None
