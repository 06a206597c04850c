"""Scenarios of the networks in paper 001, and functions that read the quantities of its figures.

The payload is 1000 bytes at 11 Mb/s (802.11b). TCP is Reno with an ACK for every segment. The
weight beta of the utility is 200, and the factor k for the number of connections is 10. The
aggressiveness r of a link is updated every second, and the number of connections every five
seconds. Settings that the paper leaves open were chosen from its text before any run. The
documentation page lists these settings. `VARIANTS` has other settings for comparison. The scenarios
have these properties:

- r is 3e-5 per queued packet, which figures 6.3 and 6.4 imply.
- Links use slots of 20 us, DIFS and EIFS, and can collide, as in the 802.11 module of ns-2 that the
  paper modified.
- *h-ACK*: TCP ACKs return immediately; a data packet, DIFS and its ACK take 1/559 s.
- *n-ACK*: TCP ACKs contend for the channel on a separate link. The packet rate C without contention
  is 811 packets/s. Each exchange contains 0.476 ms that do not depend on the length of the frame.
  These are the times of 802.11b.
- *L-CSMA*: slots, DIFS and binary backoff of 802.11 with the same times. Each user has one
  connection, and queues have 50 packets as in ns-2. Carriers are sensed over 800 m, and frames are
  decoded over 250 m, so that links wait for EIFS after frames of other links. In topologies d and e
  links share nodes and decode each other's frames, so there is no EIFS.
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
"""Packet rate of a link without contention. Each packet and its TCP ACK are sent after DIFS.
Utilities are computed with rates in units of this rate. Problem MP has a capacity of 1 in these
units. [packets/s]
"""

HACK_PPS = 559.0
"""Packet rate under h-ACK without contention. The DIFS before the data packet is not counted.
[packets/s]
"""

PER_PACKET = 3e-5
"""Increase of the aggressiveness r for each queued packet, which is :math:`\\alpha` in the models.
[-]
"""

K, BETA = 10.0, 200.0
LINKS = (1, 2, 3, 4)
"""Numbers of the links in topologies a, b and c. A link and its user have the same number."""

TOPOLOGIES = ("a", "b", "c")
WARMUP_S, DURATION_S = 100.0, 500.0
REPLICATIONS = 30

Tree = Mapping[str, Any]

SERVICE_PPS, OVERHEAD_MS = 811, 0.476
"""Packet rate C under n-ACK, and the part of an exchange's duration that does not depend on the
length of the frame. [packets/s, ms]
"""

TIMES: Tree = {"service_rate": SERVICE_PPS, "overhead": f"{OVERHEAD_MS} ms", "acks": "contend"}

PACKET_BYTES, ACK_BYTES = 1040, 40
"""Lengths of data packets and TCP ACKs, including headers. [bytes]"""

DATA_MS = 1e3 / SERVICE_PPS
ACK_PART = (OVERHEAD_MS + (DATA_MS - OVERHEAD_MS) * ACK_BYTES / PACKET_BYTES) / DATA_MS
"""Duration of the exchange of a TCP ACK, divided by the duration for a data packet. [-]"""

EIFS = "364 us"
"""Idle time after a frame that a station senses but cannot decode, for 802.11b at 1 Mb/s."""

PLAIN: Tree = {**TIMES, "access": "dcf", "queue": 50}
"""Settings of L-CSMA without EIFS, for links that decode all frames that they sense."""

SLOTS: Tree = {"slotted": True}
DIFS: Tree = {"difs": "50 us"}
SILENCES: Tree = {**DIFS, "eifs": EIFS}
MODULE: Tree = {**SLOTS, **SILENCES}
"""Settings of adaptive access in the 802.11 module of ns-2: slots, DIFS and EIFS."""

TREATMENTS: Mapping[str, Tree] = {"hack": {"service_rate": HACK_PPS}, "nack": TIMES}
"""Settings of the exchange times under h-ACK and n-ACK, the two treatments of TCP ACKs."""

THEORY_PPS = 600.0
"""Packet rate C of the model for h-ACK, which has continuous time and no idle times. The model
gives the total throughputs of table 6.2 with similar rates C: 568, 628 and 598 in topologies a, b
and c. [packets/s]
"""

SCHEMES: Mapping[str, Tree] = {
    "lcsma": {**PLAIN, "eifs": EIFS},
    **{name: {**times, **MODULE} for name, times in TREATMENTS.items()},
}
"""Settings of `csma` for L-CSMA, h-ACK and n-ACK."""

BESIDE: Mapping[str, Tree] = {
    **{name: {**times, **SLOTS, **DIFS} for name, times in TREATMENTS.items()},
    "lcsma": PLAIN,
}
"""Settings of `csma` for each scheme in topologies d and e, where links share nodes and decode each
other's frames.
"""

CURES = tuple(TREATMENTS)
"""Names of the adaptive schemes, h-ACK and n-ACK. The rates of flows under these schemes should be
close to the optimum.
"""


@dataclass(frozen=True)
class Variant:
    """Settings that replace those of a scheme, in order to examine a choice that the paper leaves
    open.
    """

    words: str
    csma: Tree = field(default_factory=dict)
    tcp: Tree = field(default_factory=dict)
    base: Mapping[str, Tree] = field(default_factory=lambda: SCHEMES)
    """Settings of `csma` by scheme. The settings of the variant are added to them."""


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
"""Other possible settings of the paper's simulator. None of these settings changes a verdict."""


def variant(
    scheme: str,
    name: str,
    topology: str = "a",
    base: Mapping[str, Tree] | None = None,
    **csma: Any,
) -> dict[str, Any]:
    """Return the network of a scheme under a variant; `base` may replace the settings of the
    scheme.
    """
    variant = VARIANTS[name]
    settings = {**(base or variant.base)[scheme], **variant.csma, **csma}
    title = f"topology {topology}, {WORDS[scheme]}, {variant.words}"
    return scenario(title, topology, tcp=variant.tcp, **settings)


LIGHT_PPS = 650
"""Packet rate C under n-ACK if the air time of ACKs is proportional to their length. [packets/s]"""

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
        Rate of each flow, by its name, if the flows are UDP with Poisson arrivals; by default the
        flows are TCP. [packets/s]
    tcp : mapping, optional
        Settings of TCP that replace those of the paper; by default none is replaced.
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
"""Scenario of topology a with n-ACK, in which ACKs have an air time proportional to their
length.
"""


@cache
def best(topology: str, beta: float | None = None, k: float = K) -> tuple[float, ...]:
    """Return the rates of the flows at the optimum of problem MP or EP. [packets/s]

    The optimum ignores the entropy term if `beta` is None.
    """
    from lasthop.models.acsma.optimum import RENO, optimum
    from lasthop.models.acsma.topologies import topology as build

    network: Network = build(topology, C_PPS, RENO)
    return tuple(optimum(network, k, beta or NO_ENTROPY).rates_pps)


NO_ENTROPY = 1e6
"""Value of beta, the weight of the utility, at which the entropy term is negligible. [-]"""


def entropy_gap(topology: str) -> float:
    """Return the utility gap between the optimum with entropy and the optimum without entropy.
    [-]
    """
    pairs = zip(best(topology, BETA), best(topology), strict=True)
    return sum(C_PPS / optimal - C_PPS / held for held, optimal in pairs)


def quantity(run: Run, list_name: str, item: str, name: str) -> Quantity:
    """Return a quantity of a run. The model's prediction is omitted if ACKs contend, because the
    model ignores such contention.
    """
    result = run.quantity(list_name, item, name)
    is_nack = bool(run.scenario) and run.scenario["csma"]["acks"] == "contend"
    return Quantity(result.samples) if is_nack else result


def rate(run: Run, flow: str | int) -> Quantity:
    """Return the throughput of a flow, given by its name or by the number of its user.
    [packets/s]
    """
    name = f"user-{flow}" if isinstance(flow, int) else flow
    return quantity(run, "flows", name, "goodput_bps") / PACKET_BITS


def rates(run: Run) -> list[Quantity]:
    """Return the throughputs of all flows. [packets/s]"""
    return [rate(run, flow) for flow in run.items("flows")]


def total(run: Run) -> Quantity:
    """Return the sum of the throughputs of all flows. [packets/s]"""
    each = rates(run)
    return mean_of(each) * float(len(each))


def gap(run: Run, topology: str = "a") -> Quantity:
    """Return the gap between the utility of a run and that of the optimum without entropy. [-]

    Rates are in units of the packet rate C. The gap is infinite if a flow has no throughput.
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
    """Return the quantity `what` of a link in one run. `name` is the number or the name of the
    link.
    """
    return quantity(run, "links", str(name), what)


def connections(run: Run, user: int) -> Quantity:
    """Return the mean number of connections of a user."""
    return quantity(run, "flows", f"user-{user}", "connections")


def rtt(run: Run, user: int) -> Quantity:
    """Return the mean round-trip time of a user's connections. [s]"""
    return quantity(run, "flows", f"user-{user}", "rtt_s")


def distance(runs: Sequence[Quantity], wanted: Sequence[Quantity]) -> Quantity:
    """Return the relative distance of one flow's value from its wanted value. The flow is the one
    whose mean is farthest from its wanted value. [-]

    The flow is chosen by the means over replications. If it were chosen in each replication, the
    mean of the largest distances would exceed the mean distance of every flow.
    """
    parts = [
        (item - other) / float(np.mean(other.samples))
        for item, other in zip(runs, wanted, strict=True)
    ]
    farthest = max(parts, key=lambda part: abs(float(np.mean(part.samples))))
    sign = -1.0 if np.mean(farthest.samples) < 0.0 else 1.0
    return Quantity(np.atleast_1d(sign * farthest.samples))


def largest_distance(runs: Sequence[Quantity], wanted: Sequence[Quantity]) -> Quantity:
    """Return, for each replication, the largest relative distance of a flow from its wanted value.
    [-]
    """
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
    """Return the simulated throughput of a user, without the model's prediction. [packets/s]"""
    return Quantity(rate(run, user).samples)


USERS = Abscissa("user", ticks=LINKS)


def each(label: str, point: str, reading: Callable[[Run, int], Quantity]) -> Line:
    """Return the line of a picture that shows a quantity of every user, or of every link, in one
    run.
    """
    return Line(label, LINKS, lambda runs: [reading(runs[point], item) for item in LINKS])


def optimal(topology: str, flows: Sequence[Any] = LINKS) -> Line:
    """Return the line of a picture with the throughputs of the flows at the optimum. The model
    predicts these throughputs. [packets/s]
    """
    return Line("optimum", flows, lambda runs: [theory(value) for value in best(topology, BETA)])


def of_all(reading: Callable[[Run, int], Quantity], run: Run) -> list[Quantity]:
    """Return the quantity that `reading` reads from a run, for every user or for every link."""
    return [reading(run, item) for item in LINKS]


def aggressiveness(run: Run, name: int) -> Quantity:
    """Return the mean aggressiveness r of a link. [-]"""
    return link(run, name, "aggressiveness")
