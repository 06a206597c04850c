"""Assumptions of the A-CSMA model, and checks of a scenario for violations."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from lasthop.errors import listed
from lasthop.models.acsma.network import Network
from lasthop.models.acsma.optimum import Optimum
from lasthop.models.acsma.sets import Floats
from lasthop.models.acsma.utility import Utility
from lasthop.models.errors import ModelError
from lasthop.scenario.csma import Csma
from lasthop.scenario.typed import CsmaScenario, Readable, read

LARGE_LOSS = 0.1
"""Loss probability of a flow above which a warning is issued. At this loss probability, the sum of
the loss probabilities along a route has an error of 5 %. [-]
"""

MAX_LISTED = 4
"""Largest number of links that a warning lists by name. If one link would be omitted, the warning
lists all links.
"""

IDLE = 0.01
"""Air time fraction of a link's dummy packets above which a warning is issued. [-]"""

SWING = 0.4
"""Limit for a warning about oscillating queues. The aggressiveness is set from queue lengths that
are read at fixed intervals. From one reading to the next, each mode of the queue dynamics is
multiplied by a factor. The warning is issued if the real part of such a factor is negative and its
modulus exceeds this limit. See docs/papers/acsma.md, "How often r is set". [-]
"""

MIN_QUEUE = 1e-9
"""Queue length below which a queue is considered empty. `check_prices` raises an error if all
queues would be shorter than this value. [packets]
"""

FEWEST_CONNECTIONS = 1.0
"""Warnings are issued for flows with fewer TCP connections than this number."""


def csma_scenario(scenario: Readable) -> CsmaScenario:
    """Return a scenario with a conflict graph, after checks.

    Raises
    ------
    ModelError
        If the scenario has no conflict graph.
    """
    result = read(scenario)
    if isinstance(result, CsmaScenario):
        return result
    raise ModelError(
        "section 3.1",
        "there is no `csma`",
    )


def check_scenario(csma: Csma) -> Iterator[str]:
    """Yield warnings about the scenario, before it is solved.

    Yields
    ------
    str
        Message about a nearly broken assumption, followed by the section of the paper.

    Raises
    ------
    ModelError
        If the scenario breaks an assumption.
    """
    if csma.access == "dcf":
        raise ModelError(
            "section 4.1",
            "`csma.access` = dcf, which can only be simulated; the model supports legacy",
        )
    yield from check_channel(csma)
    adaptive = csma.access == "adaptive" and not csma.saturated
    given = [link.name for link in csma.links if link.r is not None]
    if adaptive and given:
        raise ModelError(
            "section 5.1", f"`csma.link.{given[0]}.r` is given, but r is not given for every link"
        )
    for flow in csma.flows:
        if flow.udp is not None and (adaptive or flow.udp.arrivals != "greedy"):
            raise ModelError(
                "section 3.4",
                f"`flow.{flow.class_name}.udp`; the model also supports greedy sources over links "
                "whose r is given",
            )
        if adaptive and flow.tcp is not None and flow.tcp.congestion in ("bbr", "bbr3"):
            raise ModelError(
                "section 3.4",
                f"`flow.{flow.class_name}` runs {flow.tcp.congestion}, whose rate follows its "
                "measured delivery rate, and not the losses that signal the price of a link; "
                "expected another congestion control",
            )
    if adaptive and csma.connections == "one":
        if not csma.one_flow_per_link:
            raise ModelError(
                "appendices A and B",
                "`csma.connections` = one, and flows share links or pass several",
            )
    elif adaptive and not csma.aqm:
        raise ModelError(
            "section 5.2", "`csma.aqm` = false: connections receive no signal of a link's price"
        )
    if not adaptive and not csma.one_flow_per_link:
        yield (
            "legacy access is solved for saturated links; the goodput of flows that cross several "
            f"links, or share a link, is unknown {of('4.1')}"
        )
    sizes = {flow.transport.payload_bytes for flow in csma.flows}
    if len(sizes) > 1:
        listed = ", ".join(map(str, sorted(sizes)))
        yield f"segments of {listed} bytes; a link serves equally many of each {of('5.3.3')}"


def of(section: str) -> str:
    """Return a reference to the section of the paper that states an assumption."""
    return f"(section {section} of the paper of model acsma)"


def check_channel(csma: Csma) -> Iterator[str]:
    """Yield warnings about properties of the channel that the conflict graph does not describe."""
    lossy = [link.name for link in csma.links if link.error > 0.0]
    hidden = [
        f"link {link.name} destroys frames of {some(link.disturbs)}"
        for link in csma.links
        if link.disturbs
    ]
    if lossy:
        yield (
            f"frames of {some(lossy)} are lost on the channel; the model ignores this and "
            f"overestimates goodput {of('3.1')}"
        )
    if hidden:
        yield (
            f"hidden nodes: {some(hidden)}, whose transmitters do not hear it and so do not wait; "
            f"the model ignores this and overestimates the goodput of those links {of('3.1')}"
        )
    if csma.pace is not None and (csma.pace.slot_s is not None or csma.pace.eifs_s > 0.0):
        yield (
            "backoffs are in slots or after silences; the model's time is continuous, without "
            f"collisions {of('3.1')}"
        )
    if csma.acks == "contend":
        yield (
            "ACKs contend for the channel; the model ignores their time and overestimates goodput "
            f"{of('4.2.1')}"
        )


def some(names: Sequence[str]) -> str:
    """Return the first `MAX_LISTED` names as text, with a remark if there are more names."""
    if len(names) > MAX_LISTED + 1:
        return listed(names, MAX_LISTED)
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def check_prices(csma: Csma, network: Network) -> None:
    """Raise an error if the prices that follow from the utilities are not probabilities, or are
    negligible.

    The price of a flow with rate x and utility U is :math:`k^2 U'(x)`. With AQM the price is the
    fraction of the flow's packets that are lost. The price decreases with the rate. The least price
    is therefore that at the largest rate that the links of the flow can carry.

    Raises
    ------
    ModelError
        If the least price of a flow is 1 or more. The error is also raised if every flow has a
        negligible price at a quarter of its share of the links.
    """
    supply = np.full(len(network.links), network.service_rate_pps)
    supply[len(network.graph) :] = list(network.wired_pps.values())
    share = supply / np.maximum(network.incidence.sum(axis=1), 1.0) / 4.0
    usual = []
    for number, flow in enumerate(network.flows):
        route = np.flatnonzero(network.incidence[:, number])
        most = float(supply[route].min())
        least_price = csma.k**2 * _worth(flow.utility, most)
        if least_price >= 1.0:
            raise ModelError(
                "section 5.2",
                f"even at {most:.4g} packets/s, all that its links carry, flow {flow.name} would "
                f"have to lose {100.0 * least_price:.3g} % of its packets; a smaller `csma.k` or "
                "weight loses less",
            )
        usual.append(csma.k**2 * _worth(flow.utility, float(share[route].min())))
    queue = max(usual) / csma.r_per_packet
    if queue < MIN_QUEUE:
        raise ModelError(
            "section 5.1",
            f"at usual rates the utilities are worth queues of {queue:.2g} packets at most, which "
            "are no useful signal; a flatter utility, a larger `csma.k` or weight is worth more",
        )


def _worth(utility: Utility, rate: float) -> float:
    """Return the marginal utility at a rate, or infinity if the result overflows."""
    try:
        return utility.derivative(rate)
    except OverflowError:
        return np.inf


def check_optimum(
    csma: Csma,
    optimum: Optimum,
    losses: Mapping[str, float],
    connections: Mapping[str, float],
    dummies: Mapping[str, float],
    modes_per_s: Floats,
) -> Iterator[str]:
    """Yield warnings about the solution.

    Parameters
    ----------
    csma : Csma
        The network of the scenario.
    optimum : Optimum
        Optimum of the network.
    losses, connections : mapping of str to float
        Loss probability and number of connections of each flow. [-]
    dummies : mapping of str to float
        Air time fraction of each link's dummy packets. [-]
    modes_per_s : ndarray
        Eigenvalues of the linearised queue dynamics. [1/s]

    Yields
    ------
    str
        Message about a nearly broken assumption, followed by the section of the paper.

    Raises
    ------
    ModelError
        If a flow would lose more packets than it sends.
    """
    largest = csma.r_max
    if largest is not None and optimum.aggressiveness.max() > largest:
        yield (
            f"r = {optimum.aggressiveness.max():.3g} is above `csma.r_max` = {largest:g}; the "
            f"optimum is not reached {of('4.2.1')}"
        )
    if max(losses.values()) >= 1.0:
        worst = max(losses, key=losses.__getitem__)
        raise ModelError(
            "section 5.2",
            f"flow {worst} would have to lose {100.0 * losses[worst]:.3g} % of its packets; a "
            "smaller `csma.k` or weight loses less",
        )
    if rare := {name: loss for name, loss in losses.items() if loss > LARGE_LOSS}:
        worst = max(rare, key=rare.__getitem__)
        yield (
            f"flow {worst} loses {rare[worst]:.0%} of its packets, {len(rare)} flow(s) more than "
            f"{LARGE_LOSS:.0%}; a smaller k loses less {of('5.2')}"
        )
    if idle := {name: part for name, part in dummies.items() if part > IDLE}:
        worst = max(idle, key=idle.__getitem__)
        simulated = "" if csma.dummy else ", which are simulated only with `csma.dummy` = true"
        yield (
            f"the predicted air time of link {some(list(idle))} has dummy packets in it, of link "
            f"{worst} {100.0 * idle[worst]:.3g} %: a link whose queue is empty sends those"
            f"{simulated} {of('3.3')}"
        )
    yield from check_interval(csma, modes_per_s)
    if few := {name: n for name, n in connections.items() if n < FEWEST_CONNECTIONS}:
        least = min(few, key=few.__getitem__)
        yield (
            f"flow {least} would have {few[least]:.2g} connections, {len(few)} flow(s) fewer than "
            f"one; a larger k is finer {of('6.1.4')}"
        )


def check_interval(csma: Csma, modes_per_s: Floats) -> Iterator[str]:
    """Yield a warning if the aggressiveness r is set so rarely that the queues of a route
    oscillate.

    The warning requires a route with two conflicting links. On other routes the oscillation changes
    round-trip times only by a few per cent.
    """
    pairs = (pair for flow in csma.flows for pair in combinations(flow.route, 2))
    conflicts = csma.conflicts
    pair = next(((link, other) for link, other in pairs if other in conflicts.get(link, ())), None)
    factors = 1.0 + csma.r_interval_s * modes_per_s
    if pair is None or not ((factors.real < 0.0) & (np.abs(factors) >= SWING)).any():
        return
    enough_s = 0.5 / float(np.abs(modes_per_s).max())
    yield (
        f"r is set so seldom (`csma.r_interval` = {csma.r_interval_s:g} s) that the queues of "
        f"links in conflict on one route, such as {' and '.join(pair)}, oscillate: simulated "
        "round-trip times and connections can be twice what is predicted; "
        f"{enough_s:.1g} s is short enough {of('5.1')}"
    )
