"""Page of a scenario for notebooks."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lasthop.answers.digits import plain, span
from lasthop.display.page import Page, Table
from lasthop.display.text import contents, counted
from lasthop.scenario.typed import (
    CellScenario,
    CsmaScenario,
    Flow,
    PingFlow,
    SensorFlow,
    TcpFlow,
    UdpFlow,
)

if TYPE_CHECKING:
    from lasthop.scenario.scenario import Scenario
    from lasthop.scenario.typed import Scenario as Typed


def scenario_page(scenario: "Scenario") -> Page:
    """Return the page of a scenario: name, runs, settings, and tables of stations, flows and
    links.
    """
    known = scenario.typed
    about = (
        f"scenario {scenario.source}: {known.replications} x {span(known.duration_s)}, first "
        f"{known.warmup_s:g} s cut, seed {known.seed}"
    )
    set_over = [f"{path} = {value}" for path, value in scenario.settings]
    notes = [*contents(known), *([f"settings: {', '.join(set_over)}"] if set_over else [])]
    return Page(known.name, about, list(tables(known)), notes=notes)


def tables(known: "Typed") -> Iterator[Table]:
    """Yield the tables of stations, flows and links of a scenario."""
    if isinstance(known, CsmaScenario):
        rows = [
            [link.name, ", ".join(link.conflicts) or "-", ", ".join(link.disturbs) or "-"]
            for link in known.csma.links
        ]
        heads = ["link", "conflicts with", "hidden from"]
        if not any(link.disturbs for link in known.csma.links):
            heads, rows = heads[:2], [row[:2] for row in rows]
        yield Table("links", heads, rows, names=3)
        routes = [[flow.name, " → ".join(flow.route)] for flow in known.csma.flows]
        yield Table("flows", ["flow", "route"], routes, names=2)
        return
    if isinstance(known, CellScenario):
        yield Table(
            counted(len(known.stations), "station"),
            ["stations", "uploads", "downloads", "rate\n[Mb/s]"],
            list(groups(known)),
            names=3,
        )
    wired = [flow for flow in known.flows if not flow.station]
    if wired:
        classes: dict[str, list[Flow]] = {}
        for flow in wired:
            classes.setdefault(flow.class_name, []).append(flow)
        rows = [[name, carried(own)] for name, own in classes.items()]
        yield Table("flows between wired nodes", ["class", "flows"], rows, names=2)
    routers = known.routers
    if routers:
        rows = [
            [
                link.name,
                link.queue.discipline.replace("_", "-"),
                "-" if link.rate_bps is None else plain(1e-6 * link.rate_bps),
                plain(1e3 * link.delay_s),
                str(link.queue_packets),
            ]
            for link in routers
        ]
        heads = ["link", "discipline", "rate\n[Mb/s]", "delay\n[ms]", "queue\n[packets]"]
        yield Table(counted(len(routers), "link"), heads, rows, names=2)


def groups(known: CellScenario) -> Iterator[list[str]]:
    """Yield a row for each group of stations: name, number, uploads, downloads and rate."""
    members: dict[str, list[str]] = {}
    for station in known.stations:
        members.setdefault(station.group, []).append(station.name)
    for group, names in members.items():
        first = known.station[names[0]]
        own = [flow for flow in known.flows if flow.station == first.name]
        up, down = ([flow for flow in own if flow.is_up is way] for way in (True, False))
        name = group if len(names) == 1 else f"{group} ({len(names)} of them)"
        yield [name, carried(up), carried(down), plain(1e-6 * first.rate_bps)]


def carried(flows: Sequence[Flow]) -> str:
    """Return the number of flows of each kind as a short text."""
    kinds: dict[str, int] = {}
    for flow in flows:
        kinds[kind_of(flow)] = kinds.get(kind_of(flow), 0) + 1
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "-"


def kind_of(flow: Flow) -> str:
    """Return the kind of a flow in words, such as ``UDP, greedy``."""
    if isinstance(flow, TcpFlow):
        if flow.stream is not None:
            return f"adaptive video over {flow.tcp.congestion}"
        return f"{'web over ' * (flow.web is not None)}{flow.tcp.congestion}"
    if isinstance(flow, UdpFlow):
        if flow.udp.arrivals == "greedy":
            return "UDP, greedy"
        if flow.call is not None:
            return f"{'adaptive ' * flow.adapts}{flow.call.medium} of calls"
        return f"UDP of {plain(1e-6 * flow.udp.rate_bps)} Mb/s"
    if isinstance(flow, PingFlow):
        return f"ping every {plain(1e3 * flow.ping.every_s)} ms"
    return "sensor" if isinstance(flow, SensorFlow) else "flow"
