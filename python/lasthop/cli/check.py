"""`lasthop check`."""

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

import typer

from lasthop.answers.digits import span
from lasthop.cli.boundary import warn
from lasthop.cli.options import JSON, SETTINGS, File, counted, read_scenario
from lasthop.scenario.csma import CsmaLink
from lasthop.scenario.queues import Vbs
from lasthop.scenario.rows import Listed, LongList
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import AggregatingCell, Cell, CellScenario, CsmaScenario
from lasthop.scenario.typed import Scenario as TypedScenario
from lasthop.warnings.pacing import pacing_notes
from lasthop.warnings.phase_effects import phase_locks
from lasthop.warnings.settings import warnings_for

MAX_LINKS = 30
"""Maximum number of links whose neighbours are printed; --json prints all links."""

MAX_SIGNS = 100_000
"""Number of JSON tokens per piece of output."""

STANDARD_TXOP_S = 2.528e-3
"""TXOP limit of best effort (IEEE 802.11-2020, table 9-155). [s]"""

NETWORKS = {
    "link": "with [link]",
    "dumbbell": "with [dumbbell]",
    "parking_lot": "with [parking_lot]",
    "csma": "with [csma]",
}
"""Phrases for networks without a WLAN cell, whose TCP defaults do not depend on a physical
layer.
"""

MAX_STOPPED = 3
"""Maximum number of printed flows that stop in the warm-up."""

MAX_NAMES = 12
"""Maximum number of printed neighbours of a link."""


def check(file: File, settings: list[str] | None = SETTINGS, as_json: bool = JSON) -> None:
    """Check a scenario and print a summary of the scenario.

    For a network of CSMA links, also list the conflicts of each link and the hidden links whose
    frames the link destroys. Conflicts are set by the file or follow from the positions of nodes.

    With --json, print the normalised scenario: every default is filled in, every group of stations
    and connections is written out, and values are in SI units. Models and the engine read this
    form, which is not a scenario file.
    """
    scenario = read_scenario(file, settings)
    warn(*warnings_for(scenario.typed), *phase_locks(scenario.typed))
    if as_json:
        for text in written(scenario):
            sys.stdout.write(text)
        typer.echo()
        return
    known = scenario.typed
    runs = f"{known.replications} x {span(known.duration_s)}"
    if isinstance(known, CsmaScenario):
        counts = [counted(len(known.csma.links), "link"), counted(len(known.csma.flows), "flow")]
    else:
        counts = [counted(len(known.stations), "station"), counted(len(known.flows), "flow")]
    typer.echo(f"{scenario.source}: ok: {known.name}: {', '.join(counts)}, {runs}")
    for line in tcp_defaults(*scenario.checked.tcp_defaults()):
        typer.echo(line)
    for note in pacing_notes(known):
        typer.echo(f"  {note}")
    for name, connections in scenario.checked.web():
        typer.echo(f"  flow {name} is web traffic: {connections:g} new connections per second")
    if not isinstance(known, CsmaScenario):
        for line in stopped_early(known):
            typer.echo(line)
    if isinstance(known, CellScenario):
        for line in (*videos(known), *opportunities(known), *shared(known.cell)):
            typer.echo(line)
    if isinstance(known, CsmaScenario):
        typer.echo("\n".join(neighbours(known.csma.links)))


def videos(known: CellScenario) -> Iterator[str]:
    """Yield a line for each stream of adaptive video, with its bitrates and its buffer."""
    for flow in known.tcp_flows:
        if (video := flow.stream) is not None:
            bitrates = dict.fromkeys((video.bitrates_bps[0], video.bitrates_bps[-1]))
            rates = f"of {' to '.join(f'{1e-6 * rate:g}' for rate in bitrates)} Mb/s"
            yield (
                f"  flow {flow.name} is adaptive video {rates}: chunks of {video.chunk_s:g} s, a "
                f"buffer of {video.buffer_s:g} s"
            )


def stopped_early(known: TypedScenario) -> Iterator[str]:
    """Yield a line for each flow that stops before the end of the warm-up, so that results have no
    values of it; at most `MAX_STOPPED` lines, and a line with the number of further flows.
    """
    stopped = [
        flow for flow in known.flows if flow.stop_s is not None and flow.stop_s <= known.warmup_s
    ]
    for flow in stopped[:MAX_STOPPED]:
        yield (
            f"  flow {flow.name} is not measured: it stops at {span(flow.stop_s or 0.0)}, and the "
            f"warm-up ends at {span(known.warmup_s)}"
        )
    if len(stopped) > MAX_STOPPED:
        further = counted(len(stopped) - MAX_STOPPED, "more flow")
        yield f"  {further} not measured for this reason"


def tcp_defaults(network: str, values: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a line with the TCP defaults that depend on the network; nothing if no default is
    used.
    """
    formats = {
        "congestion": "{}",
        "sack": "SACK {}",
        "initial_window": "initial window {}",
        "window": "window {} packets",
    }
    switches = {"true": "on", "false": "off"}
    if values:
        defaults = ", ".join(
            formats[key].format(switches.get(value, value.strip('"'))) for key, value in values
        )
        yield f"  tcp: {defaults} (defaults {NETWORKS.get(network, f'of {network}')})"


def written(scenario: Scenario) -> Iterator[str]:
    """Yield the normalised scenario as pieces of JSON text, because a single text with long lists
    would need much memory.
    """
    tree = {
        key: Listed(value) if isinstance(value, LongList) else value
        for key, value in scenario.in_pieces().items()
    }
    signs = json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(tree)
    while text := "".join(islice(signs, MAX_SIGNS)):
        yield text


def opportunities(known: CellScenario) -> Iterator[str]:
    """Yield a warning line if a node uses the standard's TXOP limit for best effort. Most access
    points use no limit.
    """
    if not isinstance(known.cell, AggregatingCell):
        return
    limits = [node.access("best-effort").txop_limit_s for node in (known.cell.ap, *known.stations)]
    if any(limit == STANDARD_TXOP_S for limit in limits):
        yield (
            f"  best effort has TXOPs of at most {1e3 * STANDARD_TXOP_S:g} ms by edca = "
            '"802.11-2020"; ns-3 and hostapd set no limit: use cell.edca = "hostapd"'
        )


def neighbours(links: Sequence[CsmaLink]) -> Iterator[str]:
    """Yield a line per link: its conflicting links, and the hidden links whose frames it
    destroys.
    """
    for link in links[:MAX_LINKS]:
        line = f"  link {link.name} conflicts with {names(link.conflicts)}"
        if link.disturbs:
            line += f"; hidden from {names(link.disturbs)}, whose frames it destroys"
        yield line
    if len(links) > MAX_LINKS:
        yield f"  ... and {len(links) - MAX_LINKS} more links, which --json lists"


def names(links: Sequence[str]) -> str:
    """Return the first few link names, and the number of omitted names."""
    more = len(links) - MAX_NAMES
    first = ", ".join(links[:MAX_NAMES]) or "none"
    return f"{first} and {more} more" if more > 0 else first


def shared(cell: Cell) -> Iterator[str]:
    """Yield a line about the access point's queue if several classes share the queue."""
    queue = cell.ap.queue
    if isinstance(queue, Vbs) and cell.vbs_classes:
        room = queue.occupancy * queue.limit_packets
        targets = ", ".join(f"{each.name} {each.target_share:.3g}" for each in cell.vbs_classes)
        yield (
            f"`cell.ap_queue.vbs`: {room:g} of {queue.limit_packets} packets, "
            f"{queue.algorithm}; targets {targets}"
        )
