"""One scenario in real time, from namespaces to a result."""

import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any

from lasthop import _core
from lasthop._core import VERSION
from lasthop.caution import cautions
from lasthop.congestion import loaded
from lasthop.emulation.connection import connection
from lasthop.emulation.datagrams import datagrams
from lasthop.emulation.limits import CONGESTION, check, datagrams_per_second, unfollowed
from lasthop.emulation.traffic import SERVER, Driven, Traffic
from lasthop.linux.netlink import Socket
from lasthop.linux.netns import Namespace
from lasthop.linux.routes import acknowledge_at_once
from lasthop.linux.tcp import without_timestamps
from lasthop.linux.tun import open_tun
from lasthop.models.reading import Scenario as Typed
from lasthop.models.reading import TcpFlow, UdpFlow
from lasthop.result import Answer
from lasthop.run import replaced
from lasthop.scenario import Scenario, ScenarioLike

MASK = "255.0.0.0"
INTERFACE = "lasthop"
LEAST_MTU = 576
"""Length of a packet that every host takes (RFC 791); answers to pings need some of it. [bytes]"""

Progress = Callable[[float, float], object]
"""Function that is called with the time passed and the duration. [s]"""


class Emulation(Answer):
    """Answer of an emulation: one run in real time, without intervals."""

    intervals = False

    def __repr__(self) -> str:
        return f"Emulation({self.summary['scenario']!r}: {self.summary['duration_s']:g} s)"

    @property
    def warnings(self) -> list[str]:
        """Surprises in the scenario, and settings that had no effect."""
        return [*cautions(self.scenario.typed), *unfollowed(self.scenario.typed)]

    @property
    def lateness_p99_s(self) -> float | None:
        """By how much packets were handed over too late, 99th percentile. [s]"""
        run = self.summary["totals"][0].get("lateness_p99_s")
        return None if run is None else float(run["mean"])


def emulate(
    scenario: ScenarioLike,
    *,
    settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    progress: Progress | None = None,
    quick_acks: bool = True,
) -> Emulation:
    """Emulate a scenario once, in real time: the engine's cell, the kernel's TCP and UDP.

    The servers have a network namespace and so has each station, with a TUN interface each; the
    namespaces have no names and end with this process, however it ends.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    settings : mapping or pairs
        Values to replace: ``{"cell.ap.cwmin": 15}``.
    progress : callable, optional
        Called about every 100 ms with the time passed and the duration; Ctrl-C ends the run.
    quick_acks : bool
        Whether receivers may acknowledge 16 segments one by one after a gap, as Linux does; the
        simulator's never do.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    UserError
        If it cannot be emulated, or this process may not make namespaces.
    """
    checked = replaced(scenario, settings)
    check(checked)
    with contextlib.ExitStack() as stack:
        known = checked.typed
        nodes, descriptors = make_nodes(known, stack)
        make_routes(known, nodes)
        ours = stack.enter_context(loaded(flow.tcp.congestion for flow in known.tcp_flows))
        flows = make_flows(known, nodes, stack, quick_acks, CONGESTION | ours)
        traffic = Traffic(flows, known.warmup_s, known.duration_s)
        stack.callback(traffic.close)
        lists = run(checked, descriptors, traffic, progress)
        return Emulation(summary(known, flows, lists), checked)


def make_nodes(scenario: Typed, stack: contextlib.ExitStack) -> tuple[list[Namespace], list[int]]:
    """A namespace with an interface for the servers and for each station."""
    mtu = max(LEAST_MTU, *(flow.transport.packet_bytes for flow in scenario.flows))
    nodes, descriptors = [], []
    for number in range(len(scenario.stations) + 1):
        node = Namespace()
        stack.callback(node.close)

        def interface(address: str = address_of(number)) -> int:
            without_timestamps()
            return open_tun(INTERFACE, address, MASK, mtu)

        descriptor = node.run(interface)
        stack.callback(os.close, descriptor)
        nodes.append(node)
        descriptors.append(descriptor)
    return nodes, descriptors


def make_routes(scenario: Typed, nodes: Sequence[Namespace]) -> None:
    """Where receivers do not delay their ACKs, the route to the sender says so."""
    numbers = numbers_of(scenario)
    ways = set()
    for flow in scenario.tcp_flows:
        if not flow.tcp.delayed_ack:
            number = numbers[flow.station]
            ways.add((0, number) if flow.is_up else (number, 0))
    for receiver, sender in sorted(ways):
        nodes[receiver].run(partial(add_route, address_of(sender)))


def add_route(sender: str) -> None:
    """Have what this address sends acknowledged at once, in the calling thread's namespace."""
    with Socket() as kernel:
        kernel.carry_out([acknowledge_at_once(sender, INTERFACE)])


def address_of(node: int) -> str:
    """Address of the servers, node 0, or of station number `node`, as in crates/emulator."""
    return SERVER if node == 0 else f"10.0.{node >> 8}.{node & 255}"


def numbers_of(scenario: Typed) -> dict[str, int]:
    """Number of each station's node, by name; node 0 is the servers'."""
    return {station.name: k for k, station in enumerate(scenario.stations, start=1)}


def make_flows(
    scenario: Typed,
    nodes: Sequence[Namespace],
    stack: contextlib.ExitStack,
    quick_acks: bool,
    algorithms: Mapping[str, str],
) -> list[Driven]:
    """The sockets of every flow; `algorithms` are the kernel's names of congestion controls."""
    numbers = numbers_of(scenario)
    flows: list[Driven] = []
    for index, flow in enumerate(scenario.flows):
        number = numbers[flow.station]
        made: Driven
        if isinstance(flow, UdpFlow):
            station = (nodes[number], address_of(number))
            rate = datagrams_per_second(flow, scenario.stations[number - 1])
            made = datagrams(index, flow, nodes[0], station, rate, scenario.seed)
        elif isinstance(flow, TcpFlow):
            algorithm = algorithms[flow.tcp.congestion]
            made = connection(
                index, flow, nodes[0], nodes[number], algorithm, quick_acks=quick_acks
            )
        else:
            raise TypeError(f"flow {flow.name} is no flow of an emulation")
        stack.callback(made.close)
        flows.append(made)
    return flows


def run(
    scenario: Scenario, descriptors: list[int], traffic: Traffic, progress: Progress | None
) -> dict[str, Any]:
    """Run medium and traffic side by side; return what was measured of the medium."""
    reading, stopping = os.pipe()

    def medium() -> Any:
        # where the system allows it: packets are late by tens of microseconds then, not by more
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        return json.loads(_core.emulate(scenario.checked, descriptors, reading))

    def keep_going(now: float) -> bool:
        if progress is not None:
            progress(now, scenario.typed.duration_s)
        return not (lists.done() and lists.exception())

    with ThreadPoolExecutor(1) as pool:
        lists = pool.submit(medium)
        try:
            traffic.run(keep_going)
            wait([lists])
        finally:
            os.close(stopping)  # the other end becomes readable, and the medium stops
            wait([lists])
            os.close(reading)
    return dict(lists.result())


def summary(scenario: Typed, traffic: Sequence[Driven], lists: Mapping[str, Any]) -> dict[str, Any]:
    """The result: the medium's lists with what the kernel's sockets have sent and received."""
    length_s = scenario.duration_s - scenario.warmup_s
    goodputs = {each.flow.name: 8 * each.received_bytes / length_s for each in traffic}
    total = sum(goodputs.values())

    def share(goodput: float) -> dict[str, Any]:
        known = {"goodput_bps": goodput}
        return known if total == 0 else known | {"goodput_share": goodput / total}

    flows = []
    for each in traffic:
        flow = each.flow
        values = share(goodputs[flow.name]) | each.quantities()
        labels = {"name": flow.name, "station": flow.station, "direction": flow.direction}
        flows.append(labels | estimates(values))
    by_station, sides = dict.fromkeys(scenario.station, 0.0), {"up": 0.0, "down": 0.0}
    for each in traffic:
        by_station[each.flow.station] += goodputs[each.flow.name]
        sides[each.flow.direction] += goodputs[each.flow.name]
    first = next(iter(by_station.values()))
    stations = []
    for item in lists["stations"]:
        own = by_station[item["name"]]
        values = share(own)
        if own > 0:
            values["fairness_level"] = first / own
        stations.append({"name": item["name"]} | estimates(values) | item)
    cell = share(total)
    used = {each.flow.station for each in traffic}
    rates = [by_station[name] for name in used]
    if any(rates):
        cell["jain"] = sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))
    if all(sides.values()):
        cell["updown_ratio"] = sides["up"] / sides["down"]
    cell.pop("goodput_share", None)
    return {
        "kind": "emulation",
        "scenario": scenario.name,
        "seed": scenario.seed,
        "replications": 1,
        "version": VERSION,
        "duration_s": scenario.duration_s,
        "warmup_s": scenario.warmup_s,
        "flows": flows,
        "stations": stations,
        "aps": lists["aps"],
        "queues": lists["queues"],
        **({"links": lists["links"]} if "links" in lists else {}),
        "cells": [{"name": "cell"} | estimates(cell) | lists["cells"][0]],
        "totals": lists["totals"],
    }


def estimates(values: Mapping[str, float]) -> dict[str, Any]:
    """Values of a single run: no interval."""
    return {name: {"mean": value, "ci95": None} for name, value in values.items()}
