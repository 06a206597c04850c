"""The networks of paper 001, and what its figures read from a run of them.

1000 bytes of payload at 11 Mb/s (802.11b), Reno with an ACK for every segment, beta 200, k = 10, r
read every second and connections every five. Choices that the paper leaves open were made by its
words before any run (the page lists them), and `VARIANTS` are shown in addition:

- r is 3e-5 for each queued packet, which figures 6.3 and 6.4 imply.
- Links count slots of 20 us and collide, after DIFS and EIFS, as the 802.11 module of ns-2 that the
  paper modified.
- *h-ACK*: TCP ACKs return immediately; a data packet, DIFS and its ACK take 1/559 s.
- *n-ACK*: ACKs contend on a link of their own; C = 811 packets/s, with 0.476 ms of each exchange
  that do not depend on its length. These are 802.11b's times.
- *L-CSMA*: slots, DIFS and binary backoff of 802.11 on the same times; one connection, 50 packets
  of room as in ns-2. Carriers are sensed over 800 m and frames read over 250 m, so that links wait
  for EIFS after others' frames; not in d and e, where links share nodes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.studies.picture import Abscissa, Line
from lasthop.studies.study import Quantity, Run, mean_of, theory
from lasthop.studies.sweep import Point

if TYPE_CHECKING:
    from lasthop.models.acsma.network import Network

PACKET_BITS = 8_000
"""Payload of a packet. [bit]"""

C_PPS = 544.0
"""Packets per second of a link that has the channel to itself, each with its TCP ACK, both after
DIFS. It is the unit of utilities, the capacity of 1 of problem MP. [packets/s]"""

HACK_PPS = 559.0
"""Packets per second without the first DIFS: an exchange under h-ACK. [packets/s]"""

PER_PACKET = 3e-5
"""Aggressiveness for each queued packet, :math:`\\alpha` of the models. [-]"""

K, BETA = 10.0, 200.0
LINKS = (1, 2, 3, 4)
"""Links of topologies a, b and c, and their users."""

TOPOLOGIES = ("a", "b", "c")
WARMUP_S, DURATION_S = 100.0, 500.0
REPLICATIONS = 30

Tree = Mapping[str, Any]

SERVICE_PPS, OVERHEAD_MS = 811, 0.476
"""Data packets that n-ACK sends in a second, and the overhead of an exchange. [packets/s, ms]"""

TIMES: Tree = {"service_rate": SERVICE_PPS, "overhead": f"{OVERHEAD_MS} ms", "acks": "contend"}

PACKET_BYTES, ACK_BYTES = 1040, 40
"""Data packets and TCP ACKs with their headers. [bytes]"""

DATA_MS = 1e3 / SERVICE_PPS
ACK_PART = (OVERHEAD_MS + (DATA_MS - OVERHEAD_MS) * ACK_BYTES / PACKET_BYTES) / DATA_MS
"""Time of a TCP ACK's exchange over that of a data packet's. [-]"""

EIFS = "364 us"
"""Silence after a frame that a station senses and cannot read, with 802.11b at 1 Mb/s."""

PLAIN: Tree = {**TIMES, "access": "dcf", "queue": 50}
"""L-CSMA whose links read all frames that they sense."""

SLOTS: Tree = {"slotted": True}
DIFS: Tree = {"difs": "50 us"}
SILENCES: Tree = {**DIFS, "eifs": EIFS}
MODULE: Tree = {**SLOTS, **SILENCES}
"""Adaptive access as in the 802.11 module of ns-2."""

TREATMENTS: Mapping[str, Tree] = {"hack": {"service_rate": HACK_PPS}, "nack": TIMES}
"""Times of an exchange by how TCP ACKs are treated."""

THEORY_PPS = 600.0
"""C of h-ACK in continuous time without silences, near what the model implies from the totals of
table 6.2 (568, 628 and 598). [packets/s]"""

SCHEMES: Mapping[str, Tree] = {
    "lcsma": {**PLAIN, "eifs": EIFS},
    **{name: {**times, **MODULE} for name, times in TREATMENTS.items()},
}
"""Settings of `csma` by the names of values."""

BESIDE: Mapping[str, Tree] = {
    **{name: {**times, **SLOTS, **DIFS} for name, times in TREATMENTS.items()},
    "lcsma": PLAIN,
}
"""Settings of L-CSMA where links share nodes, so that they read one another's frames."""

CURES = tuple(TREATMENTS)
"""Schemes that are to come close to the optimum: both treatments of ACKs."""


@dataclass(frozen=True)
class Variant:
    """Other settings with which a scheme is compared."""

    words: str
    csma: Tree = field(default_factory=dict)
    tcp: Tree = field(default_factory=dict)
    base: Mapping[str, Tree] = field(default_factory=lambda: SCHEMES)
    """Settings by scheme to which these are added."""


PATIENT = Variant("an initial RTO of 30 s", tcp={"initial_rto": "30 s"})

VARIANTS: Mapping[str, Variant] = {
    "theory": Variant(
        "continuous time without silences",
        base={"hack": {"service_rate": THEORY_PPS}, "nack": TIMES},
    ),
    "slots": Variant("slots without silences", SLOTS, base=TREATMENTS),
    "silences": Variant("silences in continuous time", SILENCES, base=TREATMENTS),
    "patient": PATIENT,
    "opened": Variant("handshakes", tcp={"handshake": True}),
    "smooth": Variant("n_s the mean of the last two", {"smoothing": 0.5}),
    "delayed": Variant("delayed ACKs", tcp={"delayed_ack": True}),
}
"""Other possible settings of the paper's simulator; none of these changes a verdict."""


def variant(
    scheme: str,
    name: str,
    topology: str = "a",
    base: Mapping[str, Tree] | None = None,
    **csma: Any,
) -> dict[str, Any]:
    """Return a scheme's network under a variant, perhaps with settings in place of the scheme's."""
    variant = VARIANTS[name]
    settings = {**(base or variant.base)[scheme], **variant.csma, **csma}
    title = f"topology {topology}, {WORDS[scheme]}, {variant.words}"
    return scenario(title, topology, tcp=variant.tcp, **settings)


LIGHT_PPS = 650
"""C of n-ACK with ACKs that use the air only for their bytes. [packets/s]"""

LIGHT_ACKS: Tree = {"service_rate": LIGHT_PPS, "acks": "contend", **MODULE}
"""Settings of `csma` with such ACKs."""

WORDS: Mapping[str, str] = {"lcsma": "L-CSMA", "hack": "h-ACK", "nack": "n-ACK"}


def scenario(
    name: str,
    topology: str = "a",
    *,
    seconds: tuple[float, float] = (WARMUP_S, DURATION_S),
    udp_pps: Mapping[str, float] | None = None,
    tcp: Tree | None = None,
    **csma: Any,
) -> dict[str, Any]:
    """Return one of the paper's networks.

    Parameters
    ----------
    name : str
        Title of the scenario.
    topology : str
        ``"a"`` to ``"e"``.
    seconds : two floats
        Warm-up and duration. [s]
    udp_pps : mapping, optional
        Rates of UDP flows with Poisson arrivals in place of TCP, by flow. [packets/s]
    tcp : mapping, optional
        Settings of TCP in place of the paper's.
    **csma
        Settings of `csma`.
    """
    from lasthop.models.acsma.topologies import TOPOLOGIES as SHAPES

    links, conflicts, wires, routes = SHAPES[topology]
    between = "/" if "/" in conflicts else "-"
    table: dict[str, dict[str, Any]] = {link: {} for link in links.split()}
    for pair in conflicts.split():
        item, other = pair.split(between)
        table[item].setdefault("conflicts", []).append(other)
    flows: dict[str, dict[str, Any]] = {
        flow: {"route": route.split()}
        for flow, route in zip(flows_of(topology), routes.values(), strict=True)
    }
    datagrams = {"packet": "1040 B", "header": "40 B", "arrivals": "poisson"}
    for flow, rate_pps in (udp_pps or {}).items():
        flows[flow] |= {"udp": {"rate": f"{rate_pps * PACKET_BITS:.9g} bps", **datagrams}}
    rules: dict[str, Any] = {"link": table}
    if csma.get("access", "adaptive") == "adaptive":
        rules |= {"beta": BETA, "r_per_packet": PER_PACKET}
        if csma.get("connections") != "one" and not udp_pps:
            rules |= {"k": K}
    tree: dict[str, Any] = {
        "name": name,
        "warmup": f"{seconds[0]:g} s",
        "duration": f"{seconds[1]:g} s",
        "replications": REPLICATIONS,
        "tcp": {
            "congestion": "reno",
            "window": 1000,
            "delayed_ack": False,
            "handshake": False,
            "initial_rto": "3 s",
            "mss": "1000 B",
            **(tcp or {}),
        },
        "csma": {**rules, **csma},
        "flow": flows,
    }
    if wires:
        pairs = {wire: wire.split("-") for wire in wires}
        tables = {
            wire: {"from": start, "to": end, "rate": f"{wires[wire]:.9g} bps", "queue": 50}
            for wire, (start, end) in pairs.items()
        }
        tree |= {"link": tables}
    return tree


def flows_of(topology: str) -> list[str]:
    """Return the names of the flows of a topology."""
    from lasthop.models.acsma.topologies import TOPOLOGIES as SHAPES

    *_, routes = SHAPES[topology]
    return [f"user-{name}" if name.isdigit() else name for name in routes]


NACK = Point("nack", scenario("topology a, n-ACK", **SCHEMES["nack"]))
LIGHT = Point("light", scenario("topology a, n-ACK, short ACKs", **LIGHT_ACKS))
"""Topology a with n-ACK, and with short ACKs."""


@cache
def best(topology: str, beta: float | None = None, k: float = K) -> tuple[float, ...]:
    """Return the rates of the optimum of MP or EP, by flow; without `beta` without entropy.

    [packets/s]
    """
    from lasthop.models.acsma.optimum import RENO, optimum
    from lasthop.models.acsma.topologies import topology as build

    network: Network = build(topology, C_PPS, RENO)
    return tuple(optimum(network, k, beta or NO_ENTROPY).rates_pps)


NO_ENTROPY = 1e6
"""A beta at which the weight of the entropy is nothing. [-]"""


def entropy_gap(topology: str) -> float:
    """Return the utility gap that the optimum of MP or EP has to that without entropy. [-]"""
    pairs = zip(best(topology, BETA), best(topology), strict=True)
    return sum(C_PPS / optimal - C_PPS / held for held, optimal in pairs)


# what figures read


def quantity(run: Run, list_name: str, item: str, name: str) -> Quantity:
    """Return a quantity, with the model's value unless the model leaves out ACKs that contend."""
    result = run.quantity(list_name, item, name)
    is_nack = bool(run.scenario) and run.scenario["csma"]["acks"] == "contend"
    return Quantity(result.samples) if is_nack else result


def rate(run: Run, flow: str | int) -> Quantity:
    """Return the throughput of a flow, or of the user with a number. [packets/s]"""
    name = f"user-{flow}" if isinstance(flow, int) else flow
    return quantity(run, "flows", name, "goodput_bps") / PACKET_BITS


def rates(run: Run) -> list[Quantity]:
    """Return the throughputs of all flows. [packets/s]"""
    return [rate(run, flow) for flow in run.items("flows")]


def total(run: Run) -> Quantity:
    """Return the sum of the throughputs. [packets/s]"""
    each = rates(run)
    return mean_of(each) * float(len(each))


def gap(run: Run, topology: str = "a") -> Quantity:
    """Return the utility gap to the optimum without entropy, rates in units of C. [-]

    A flow that got nothing makes it minus infinity.
    """
    wanted = best(topology)

    def lost(samples: Sequence[Any]) -> Any:
        with np.errstate(divide="ignore"):
            return sum(
                C_PPS / optimal - C_PPS / np.asarray(item, dtype=np.float64)
                for item, optimal in zip(samples, wanted, strict=True)
            )

    each = rates(run)
    predictions = [item.predicted for item in each]
    predicted = None if None in predictions else float(lost(predictions))
    return Quantity(lost([item.samples for item in each]), predicted)


def link(run: Run, name: str | int, what: str) -> Quantity:
    """Return a quantity of a link."""
    return quantity(run, "links", str(name), what)


def connections(run: Run, user: int) -> Quantity:
    """Return the mean number of connections of a user."""
    return quantity(run, "flows", f"user-{user}", "connections")


def rtt(run: Run, user: int) -> Quantity:
    """Return the mean round-trip time of a user's connections. [s]"""
    return quantity(run, "flows", f"user-{user}", "rtt_s")


def distance(runs: Sequence[Quantity], wanted: Sequence[Quantity]) -> Quantity:
    """Return how far the flow is from its value in others that is farthest from it, relative. [-]

    The flow is the one whose mean is farthest. The mean of the largest distance in each replication
    would be larger than any flow's, since chance adds to that and never takes away.
    """
    parts = [
        (item - other) / float(np.mean(other.samples))
        for item, other in zip(runs, wanted, strict=True)
    ]
    farthest = max(parts, key=lambda part: abs(float(np.mean(part.samples))))
    sign = -1.0 if np.mean(farthest.samples) < 0.0 else 1.0
    return Quantity(np.atleast_1d(sign * farthest.samples))


def largest_distance(runs: Sequence[Quantity], wanted: Sequence[Quantity]) -> Quantity:
    """Return how far the flow is that is farthest from its value in each replication, relative.
    [-]
    """
    parts = [item / other - 1.0 for item, other in zip(runs, wanted, strict=True)]
    samples = np.max([np.abs(part.samples) for part in parts], axis=0)
    return Quantity(np.atleast_1d(samples))


def window(run: Run, user: int) -> Quantity:
    """Return the mean window of a user's connections. [packets]"""
    return rate(run, user) * rtt(run, user) / connections(run, user)


def known(value: float) -> Quantity:
    """Return a number that is the same in every replication."""
    return Quantity(np.asarray(value), float(value))


def simulated_rate(run: Run, user: int) -> Quantity:
    """Return the throughput of a user without the model's value. [packets/s]"""
    return Quantity(rate(run, user).samples)


# how figures show it

USERS = Abscissa("user", ticks=LINKS)


def each(label: str, point: str, reading: Callable[[Run, int], Quantity]) -> Line:
    """Return the line of a quantity of every user, or every link, of a run."""
    return Line(label, LINKS, lambda runs: [reading(runs[point], item) for item in LINKS])


def optimal(topology: str, flows: Sequence[Any] = LINKS) -> Line:
    """Return the line of the optimum, which only the model has. [packets/s]"""
    return Line("optimum", flows, lambda runs: [theory(value) for value in best(topology, BETA)])


def of_all(reading: Callable[[Run, int], Quantity], run: Run) -> list[Quantity]:
    """Return a quantity of every user, or every link."""
    return [reading(run, item) for item in LINKS]


def aggressiveness(run: Run, name: int) -> Quantity:
    """Return the mean r of a link. [-]"""
    return link(run, name, "aggressiveness")
