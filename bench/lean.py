"""Minimal programs: C++ programs that simulate only one network each, for comparisons of CPU time.

The programs simulate the router and the cell on which the simulators are compared. They record
nothing, and support no other scenario. There are two programs for the router. The first program
processes one event per packet, because the arrival at the bottleneck determines all later times.
This program and that of the cell are lower bounds of CPU time. The second program for the router
processes one event per hop, as many simulators do.
"""

from dataclasses import dataclass

from measure import Run
from peers import HERE, STORE, delivered, ensure_compiler, modified_s, must

ROUTER, CELL = STORE / "lean-router", STORE / "lean-cell"
QUEUE = 100
"""Length of the access point's queue. [packets]"""


def install() -> None:
    """Compile the programs, unless the compiled programs are newer than their sources."""
    ensure_compiler()
    STORE.mkdir(exist_ok=True)
    for program in (ROUTER, CELL):
        source = HERE / "peers" / f"{program.name.replace('-', '_')}.cc"
        newest_s = max(map(modified_s, (source, source.with_name("lean.h"))))
        if not program.exists() or newest_s > modified_s(program):
            must(["g++", "-std=c++17", "-O3", "-Wall", str(source), "-o", str(program)])


@dataclass(frozen=True)
class Cell:
    """Downloads in the 802.11b cell, for the minimal program of the cell."""

    stations: int = 7
    flows_per_station: int = 1
    queue: int = QUEUE

    def __call__(self, duration_s: float) -> Run:
        numbers = map(str, (self.stations, self.flows_per_station, self.queue))
        return delivered([str(CELL)], duration_s, 1, *numbers)


def router(how: str, flows: int, rtt_ms: float, limit: int, *numbers: str) -> list[str]:
    """Return the command of a minimal program for the router. `numbers` are its duration, warm-up
    and seed.
    """
    return [str(ROUTER), *numbers, str(flows), f"{rtt_ms:g}", str(limit), how]
