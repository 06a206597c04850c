"""The limits of emulator and kernel, checked before anything is made."""

from collections.abc import Iterator, Mapping
from typing import Any

from lasthop.errors import UserError
from lasthop.scenario import Scenario

__all__ = ["CONGESTION", "check", "datagrams_per_second", "unfollowed"]

CONGESTION = {"reno": "reno", "newreno": "reno", "cubic": "cubic"}
"""The kernel's name of each congestion control that it has; its Reno is NewReno with SACK."""

OWN = {
    "initial_cwnd_packets": ("initial_window", (2, 10)),
    "min_rto_s": ("min_rto", (0.2,)),
    "initial_rto_s": ("initial_rto", (1.0,)),
    "ack_delay_s": ("ack_delay", (0.1,)),
    "ack_processing_s": ("ack_processing", (0.0,)),
    "ecn": ("ecn", (False,)),
}
"""Settings in which the kernel's TCP has its own way, with default and what the kernel does."""

LONGEST_S = 3600.0
"""Longest emulation; it takes as long as it lasts. [s]"""

MOST_STATIONS = 1000
MOST_FLOWS = 4000
MOST_DATAGRAMS = 10_000
"""Most datagrams that all sources together send in a second."""

LEAST_MSS = 88
"""Smallest segment that the kernel takes from a user (linux/tcp.h). [bytes]"""
UDP_HEADER = 28
"""Headers of IPv4 and UDP. [bytes]"""


def check(scenario: Scenario) -> None:
    """Raise `UserError` with the first thing that cannot be emulated."""
    for what in _refused(scenario):
        raise UserError(f"{scenario.source}: {what}", "simulate does not need real time")


def _refused(scenario: Scenario) -> Iterator[str]:
    tree = scenario.to_dict()
    if not tree["stations"]:
        yield "there is no station; an emulation is of a WLAN cell"
    if tree["cell"] and tree["cell"].get("vbs_classes"):
        yield "`cell.ap_queue.vbs`: the emulator's queues are not shared by classes"
    changing = [each["group"] for each in tree["stations"] if "channel_changes" in each]
    if changing:
        yield f"`station.{changing[0]}.channel`: channels do not change in the emulator"
    if tree["duration_s"] > LONGEST_S:
        yield f"`duration`: {tree['duration_s']:g} s of real time; allowed is up to {LONGEST_S:g} s"
    if len(tree["stations"]) > MOST_STATIONS:
        yield f"{len(tree['stations'])} stations; the emulator takes up to {MOST_STATIONS}"
    if len(tree["flows"]) > MOST_FLOWS:
        yield f"{len(tree['flows'])} flows; the emulator takes up to {MOST_FLOWS}"
    for flow in tree["flows"]:
        name = flow["name"]
        if flow["station"] is None or flow["forward"] or flow["back"]:
            yield f"flow {name} runs beyond the cell's wire; the emulator has a cell and its wire"
        elif "sensor" in flow:
            yield f"flow {name} is a sensor's; the emulator has flows that last"
        elif "udp" in flow:
            if flow["udp"]["header_bytes"] != UDP_HEADER:
                yield (
                    f"flow {name} has headers of {flow['udp']['header_bytes']} B; those of IPv4 "
                    f"and UDP are {UDP_HEADER} B"
                )
        elif flow["tcp"]["segments"] is not None:
            yield f"flow {name} is finite; the emulator has flows that last"
        elif flow["tcp"]["congestion"] not in CONGESTION:
            yield (
                f"flow {name}: congestion {flow['tcp']['congestion']}; the emulator has "
                f"{', '.join(CONGESTION)}"
            )
        elif flow["tcp"]["mss_bytes"] < LEAST_MSS:
            yield (
                f"flow {name}: mss of {flow['tcp']['mss_bytes']} B; the kernel's TCP takes from "
                f"{LEAST_MSS} B on"
            )
    stations = {station["name"]: station for station in tree["stations"]}
    udp = [flow for flow in tree["flows"] if "udp" in flow]
    total = sum(datagrams_per_second(flow, stations[flow["station"]]) for flow in udp)
    if total > MOST_DATAGRAMS:
        yield f"{total:.0f} datagrams a second; the emulator sends up to {MOST_DATAGRAMS}"


def unfollowed(scenario: Scenario) -> list[str]:
    """Settings of TCP which the kernel's does not follow, in words."""
    asked: dict[str, object] = {}
    for flow in scenario["flows"]:
        for key, (setting, fine) in OWN.items():
            value = flow["tcp"][key] if "tcp" in flow else fine[0]
            if value not in fine:
                asked[setting] = value
    return [
        f"`tcp.{setting}` has no effect in an emulation: the kernel's TCP has its own way"
        for setting in asked
    ]


def datagrams_per_second(flow: Mapping[str, Any], station: Mapping[str, Any]) -> float:
    """Datagrams that a flow sends in a second, on average.

    A greedy source sends at the data rate of its frames, more than any medium carries, so that the
    first queue is full.
    """
    udp = flow["udp"]
    rate_bps = udp["rate_bps"]
    if udp["arrivals"] == "greedy":
        rate_bps = station["rate_bps" if flow["direction"] == "up" else "downlink_rate_bps"]
    return float(rate_bps / (8 * udp["payload_bytes"]))
