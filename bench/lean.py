"""Lean loops: programs by hand for one scenario each, the floor under what a simulator can cost.

Same router and same cell as the peers simulate, without recording and without any generality.
Through the router one has an event a packet, since the arrival at the bottleneck decides all that
follows; the other goes hop by hop, as a simulator of any network has to.
"""

from dataclasses import dataclass

from measure import Run
from peers import HERE, STORE, delivered, ensure_compiler, modified_s, must

ROUTER, CELL = STORE / "lean-router", STORE / "lean-cell"
QUEUE = 100
"""Packets that the access point holds."""


def install() -> None:
    """Build both programs, again where a source has changed."""
    ensure_compiler()
    STORE.mkdir(exist_ok=True)
    for program in (ROUTER, CELL):
        source = HERE / "peers" / f"{program.name.replace('-', '_')}.cc"
        newest_s = max(map(modified_s, (source, source.with_name("lean.h"))))
        if not program.exists() or newest_s > modified_s(program):
            must(["g++", "-std=c++17", "-O3", "-Wall", str(source), "-o", str(program)])


@dataclass(frozen=True)
class Cell:
    """Downloads in the 802.11b cell."""

    stations: int = 7
    flows_per_station: int = 1
    queue: int = QUEUE

    def __call__(self, duration_s: float) -> Run:
        numbers = map(str, (self.stations, self.flows_per_station, self.queue))
        return delivered([str(CELL)], duration_s, 1, *numbers)


def router(how: str, flows: int, rtt_ms: float, limit: int, *numbers: str) -> list[str]:
    """The command of the router; `numbers` are its length, its warm-up and its seed."""
    return [str(ROUTER), *numbers, str(flows), f"{rtt_ms:g}", str(limit), how]
