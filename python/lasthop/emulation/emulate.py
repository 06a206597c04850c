"""One scenario in real time, from namespaces to a result."""

import contextlib
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from lasthop import _core
from lasthop._core import VERSION
from lasthop.emulation.limits import check
from lasthop.emulation.traffic import SERVER, Connection, Traffic, connection
from lasthop.linux.netns import Namespace
from lasthop.linux.tcp import tcp_info, without_timestamps
from lasthop.linux.tun import open_tun
from lasthop.result import Answer
from lasthop.run import replaced
from lasthop.scenario import Scenario, ScenarioLike

__all__ = ["Emulation", "emulate"]

MASK = "255.0.0.0"
INTERFACE = "lasthop"

Progress = Callable[[float, float], object]
"""Called with the time passed and the duration. [s]"""


class Emulation(Answer):
    """What an emulation says: one run in real time, without intervals."""

    intervals = False

    def __repr__(self) -> str:
        return f"Emulation({self.summary['scenario']!r}: {self.summary['duration_s']:g} s)"

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
) -> Emulation:
    """Emulate a scenario once, in real time: the engine's cell and queues, the kernel's TCP.

    A network namespace for the servers and one for each station, with a TUN interface each; they
    have no names and end with this process, however it ends.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    settings : mapping or pairs
        Values to replace: ``{"cell.ap.cwmin": 15}``.
    progress : callable, optional
        Called about every 100 ms with the time passed and the duration; Ctrl-C ends the run.

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
        nodes, descriptors = make_nodes(checked, stack)
        connections = make_connections(checked, nodes, stack)
        traffic = Traffic(connections, checked["warmup_s"], checked["duration_s"])
        stack.callback(traffic.close)
        lists = run(checked, descriptors, traffic, progress)
        return Emulation(summary(checked, connections, lists), checked)


def make_nodes(
    scenario: Scenario, stack: contextlib.ExitStack
) -> tuple[list[Namespace], list[int]]:
    """A namespace with an interface for the servers and for each station."""
    packets = [flow["tcp"]["mss_bytes"] + flow["tcp"]["header_bytes"] for flow in scenario["flows"]]
    mtu = max(packets)
    addresses = [SERVER]
    for number in range(1, len(scenario["stations"]) + 1):
        addresses.append(f"10.0.{number >> 8}.{number & 255}")
    nodes, descriptors = [], []
    for address in addresses:
        node = Namespace()
        stack.callback(node.close)

        def interface(address: str = address) -> int:
            without_timestamps()
            return open_tun(INTERFACE, address, MASK, mtu)

        descriptor = node.run(interface)
        stack.callback(os.close, descriptor)
        nodes.append(node)
        descriptors.append(descriptor)
    return nodes, descriptors


def make_connections(
    scenario: Scenario, nodes: Sequence[Namespace], stack: contextlib.ExitStack
) -> list[Connection]:
    """The sockets of every flow."""
    numbers = {station["name"]: k for k, station in enumerate(scenario["stations"], start=1)}
    connections = []
    for index, flow in enumerate(scenario["flows"]):
        made = connection(index, flow, nodes[0], nodes[numbers[flow["station"]]])
        stack.callback(made.close)
        connections.append(made)
    return connections


def run(
    scenario: Scenario, descriptors: list[int], traffic: Traffic, progress: Progress | None
) -> dict[str, Any]:
    """Run medium and traffic side by side; return what was measured of the medium."""
    reading, stopping = os.pipe()
    lists: list[dict[str, Any]] = []
    failed: list[BaseException] = []

    def medium() -> None:
        # where the system allows it: packets are late by tens of microseconds then, not by more
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        try:
            text = _core.emulate(
                scenario.content,
                scenario.format,
                scenario.source,
                list(scenario.settings),
                descriptors,
                reading,
            )
            lists.append(json.loads(text))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=medium)
    thread.start()
    try:

        def keep_going(now: float) -> bool:
            if progress is not None:
                progress(now, float(scenario["duration_s"]))
            return not failed

        traffic.run(keep_going)
        thread.join()
    finally:
        os.close(stopping)  # the other end becomes readable, and the medium stops
        thread.join()
        os.close(reading)
    if failed:
        raise failed[0]
    return lists[0]


def summary(
    scenario: Scenario, connections: Sequence[Connection], lists: Mapping[str, Any]
) -> dict[str, Any]:
    """The result: the medium's lists with the goodputs of the kernel's TCP."""
    length_s = scenario["duration_s"] - scenario["warmup_s"]
    goodputs = {each.flow["name"]: 8 * each.received_bytes / length_s for each in connections}
    total = sum(goodputs.values())

    def share(goodput: float) -> dict[str, Any]:
        known = {"goodput_bps": goodput}
        return known if total == 0 else known | {"goodput_share": goodput / total}

    flows = []
    for each in connections:
        values = share(goodputs[each.flow["name"]])
        if each.rtts_s:
            values["rtt_s"] = fmean(each.rtts_s)
        if each.sender is not None:
            again = tcp_info(each.sender).retransmissions - each.retransmissions
            values["retransmissions"] = float(again)
        labels = {key: each.flow[key] for key in ("name", "station", "direction")}
        flows.append(labels | estimates(values))
    by_station = dict.fromkeys((station["name"] for station in scenario["stations"]), 0.0)
    for each in connections:
        by_station[each.flow["station"]] += goodputs[each.flow["name"]]
    first = next(iter(by_station.values()))
    stations = []
    for item in lists["stations"]:
        own = by_station[item["name"]]
        values = share(own)
        if own > 0:
            values["fairness_level"] = first / own
        stations.append({"name": item["name"]} | estimates(values) | item)
    cell = share(total)
    used = {each.flow["station"] for each in connections}
    rates = [by_station[name] for name in used]
    if any(rates):
        cell["jain"] = sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))
    sides = {"up": 0.0, "down": 0.0}
    for each in connections:
        sides[each.flow["direction"]] += goodputs[each.flow["name"]]
    if all(sides.values()):
        cell["updown_ratio"] = sides["up"] / sides["down"]
    cell.pop("goodput_share", None)
    return {
        "kind": "emulation",
        "scenario": scenario["name"],
        "seed": scenario["seed"],
        "replications": 1,
        "version": VERSION,
        "duration_s": scenario["duration_s"],
        "warmup_s": scenario["warmup_s"],
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
