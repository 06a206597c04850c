"""Bound of the memory of a simulation, computed from its parts before it runs.

The sizes of a flow, a link, a station, a packet in flight and a value of the result are those of
the engine's structures (`std::mem::size_of` on x86_64). Allocations have the size that the
allocator uses. No value is fitted to a run. The number of values of a result, and the length of its
text and of the scenario's, are counted in two small networks of the same file: they grow in
proportion to the units.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lasthop as lh


def heap(size: int) -> int:
    """Return the memory that glibc's allocator uses for this many bytes: 8 bytes more, rounded up
    to 16, at least 32."""
    return max(32, -(-(size + 8) // 16) * 16)


NAME = heap(16)
"""Size of a name with up to 24 characters. [bytes]"""

FLOW = (
    *(392, 2 * NAME, 2 * heap(4 * 4)),  # the scenario's flow: its names, its paths
    *(256, heap(320) + 64, 2 * heap(8)),  # FlowState; sender and receiver, aligned; their rings
    2 * 2 * 2 * 8,  # two timers in the agenda, a tree with up to twice as many leaves
    *(2 * 32, heap(4 * 8), heap(4 * 40)),  # windows to be read, ACKs that wait
    *(2 * 20, 8, 2 * 12),  # paths in the routes, their first hops, start and stop in the plan
    *(16 + 8, 2 * 120),  # times and class in the gauge, counters at two times
)
"""Size of a flow, without its links. [bytes]"""

STEP = 4 + 32
"""Size of a link in a path: its number and hop. [bytes]"""

LINK = (
    *(232, 3 * NAME),  # LinkSettings and their names
    *(64, heap(24), NAME),  # WiredLink, its label and name
    *(16, 2 * (56 + 8 + 16)),  # times in the gauge, counters at two times
)
"""Size of one direction of a link. [bytes]"""

QUEUE = (heap(336), 16 * 32, 3 * 64)
"""Size of the further parts of a link with a queue: pipe, its first places, discipline and losses.
[bytes]"""

STATION = (
    *(576, 2 * NAME),  # the scenario's station
    *(4 * 64, NAME),  # its ports and queues in the cell
    *(2 * 64, 4 * 32),  # as a contender: backoff, head, places in the ring
    *(2 * 2 * 64, 2 * 32),  # counters at two times
)
"""Size of a station, without its flows. [bytes]"""

PACKET = 64 + 24
"""Size of a packet in flight: an entry of the calendar and of its day. A packet in a queue is
smaller. [bytes]"""

CONNECTION = 2 * sum(FLOW) + 10 * PACKET
"""Size of an open web connection: a flow in each direction, and the first window of a response.
[bytes]"""

PLACE = (4 + 2) * 24
"""Size of a place in a link's queue: a residence, in a ring with up to four times as many places,
while it is copied from a ring of half the length. [bytes]"""

BIN, BIN_S = 8, 0.1
"""Size of a bin of a link's smallest utilisation, and its width. [bytes, s]"""

ENTRY = 2 * 104
"""Size of a member of a `serde_json` object: hash, key, value, in a vector that has doubled.
[bytes]"""

QUANTITY = (
    2 * 32,  # name and value in its item, in a vector that has doubled
    *(ENTRY, NAME, 16, heap(2 * 104), heap(52), 2 * NAME),  # in the estimates: mean and ci95
    *(ENTRY, NAME, 16, heap(72)),  # in the samples: a list of one
)
"""Size of a value of the result: measured, assembled, sampled. [bytes]"""

ITEM = (
    *(2 * 72, NAME, 3 * (heap(40) + NAME)),  # an item with up to three labels
    *(2 * 72, 3 * (ENTRY + 2 * NAME), heap(52)),  # in the estimates
    *(ENTRY, NAME, heap(52)),  # in the samples
)
"""Size of a named item of the result: a flow, a station, a queue. [bytes]"""

ENGINE = 8e6
"""Size of the engine's program and runtime, and of the scenario's grammar. [bytes]"""

MODULES = 25e6
"""Size of lasthop's modules, their imports, and the extension. [bytes]"""

TREE_QUANTITY = 200 + 24 + 2 * 48
"""Size in Python of a quantity: a dictionary with mean and interval, a number, a place in a larger
dictionary. [bytes]"""

TREE_ITEM = 80 + 4 * (64 + 48)
"""Size in Python of an item: a dictionary, its name and labels. [bytes]"""

OF_TEXT = 8.0
"""Ratio of the scenario's size in Python to the length of its text. A member has about twenty
characters. It is stored twice as text, as two trees, and as typed values with a number and a place
each. [-]"""


@dataclass(frozen=True)
class Shape:
    """Numbers of parts of a result and a scenario, which all grow in proportion to a network."""

    items: float
    quantities: float
    text: float
    scenario_text: float
    flows: float
    links: float
    queues: float
    places: float
    stations: float
    steps: float
    windows: float

    def towards(self, other: "Shape", factor: float) -> "Shape":
        """Return the shape at a multiple of the distance from this shape to `other`."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Shape(*(a + factor * (b - a) for a, b in pairs))


@dataclass(frozen=True)
class Network:
    """A scenario file, and the settings that make it large."""

    file: Path
    unit: str = ""
    size: int = 0
    settings: Mapping[str, object] = field(default_factory=dict)
    #: Largest number of simultaneously open connections.
    open_connections: int = 0

    def scenario(self, size: int, **more: object) -> lh.Scenario:
        """Return the scenario of the file with this many units."""
        unit = {self.unit: size} if self.unit else {}
        return lh.Scenario(self.file, {**self.settings, **more, **unit})

    @property
    def shape(self) -> Shape:
        """Return the shape, from two small networks of two and four units with the shortest
        possible runs."""
        if not self.unit:
            return shape(self.scenario(0, duration="2 s", warmup="1 s"))
        few, more = (shape(self.scenario(n, duration="2 s", warmup="1 s")) for n in (2, 4))
        return few.towards(more, (self.size - 2) / 2)


def shape(scenario: lh.Scenario) -> Shape:
    """Return the numbers of parts of a scenario and of its result."""
    tree: dict[str, Any] = scenario.to_dict()
    flows, links = tree["flows"], tree["links"]
    queues = [link for link in links if link["rate_bps"] and not link["of_host"]]
    result = lh.simulate(scenario, replications=1, jobs=1)
    lists = [each for each in result.summary.values() if isinstance(each, list)]
    items = [item for each in lists for item in each]
    return Shape(
        items=len(items),
        quantities=sum(isinstance(value, dict) for item in items for value in item.values()),
        text=len(result.to_json()),
        scenario_text=len(scenario.to_json()),
        flows=len(flows),
        links=len(links),
        queues=len(queues),
        places=sum(link["queue_packets"] for link in queues),
        stations=len(tree["stations"]),
        steps=sum(len(flow["forward"]) + len(flow["back"]) + 2 for flow in flows),
        windows=sum(flow["tcp"]["window_packets"] for flow in flows if "web" not in flow),
    )


def engine_bytes(network: Network, measured_s: float) -> float:
    """Return the bound of the engine's memory. [bytes]"""
    has = network.shape
    return (
        ENGINE
        + has.flows * sum(FLOW)
        + has.steps * STEP
        + has.links * sum(LINK)
        + has.queues * (sum(QUEUE) + BIN * measured_s / BIN_S)
        + has.places * PLACE
        + has.stations * sum(STATION)
        + has.windows * PACKET
        + network.open_connections * CONNECTION
        + has.items * sum(ITEM)
        + has.quantities * sum(QUANTITY)
        + has.text
    )


def python_bytes(network: Network, measured_s: float) -> float:
    """Return the bound of the memory of `lh.simulate` with warnings, beyond that of the Python
    interpreter. [bytes]"""
    has = network.shape
    return (
        engine_bytes(network, measured_s)
        + MODULES
        + has.text
        + has.items * TREE_ITEM
        + has.quantities * TREE_QUANTITY
        + has.scenario_text * OF_TEXT
    )
