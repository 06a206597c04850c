"""The networks of paper 001, and the quantities of its figures.

The payload is 1000 bytes at 11 Mb/s (802.11b). TCP is Reno with an ACK for every segment. beta is
200, and k is 10. r is updated every second, and the number of connections every five seconds. Where
the paper leaves choices open, they were made from its text before any run (the page lists them).
`VARIANTS` are shown in addition:

- r is 3e-5 per queued packet, which figures 6.3 and 6.4 imply.
- Links use slots of 20 us, DIFS and EIFS, and can collide, as in the 802.11 module of ns-2 that the
  paper modified.
- *h-ACK*: TCP ACKs return immediately; a data packet, DIFS and its ACK take 1/559 s.
- *n-ACK*: ACKs contend on a separate link. C is 811 packets/s. In each exchange, 0.476 ms do not
  depend on its length. These are the times of 802.11b.
- *L-CSMA*: slots, DIFS and binary backoff of 802.11 with the same times. There is one connection,
  and queues have 50 packets as in ns-2. Carriers are sensed over 800 m, and frames are decoded over
  250 m, so that links wait for EIFS after frames of other links. This does not hold in d and e,
  where links share nodes.
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
"""Packet rate of a link without contention. Each packet and its TCP ACK are sent after DIFS. This
rate is the unit of utilities, and the capacity of 1 in problem MP. [packets/s]
"""

HACK_PPS = 559.0
"""Packet rate without the first DIFS, as in an exchange under h-ACK. [packets/s]"""

PER_PACKET = 3e-5
"""Aggressiveness for each queued packet, :math:`\\alpha` of the models. [-]"""

K, BETA = 10.0, 200.0
LINKS = (1, 2, 3, 4)
"""Numbers of the links of topologies a, b and c, and of their users."""

TOPOLOGIES = ("a", "b", "c")
WARMUP_S, DURATION_S = 100.0, 500.0
REPLICATIONS = 30

Tree = Mapping[str, Any]

SERVICE_PPS, OVERHEAD_MS = 811, 0.476
"""Rate of data packets under n-ACK, and overhead of an exchange. [packets/s, ms]"""

TIMES: Tree = {"service_rate": SERVICE_PPS, "overhead": f"{OVERHEAD_MS} ms", "acks": "contend"}

PACKET_BYTES, ACK_BYTES = 1040, 40
"""Lengths of data packets and TCP ACKs, including headers. [bytes]"""

DATA_MS = 1e3 / SERVICE_PPS
ACK_PART = (OVERHEAD_MS + (DATA_MS - OVERHEAD_MS) * ACK_BYTES / PACKET_BYTES) / DATA_MS
"""Ratio of the time of a TCP ACK's exchange to that of a data packet's exchange. [-]"""

EIFS = "364 us"
"""Idle time after a frame that a station senses but cannot decode, for 802.11b at 1 Mb/s."""

PLAIN: Tree = {**TIMES, "access": "dcf", "queue": 50}
"""L-CSMA whose links decode all frames that they sense."""

SLOTS: Tree = {"slotted": True}
DIFS: Tree = {"difs": "50 us"}
SILENCES: Tree = {**DIFS, "eifs": EIFS}
MODULE: Tree = {**SLOTS, **SILENCES}
"""Adaptive access as in the 802.11 module of ns-2."""

TREATMENTS: Mapping[str, Tree] = {"hack": {"service_rate": HACK_PPS}, "nack": TIMES}
"""Times of an exchange, by the treatment of TCP ACKs."""

THEORY_PPS = 600.0
"""C of h-ACK in continuous time without idle times. It is near the values that the model implies
from the totals of table 6.2 (568, 628 and 598). [packets/s]
"""

SCHEMES: Mapping[str, Tree] = {
    "lcsma": {**PLAIN, "eifs": EIFS},
    **{name: {**times, **MODULE} for name, times in TREATMENTS.items()},
}
"""Settings of `csma` by the name of the scheme."""

BESIDE: Mapping[str, Tree] = {
    **{name: {**times, **SLOTS, **DIFS} for name, times in TREATMENTS.items()},
    "lcsma": PLAIN,
}
"""Settings of the schemes if links share nodes, so that they decode each other's frames."""

CURES = tuple(TREATMENTS)
"""Schemes that should be close to the optimum, with either treatment of ACKs."""


@dataclass(frozen=True)
class Variant:
    """Settings that differ from those of a scheme, for comparison."""

    words: str
    csma: Tree = field(default_factory=dict)
    tcp: Tree = field(default_factory=dict)
    base: Mapping[str, Tree] = field(default_factory=lambda: SCHEMES)
    """Settings by scheme to which the settings of the variant are added."""


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
    """Return the network of a scheme under a variant; `base` may replace the scheme's settings."""
    variant = VARIANTS[name]
    settings = {**(base or variant.base)[scheme], **variant.csma, **csma}
    title = f"topology {topology}, {WORDS[scheme]}, {variant.words}"
    return scenario(title, topology, tcp=variant.tcp, **settings)


LIGHT_PPS = 650
"""C of n-ACK if the air time of ACKs is proportional to their length. [packets/s]"""

LIGHT_ACKS: Tree = {"service_rate": LIGHT_PPS, "acks": "contend", **MODULE}
"""Settings of `csma` with ACKs whose air time is proportional to their length."""

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
        Rates of UDP flows with Poisson arrivals that replace TCP, by flow. [packets/s]
    tcp : mapping, optional
        Settings of TCP that replace those of the paper.
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
"""Value of beta at which the weight of the entropy is negligible. [-]"""


def entropy_gap(topology: str) -> float:
    """Return the utility gap between the optimum of MP or EP and the optimum without entropy.
    [-]
    """
    pairs = zip(best(topology, BETA), best(topology), strict=True)
    return sum(C_PPS / optimal - C_PPS / held for held, optimal in pairs)


# Quantities of figures.


def quantity(run: Run, list_name: str, item: str, name: str) -> Quantity:
    """Return a quantity, with the model's value unless ACKs contend, which the model ignores."""
    result = run.quantity(list_name, item, name)
    is_nack = bool(run.scenario) and run.scenario["csma"]["acks"] == "contend"
    return Quantity(result.samples) if is_nack else result


def rate(run: Run, flow: str | int) -> Quantity:
    """Return the throughput of a flow, or of a user given by number. [packets/s]"""
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
    """Return the utility gap to the optimum without entropy, with rates in units of C. [-]

    The gap is minus infinity if a flow has no throughput.
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
    """Return the relative distance from the wanted value, for the flow with the largest distance.
    [-]

    The flow is the one whose mean has the largest distance. The mean over replications of the
    largest distance would exceed the mean distance of every flow, because noise only increases a
    maximum.
    """
    parts = [
        (item - other) / float(np.mean(other.samples))
        for item, other in zip(runs, wanted, strict=True)
    ]
    farthest = max(parts, key=lambda part: abs(float(np.mean(part.samples))))
    sign = -1.0 if np.mean(farthest.samples) < 0.0 else 1.0
    return Quantity(np.atleast_1d(sign * farthest.samples))


def largest_distance(runs: Sequence[Quantity], wanted: Sequence[Quantity]) -> Quantity:
    """Return the largest relative distance of a flow from its wanted value, per replication. [-]"""
    parts = [item / other - 1.0 for item, other in zip(runs, wanted, strict=True)]
    samples = np.max([np.abs(part.samples) for part in parts], axis=0)
    return Quantity(np.atleast_1d(samples))


def window(run: Run, user: int) -> Quantity:
    """Return the mean window of a user's connections. [packets]"""
    return rate(run, user) * rtt(run, user) / connections(run, user)


def known(value: float) -> Quantity:
    """Return a quantity with the same value in every replication."""
    return Quantity(np.asarray(value), float(value))


def simulated_rate(run: Run, user: int) -> Quantity:
    """Return the throughput of a user without the model's value. [packets/s]"""
    return Quantity(rate(run, user).samples)


# Lines of figures.

USERS = Abscissa("user", ticks=LINKS)


def each(label: str, point: str, reading: Callable[[Run, int], Quantity]) -> Line:
    """Return the line of a quantity over all users, or all links, of a run."""
    return Line(label, LINKS, lambda runs: [reading(runs[point], item) for item in LINKS])


def optimal(topology: str, flows: Sequence[Any] = LINKS) -> Line:
    """Return the line of the optimum, which has only a predicted value. [packets/s]"""
    return Line("optimum", flows, lambda runs: [theory(value) for value in best(topology, BETA)])


def of_all(reading: Callable[[Run, int], Quantity], run: Run) -> list[Quantity]:
    """Return a quantity of all users, or all links."""
    return [reading(run, item) for item in LINKS]


def aggressiveness(run: Run, name: int) -> Quantity:
    """Return the mean r of a link. [-]"""
    return link(run, name, "aggressiveness")
