"""What of a scenario the emulator and the kernel's TCP can do, checked before anything is made."""

from collections.abc import Iterator

from lasthop.errors import UserError
from lasthop.scenario import Scenario

__all__ = ["CONGESTION", "check"]

CONGESTION = {"reno": "reno", "newreno": "reno", "cubic": "cubic"}
"""The kernel's name of each congestion control that it has; its Reno is NewReno with SACK."""

LONGEST_S = 3600.0
"""Longest emulation; it takes as long as it lasts. [s]"""

MOST_STATIONS = 1000
MOST_FLOWS = 4000


def check(scenario: Scenario) -> None:
    """Raise `UserError` with the first thing that cannot be emulated."""
    for what in _refused(scenario):
        raise UserError(f"{scenario.source}: {what}", "simulate does not need real time")


def _refused(scenario: Scenario) -> Iterator[str]:
    tree = scenario.to_dict()
    if not tree["stations"]:
        yield "there is no station; an emulation is of a WLAN cell"
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
        elif "tcp" not in flow:
            yield f"flow {name} is UDP; the emulator has TCP"
        elif flow["tcp"]["segments"] is not None:
            yield f"flow {name} is finite; the emulator has flows that last"
        elif flow["tcp"]["congestion"] not in CONGESTION:
            yield (
                f"flow {name}: congestion {flow['tcp']['congestion']}; the emulator has "
                f"{', '.join(CONGESTION)}"
            )
