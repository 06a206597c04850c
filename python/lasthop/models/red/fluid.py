"""Fluid models of scenarios: choice of the fluid model, and computation of its parameters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from lasthop.models.assumptions import BY_MODEL
from lasthop.models.cells import ADAPTS, PACED
from lasthop.models.errors import Doubt, ModelError, in_words, refuse, warning_text
from lasthop.models.red.network import Group, TcpPath, bottleneck, groups_of, paths_of
from lasthop.models.red.router import QueueModel, queue_model_of
from lasthop.models.red.senders import ABE, rule_of
from lasthop.scenario.transports import Tcp
from lasthop.scenario.typed import CellScenario, Link, Readable, Scenario, read
from lasthop.stability import Case, Model
from lasthop.stability.models import MODELS
from lasthop.stability.models.pi import Pi
from lasthop.stability.models.red import Red

MAX_GROUPS = 8
"""Largest number of groups of round-trip times; with more groups, the spectrum takes too long to
compute.
"""
FEW = 10
"""Number of flows below which a warning is issued that the fluid approximation may fail."""
ROOM = 2.0
"""Least ratio of the rate of a host's link to a flow's share of the bottleneck, for which no
warning is issued. The peaks of a saw-tooth window are 4/3 of its mean, and flows differ. [-]
"""
DELAY_DOUBTED, DELAY_BROKEN = 0.1, 1.0
"""Limits for the delay of a full drop-tail queue divided by the round-trip time. Above the first
limit, the model warns that the buffer may not be small. Above the second limit, the model refuses
the scenario. [-]
"""
MAX_NAMED = 2
"""Largest number of further classes of flows that an error message lists by name."""
MIN_REST = {"red": 2.0, "red-instant": 2.0, "pi": 2.0, "threshold": 4.0}
"""Lower limit of the window at equilibrium, by queue discipline; the fluid model does not apply to
smaller windows. `ssthresh` is at least 2 packets (RFC 5681, eq. 4). With a small buffer
(``threshold``) the limit is larger: below 4 packets no loss is followed by three duplicate ACKs.
[packets]
"""


@dataclass(frozen=True)
class Derived:
    """A parameter of the model that follows from a scenario, with its value and the setting that
    determines it.
    """

    name: str
    value: Any
    unit: str
    source: str


@dataclass(frozen=True)
class Fluid:
    """Fluid model of a scenario.

    Parameters
    ----------
    case : Case
        Model and parameters; its state variables are per flow.
    queue : str
        Name of the link whose queue is modelled.
    groups : tuple of Group
        Groups of flows by round-trip time.
    packet_bytes : int
        Length of a packet, including headers. [bytes]
    sees_service : bool
        Whether the model's queue includes the packet in service.
    derived : tuple of Derived
        Parameters that follow from the scenario, for reports.
    warnings : tuple of str
        Warnings to consider before the result is trusted.
    """

    case: Case
    queue: str
    groups: tuple[Group, ...]
    packet_bytes: int
    sees_service: bool
    derived: tuple[Derived, ...]
    warnings: tuple[str, ...]

    @property
    def flows(self) -> int:
        """Number of TCP flows."""
        return sum(len(group.flows) for group in self.groups)


def fluid(scenario: Readable) -> Fluid:
    """Return the fluid model of a scenario.

    The scenario must have long-lived flows with equal TCP settings through one full queue. The
    queue must have RED or a PI controller, or a small drop-tail buffer. Loads and settings are
    converted to parameters of the model. These are the capacity per flow, the thresholds on the
    queue of all flows, and the gain of RED's average.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, as a `Scenario` or a mapping.

    Raises
    ------
    ModelError
        If there is no such model, with all reasons.
    """
    with in_words("red", BY_MODEL["red"]):
        return _fluid(read(scenario))


def _fluid(scenario: Scenario) -> Fluid:
    refuse(reasons(scenario))
    first = scenario.tcp_flows[0].tcp
    tcp, udp = paths_of(scenario)
    link = bottleneck(tcp, udp)
    packet = first.packet_bytes
    queue_model = queue_model_of(link, packet, first.ecn)
    marks = queue_model.parameters.get("feedback") == "ecn"
    rule, of_tcp = rule_of(first, marks=marks)
    groups = groups_of(tcp, link.name, not queue_model.sees_service)
    model = model_of(queue_model, groups)
    rate_bps = rate_of(link)
    others_bps = sum(path.flow.udp.rate_bps for path in udp if path.passes(link.name))
    if others_bps >= rate_bps:
        raise ModelError(
            "section II",
            f"UDP offers {others_bps / 1e6:g} Mb/s to link {link.name} of "
            f"{rate_bps / 1e6:g} Mb/s, so that nothing remains for TCP",
        )
    capacity = (rate_bps - others_bps) / (8.0 * packet * len(tcp))
    parameters: dict[str, Any] = {
        "tcp": rule,
        **of_tcp,
        "least_window": 1.0,
        "most_window": float(min(path.flow.tcp.window_packets for path in tcp)),
        "least_rest": MIN_REST[queue_model.model],
        "capacity": capacity,
        "link_capacity": capacity * len(tcp),
        "flows": float(len(tcp)),
        **rtts(groups),
        **queue_model.parameters,
    }
    if queue_model.model != "threshold":
        parameters |= {"queue": "total", "delay": "queueing"}
    case = Case.of(model, parameters)
    if queue_model.model == "threshold" and full_delay(case, len(tcp)) > DELAY_BROKEN:
        raise ModelError(
            "section VI",
            f"{case.values['q_th']:g} packets in front of link {link.name} "
            f"are {full_delay(case, len(tcp)):.3g} round-trip times",
        )
    return Fluid(
        case,
        link.name,
        tuple(groups),
        packet,
        queue_model.sees_service,
        tuple(listed(case, parameters, link.name, len(tcp))),
        tuple(warning_text("red", each) for each in doubts(scenario, tcp, case, others_bps)),
    )


def reasons(scenario: Scenario) -> Iterator[Doubt]:
    """Yield the reasons why the flows of a scenario have no fluid model, each with its assumption.

    The function checks the flows and the links between routers. It skips the links of hosts: there
    may be tens of thousands of host links, and they lose no packets.
    """
    if isinstance(scenario, CellScenario):
        yield "section II", "`cell` is a WLAN"
        return
    tcp = scenario.tcp_flows
    if not tcp:
        yield "section II", "no flow is TCP"
    else:
        try:
            rule_of(tcp[0].tcp, marks=tcp[0].tcp.ecn)
        except ModelError as error:
            yield from error.reasons
    for flow in tcp:
        key = f"`flow.{flow.class_name}`"
        if flow.web is not None:
            yield "remark (i)", f"{key} is web traffic"
        elif flow.is_paced:
            yield "section II", f"{key} is {PACED}"
        elif flow.tcp.segments is not None:
            yield "remark (i)", f"{key} ends after its last segment"
        if flow.stop_s is not None:
            yield "remark (i)", f"{key} stops"
    adaptive = dict.fromkeys(flow.class_name for flow in scenario.udp_flows if flow.adapts)
    for name in adaptive:
        yield "section II", f"`flow.{name}` {ADAPTS}"
    for name, first in (likeness(tcp[0].tcp) if tcp else {}).items():
        others = dict.fromkeys(flow.class_name for flow in tcp if likeness(flow.tcp)[name] != first)
        if others:
            keys = " and ".join(f"`flow.{each}`" for each in list(others)[:MAX_NAMED])
            more = f" and {len(others) - MAX_NAMED} more" * (len(others) > MAX_NAMED)
            yield (
                "eq. 1",
                (f"`{name}` of {keys}{more} differs from `flow.{tcp[0].class_name}`'s"),
            )
    lossy = {link.name: link.loss_every for link in scenario.routers if link.loss > 0.0}
    if not lossy:
        return
    used = {name for flow in (*tcp, *scenario.udp_flows) for name in flow.forward}
    for name in sorted(used & lossy.keys()):
        how = "at random" if lossy[name] is None else "periodically"
        yield "eq. 4", f"link {name} loses packets {how}"


def likeness(tcp: Tcp) -> Mapping[str, object]:
    """Return the TCP settings that must be equal for all flows, by key."""
    return {
        "congestion": tcp.congestion,
        "compound": tcp.compound,
        "ecn": tcp.ecn,
        "abe": tcp.abe,
        "delayed_ack": tcp.delayed_ack,
        "byte_counting": tcp.byte_counting,
        "mss_bytes": tcp.mss_bytes,
        "header_bytes": tcp.header_bytes,
    }


def model_of(queue_model: QueueModel, groups: list[Group]) -> Model[Any]:
    """Return the fluid model of a queue discipline, with one round-trip time per group of flows."""
    if queue_model.model == "threshold":
        if len(groups) > 1:
            raise ModelError(
                "eq. 36",
                f"there are {len(groups)} at a drop-tail queue",
            )
        return MODELS["threshold"]
    if len(groups) > MAX_GROUPS:
        raise ModelError(
            "section II",
            f"there are {len(groups)} round-trip times; the model supports at most {MAX_GROUPS}",
        )
    if queue_model.model == "pi":
        return Pi(groups=len(groups))
    return Red(averaged=queue_model.model == "red", groups=len(groups))


def rate_of(link: Link) -> float:
    """Return the rate of a link, or infinity if the link has no rate. [bit/s]"""
    return inf if link.rate_bps is None else link.rate_bps


def full_delay(case: Case, flows: int) -> float:
    """Return the ratio of the delay of a full drop-tail queue to the round-trip time. [-]"""
    p = case.values
    return float(p["q_th"] / (flows * p["capacity"]) / p["rtt"])


def rtts(groups: list[Group]) -> dict[str, float]:
    """Return the round-trip times of the groups and their shares of flows, by parameter name."""
    if len(groups) == 1:
        return {"rtt": groups[0].rtt_s}
    flows = sum(len(group.flows) for group in groups)
    results = {f"rtt_{k + 1}": group.rtt_s for k, group in enumerate(groups)}
    return results | {
        f"share_{k + 1}": len(group.flows) / flows for k, group in enumerate(groups[:-1])
    }


UNLISTED = ("tcp", "flows", "least_window", "least_rest")
"""Parameters that the loop in `listed` skips: `listed` has already yielded them, or they do not
follow from a scenario.
"""

SOURCES = {
    "tcp": "tcp.congestion, tcp.delayed_ack",
    "alpha": "tcp.compound",
    "k": "tcp.compound",
    "beta": "tcp.compound",
    "capacity": "capacity of the link per flow",
    "link_capacity": "rate of the link minus UDP traffic",
    "most_window": "tcp.window",
    "rtt": "propagation and transmission",
    "share": "fraction of the flows",
    "q_th": "largest number of packets in the queue",
    "target": "pi.target",
    "a": "pi.a",
    "b": "pi.b",
    "update": "pi.update",
    "min_th": "red.min_th",
    "max_th": "red.max_th",
    "max_p": "RED's drop probability at p_b = max_p",
    "drop": "red.gentle",
    "queue": "thresholds count all flows",
    "buffer": "limit of the queue",
    "feedback": "ecn of the queue, tcp.ecn",
    "delay": "rtt and the queueing delay",
    "gamma": "flows * queue_weight",
    "queue_weight": "red.weight",
}
"""Setting of the scenario, in words, that determines each parameter."""


def listed(case: Case, parameters: Mapping[str, Any], queue: str, flows: int) -> Iterator[Derived]:
    """Yield the parameters that a scenario sets, with their sources."""
    yield Derived("model", case.model.name, "-", case.model.title)
    yield Derived("link", queue, "-", "the full link")
    yield Derived("flows", flows, "-", "TCP flows")
    rule = parameters["tcp"].name
    yield Derived("tcp", rule, "-", SOURCES["tcp"] + ", tcp.abe" * rule.endswith(ABE))
    for each in case.model.parameters:
        if each.name not in parameters or each.name in UNLISTED:
            continue
        source = SOURCES.get(each.name.rstrip("_123456789"), each.meaning)
        yield Derived(each.name, case.values[each.name], each.unit, source)
    if "queue_weight" in parameters:
        gain = case.values["flows"] * case.values["queue_weight"]
        yield Derived("gamma", gain, "-", SOURCES["gamma"])


def doubts(
    scenario: Scenario, tcp: Sequence[TcpPath], case: Case, others_bps: float
) -> Iterator[Doubt]:
    """Yield the warnings to consider before the result is trusted."""
    flows = len(tcp)
    if flows < FEW:
        yield "section II", f"a fluid model of only {flows} flows may be inaccurate"
    share_bps = 8.0 * tcp[0].packet_bytes * case.values["capacity"]
    hosts = [link for path in tcp for link in path.forward if link.of_host]
    slow = min(hosts, key=rate_of, default=None)
    if slow is not None and rate_of(slow) < ROOM * share_bps:
        yield (
            "section II",
            f"link {slow.name} is {rate_of(slow) / share_bps:.2g} times as fast as "
            "a flow's share, so that part of a large window waits there",
        )
    if others_bps > 0.0:
        yield (
            "section II",
            "UDP traffic is a constant part of the capacity, whatever the queue does",
        )
    name = tcp[0].flow.tcp.congestion
    if name in ("illinois", "africa"):
        yield "table I", f"TCP {name.capitalize()} is slower once it measures queueing delay"
    if case.model.name == "threshold" and full_delay(case, flows) > DELAY_DOUBTED:
        yield (
            "section VI",
            f"a full queue adds {full_delay(case, flows):.0%} to the round-trip time, "
            "which the model of small buffers leaves out",
        )
    late = max(flow.start_s + flow.start_spread_s for flow in scenario.flows)
    if late > scenario.warmup_s:
        yield "remark (i)", f"some flows begin up to {late:g} s, after the warm-up"
