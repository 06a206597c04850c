"""Compute an upper bound of the memory of a simulation before it runs.

The bound is the sum of the sizes of flows, links, stations, packets in flight and values of the
result. These sizes are those of the engine's structures (`std::mem::size_of` on x86_64).
Allocations have the size that the allocator uses. No value is fitted to a run. The number of values
in the result, and the length of the result as text, are proportional to the size of the network.
These two numbers are measured in two small networks of the same file. From Python, the result is
not converted to text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lasthop as lh


def heap(size: int) -> int:
    """Return the memory that glibc's allocator uses for `size` bytes: 8 bytes more, rounded up to a
    multiple of 16, and at least 32.
    """
    return max(32, -(-(size + 8) // 16) * 16)


NAME = heap(16)
"""Size of a name with up to 24 characters. [bytes]"""

FLOW = (
    *(424, 2 * NAME, 2 * heap(4 * 4)),  # the flow in the scenario: its names, its lists of links
    *(256, heap(320) + 64, 2 * heap(8)),  # FlowState; sender and receiver, aligned; ring buffers
    2 * 2 * 2 * 8,  # two timers in the agenda, a tree with up to twice as many leaves as timers
    *(2 * 32, heap(4 * 8), heap(4 * 40)),  # windows for later samples, deferred ACKs
    *(2 * 20, 8, 2 * 12),  # two routes with their first legs, planned start and stop
    *(16 + 8, 2 * 120),  # sums for the statistics of windows, class, counters at two times
)
"""Size of a flow, without its links. [bytes]"""

STEP = 4 + 32
"""Size of a link in the path of a flow: the number of the link, and its leg (section of the path).
[bytes]"""

LINK = (
    *(232, 3 * NAME),  # LinkSettings and their names
    *(64, heap(24), NAME),  # WiredLink, its label and name
    16,  # sums for the statistics of the queue length
)
"""Size of one direction of a link. [bytes]"""

QUEUE = (
    *(heap(336), 16 * 32, 3 * 64),  # `Pipe`, its first ring buffer, queue discipline and loss model
    2 * (56 + 8 + 16 + 8),  # counters at two times
)
"""Additional size of a link with a queue, which results contain. [bytes]"""

STATION = (
    *(576, 2 * NAME),  # settings of the station in the scenario
    *(4 * 64, NAME),  # contenders and queues of the station in the cell
    *(2 * 64, 4 * 32),  # each contender: backoff, first packet, ring buffers
    *(2 * 2 * 64, 2 * 32),  # counters at two times
)
"""Size of a station, without its flows. [bytes]"""

PACKET = 64 + 24
"""Size of a packet in flight: its entry in the calendar queue, and in the current day of the
calendar. A packet in a queue needs less memory. [bytes]
"""

CONNECTION = 2 * sum(FLOW) + 10 * PACKET
"""Size of an open web connection: two flows, and the packets of a response's first window.
[bytes]
"""

PLACE = (4 + 2) * 24
"""Memory of a queue for each packet of its limit: a residence time in a ring buffer that is up to
four times as large as needed. While the ring grows, there is a second buffer of half the size.
[bytes]
"""

BIN, BIN_S = 8, 0.1
"""The utilisation of a link is measured in intervals. The values are the memory for one interval,
and the length of an interval. [bytes, s]"""

QUANTITY = (
    32,  # name and value in the item of a replication
    8,  # value in the array of a replication
)
"""Size of a value of the result. [bytes]"""

ITEM = (
    *(2 * 72, NAME, heap(3 * 40), 3 * NAME),  # an item of a replication, with up to three labels
    *(2 * 40, NAME),  # name in the result; successive items share labels and names of quantities
)
"""Size of a named item of the result: a flow, a station, a queue. [bytes]"""

ENGINE = 8e6
"""Size of the engine's program and runtime, including the definitions of all scenario keys.
[bytes]
"""

MODULES = 25e6
"""Size of lasthop's modules, their imports, and the extension. [bytes]"""

TYPED_FLOW = (
    *(48, 464, 104 + 8),  # object, its dictionary, numbers that are not shared, place in a list
    *(2 * 40, 5 * 64),  # two routes, and five texts
    *(2 * 104, 64, 48 + 184 + 2 * 24),  # in warnings: two entries, name, estimate
)
"""Size in Python of a flow of the scenario, without its routes. [bytes]"""

TYPED_STATION = 48 + 2272 + 50 * 32 + 4 * (48 + 464 + 12 * 32)
"""Size in Python of a station of the scenario: an object with 50 values, and four inner objects
with twelve values each. [bytes]
"""

TYPED_STEP = 8 + 72
"""Size in Python of a link in the path of a flow: a place in a tuple, and a name. [bytes]"""

TYPED_LINK = 2 * 104 + 72 + 24
"""Size in Python of a link of which a warning needs the delay: an entry of a dictionary, which is
copied while it grows, a name and a number. [bytes]
"""

DICTIONARIES = 352 + 2 * 56, 184 + 2 * 24 + 104
"""Size in Python of an item of the result with its labels, and of a value with its interval. The
tables of the command are made from these dictionaries. [bytes]
"""

GROWN = 3
"""A list that grows has up to twice its size, and its content is copied from half of this. [-]"""

EXPLAINED_FLOW = GROWN * 400 + 176
"""Size of a flow in the explanation: its settings, and the facts about it. [bytes]"""

EXPLAINED_STEP = GROWN * 24 + 2 * 16
"""Size of a link in the path of a flow in the explanation: a text, and a place in the facts.
[bytes]
"""

EXPLAINED_LINK = GROWN * 256 + 2 * 16
"""Size of a link or a station in the explanation, and of its place in an index. [bytes]"""

EXPLAINED_VALUE = GROWN * 56
"""Size of a value of the result in the explanation. [bytes]"""


@dataclass(frozen=True)
class Shape:
    """Numbers of components in a scenario and its result. All numbers are proportional to the size
    of the network.
    """

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
        """Return a shape that is extrapolated linearly from this shape and `other`. With `factor` 0
        it is this shape, and with 1 it is `other`."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Shape(*(a + factor * (b - a) for a, b in pairs))


@dataclass(frozen=True)
class Network:
    """A scenario file, with settings that make the network large."""

    file: Path
    unit: str = ""
    size: int = 0
    settings: Mapping[str, object] = field(default_factory=dict)
    #: Largest number of simultaneously open connections.
    open_connections: int = 0

    def scenario(self, size: int, **more: object) -> lh.Scenario:
        """Return the scenario of the file. `size` is the number of flows or stations."""
        unit = {self.unit: size} if self.unit else {}
        return lh.Scenario(self.file, {**self.settings, **more, **unit})

    @property
    def shape(self) -> Shape:
        """Return the numbers of components, extrapolated from two small networks with sizes two and
        four and short durations.
        """
        if not self.unit:
            return shape(self.scenario(0, duration="2 s", warmup="1 s"))
        few, more = (shape(self.scenario(n, duration="2 s", warmup="1 s")) for n in (2, 4))
        return few.towards(more, (self.size - 2) / 2)


def shape(scenario: lh.Scenario) -> Shape:
    """Return the numbers of components in a scenario and in its result."""
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
    """Return the upper bound of the memory of the engine's example program, which prints the result
    as text. The buffer of the text is copied while it grows. [bytes]
    """
    return simulation_bytes(network, measured_s) + 2 * network.shape.text


def simulation_bytes(network: Network, measured_s: float) -> float:
    """Return the upper bound of the engine's memory, without a result as text. [bytes]"""
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
    )


def python_bytes(network: Network, measured_s: float) -> float:
    """Return the upper bound of the memory of `lh.simulate` with warnings, without the memory of
    the Python interpreter. [bytes]
    """
    has = network.shape
    return (
        simulation_bytes(network, measured_s)
        + MODULES
        + has.flows * sum(TYPED_FLOW)
        + has.steps * TYPED_STEP
        + has.stations * TYPED_STATION
        + has.links * TYPED_LINK
    )


def command_bytes(network: Network, measured_s: float) -> float:
    """Return the upper bound of the memory of `lasthop simulate`, which prints tables and an
    explanation, without the memory of the Python interpreter. [bytes]

    The explanation reads the scenario and the result as text. While it is made, a text is copied
    twice.
    """
    has = network.shape
    item, value = DICTIONARIES
    return (
        python_bytes(network, measured_s)
        + 3 * (has.scenario_text + has.text)
        + has.items * item
        + has.quantities * (value + EXPLAINED_VALUE)
        + has.flows * EXPLAINED_FLOW
        + has.steps * EXPLAINED_STEP
        + (has.links + has.stations) * EXPLAINED_LINK
    )
