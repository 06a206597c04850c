"""Matching of measurement files with the flows of a scenario."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from lasthop.errors import UserError
from lasthop.measured.matching import PING, Flow, Measured, match
from lasthop.measured.qdiscs import Queues
from lasthop.measured.reading import read
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import (
    CellScenario,
    CsmaScenario,
    PingFlow,
    SensorFlow,
    TcpFlow,
    UdpFlow,
)
from lasthop.scenario.typed import Flow as TypedFlow

__all__ = ["Files", "measurements"]

File: TypeAlias = str | PathLike[str]
Files: TypeAlias = File | Sequence[File | tuple[str, File]] | Mapping[str, File]
"""Measurement files: one or several, each with or without the name of a station or flow."""


def measurements(scenario: Scenario, files: Files | Measured) -> Measured | None:
    """Read measurement files and match them with the flows of a scenario; None if there are no
    files.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the flows.
    files : file, sequence of files or pairs, mapping, or Measured
        Files of flent, iperf3, ping or irtt, or results of lasthop; see `lasthop.compare`. Pipes
        are read only once, so a `Measured` is returned unchanged.

    Raises
    ------
    UserError
        If a file is no measurement, or if the scenario has no station or flow with a given name.
    """
    if isinstance(files, Measured):
        return files
    if isinstance(files, str | PathLike):
        files = [files]
    if not isinstance(files, Iterable):
        raise UserError(f"measured: {files!r} is not a file")
    pairs = list(files.items()) if isinstance(files, Mapping) else list(files)
    if not pairs:
        return None
    given = [pair if isinstance(pair, tuple) else ("", pair) for pair in pairs]
    for pair in given:
        if len(pair) != 2 or not isinstance(pair[1], str | PathLike):
            raise UserError(
                f"measured: {pair[-1]!r} is not a file", '[("NAME", "FILE")] or ["FILE"]'
            )
    flows = flows_of(scenario)
    total = ("cells", "cell") if isinstance(scenario.typed, CellScenario) else None
    if total is None and len({flow.class_name for flow in flows}) == 1:
        total = ("classes", flows[0].class_name)
    measured = [(name, each) for name, file in given for each in read(Path(file))]
    return match(flows, total, measured, queues_of(scenario))


def flows_of(scenario: Scenario) -> list[Flow]:
    """Return the flows of a scenario with the properties that are used for matching."""
    known = scenario.typed
    if isinstance(known, CsmaScenario):
        return [
            Flow(each.name, "", "", each.class_name, "udp" if each.udp is not None else "tcp")
            for each in known.csma.flows
        ]
    return [
        Flow(
            each.name,
            each.station,
            each.direction,
            each.class_name,
            transport_of(each),
            rate_bps=each.udp.rate_bps if isinstance(each, UdpFlow) else 0.0,
            reports=isinstance(each, SensorFlow | PingFlow),
            category=each.category if isinstance(known, CellScenario) else "",
        )
        for each in known.flows
    ]


def transport_of(flow: TypedFlow) -> str:
    """Return the transport protocol of a flow. The result is ``"other"`` for sensor reports and web
    connections, which match no stream.
    """
    if isinstance(flow, UdpFlow):
        return "udp"
    if isinstance(flow, PingFlow):
        return PING
    return "tcp" if isinstance(flow, TcpFlow) and flow.web is None else "other"


def queues_of(scenario: Scenario) -> Queues:
    """Return the names of a scenario's queues, divided into those of stations and others."""
    known = scenario.typed
    links = [link.name for link in known.routers]
    if not isinstance(known, CellScenario):
        return Queues((), links)
    wire = ["wire/down", "wire/up"] if known.wire.slower_bps is not None else []
    return Queues([each.name for each in known.stations], ["ap", *wire, *links])
