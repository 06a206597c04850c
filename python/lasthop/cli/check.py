"""`lasthop check`."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer

from lasthop.caution import cautions
from lasthop.cli.options import File, Json, Settings, read_scenario
from lasthop.scenario import Scenario

__all__ = ["check"]

MOST_LINKS = 30
"""Most links whose neighbours are listed; --json has all."""

MOST_NAMES = 12
"""Most neighbours that are named."""


def check(file: File, settings: Settings = None, as_json: Json = False) -> None:
    """Check a scenario and say what is in it.

    Of a network of CSMA links it lists who conflicts with whom, as the file says or as follows from
    where nodes stand, and whose frames a link destroys unheard.

    --json prints it in normalised form, every default filled in and every group of stations and
    connections written out in SI units. This is what models and engine read, not a scenario file.
    """
    scenario = read_scenario(file, settings)
    for caution in cautions(scenario):
        print(f"warning: {caution}", file=sys.stderr)
    if as_json:
        typer.echo(json.dumps(scenario.to_dict(), indent=2, ensure_ascii=False))
        return
    runs = f"{scenario['replications']} x {scenario['duration_s']:g} s"
    csma = scenario.get("csma")
    parts = (csma, ("links", "flows")) if csma else (scenario, ("stations", "flows"))
    counts = ", ".join(
        f"{len(parts[0][what])} {what if len(parts[0][what]) != 1 else what[:-1]}"
        for what in parts[1]
    )
    typer.echo(f"{scenario.source}: ok: {scenario['name']}: {counts}, {runs}")
    for line in shared(scenario):
        typer.echo(line)
    if csma:
        typer.echo("\n".join(neighbours(csma["links"])))


def neighbours(links: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each link: whom it conflicts with, and whose frames it destroys unheard."""
    for link in links[:MOST_LINKS]:
        line = f"  link {link['name']} conflicts with {names(link['conflicts'])}"
        if link["disturbs"]:
            line += f"; hidden from {names(link['disturbs'])}, whose frames it destroys"
        yield line
    if len(links) > MOST_LINKS:
        yield f"  ... and {len(links) - MOST_LINKS} more links, which --json lists"


def names(links: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(links) - MOST_NAMES
    first = ", ".join(links[:MOST_NAMES]) or "none"
    return f"{first} and {more} more" if more > 0 else first


def shared(scenario: Scenario) -> Iterator[str]:
    """What holds of an access point's queue that classes share."""
    cell = scenario.get("cell") or {}
    if classes := cell.get("vbs_classes"):
        queue = cell["ap"]["queue"]
        room = queue["occupancy"] * queue["limit_packets"]
        targets = ", ".join(f"{each['name']} {each['target_share']:.3g}" for each in classes)
        yield (
            f"`cell.ap_queue.vbs`: {room:g} of {queue['limit_packets']} packets, "
            f"{queue['algorithm']}; targets {targets}"
        )
