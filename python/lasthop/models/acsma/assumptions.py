"""Assumptions of the A-CSMA model, and violations by a scenario."""

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
"""Loss of a flow from which on losses are not rare: the sum along a route is 5 % off. [-]"""

MOST_LISTED = 4
"""Links that a warning names, or one more."""

IDLE = 0.01
"""Air time of a link's dummy packets that is worth a word. [-]"""

SWING = 0.4
"""Least modulus of a mode's factor between two looks at the queues for a visible oscillation, if
its real part is negative; docs/papers/acsma.md, "How often r is set". [-]"""

LEAST_QUEUE = 1e-9
"""Queue of the flow with the longest one, below which prices are none. [packets]"""

FEWEST_CONNECTIONS = 1.0
"""A flow cannot have fewer connections."""


def csma_scenario(scenario: Readable) -> CsmaScenario:
    """Return a scenario by a conflict graph, after checks.

    Raises
    ------
    ModelError
        It is none.
    """
    result = read(scenario)
    if isinstance(result, CsmaScenario):
        return result
    raise ModelError(
        "section 3.1",
        "there is no `csma`",
    )


def check_scenario(csma: Csma) -> Iterator[str]:
    """Yield warnings on what the scenario asks for, before it is solved.

    Yields
    ------
    str
        A near miss, ending with the section.

    Raises
    ------
    ModelError
        The scenario breaks an assumption.
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
    """Return the place of an assumption in the paper."""
    return f"(section {section} of the paper of model acsma)"


def check_channel(csma: Csma) -> Iterator[str]:
    """Yield warnings on what the channel does beyond the conflict graph."""
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
    """Return the first few names in words."""
    if len(names) > MOST_LISTED + 1:
        return listed(names, MOST_LISTED)
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def check_prices(csma: Csma, network: Network) -> None:
    """Refuse utilities that ask for prices that are no probabilities, or for none to speak of.

    A flow's price is :math:`k^2 U'(x)`, with AQM the fraction of its packets that is lost, and
    falls with its rate: at all that its links carry it is the least that it can be.

    Raises
    ------
    ModelError
        A flow's least price is 1 or more, or no flow has a price at a quarter of its share.
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
    if queue < LEAST_QUEUE:
        raise ModelError(
            "section 5.1",
            f"at usual rates the utilities are worth queues of {queue:.2g} packets at most, which "
            "are no useful signal; a flatter utility, a larger `csma.k` or weight is worth more",
        )


def _worth(utility: Utility, rate: float) -> float:
    """Return the marginal utility of a rate; infinite where it has too many digits."""
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
    """Yield warnings on what was found.

    Parameters
    ----------
    csma : Csma
        The network of the scenario.
    optimum : Optimum
        Its solution.
    losses, connections : mapping of str to float
        Loss probability and number of connections of each flow. [-]
    dummies : mapping of str to float
        Air time of each link's dummy packets. [-]
    modes_per_s : ndarray
        Eigenvalues of the queues' motion. [1/s]

    Yields
    ------
    str
        A near miss, ending with the section.

    Raises
    ------
    ModelError
        A flow would lose more packets than it sends.
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
    """Yield a warning if r is set so seldom that the queues of a route overshoot in turn.

    Without two links in conflict on one route, the senders' round trips follow the queues, and
    these factors change round-trip times by some per cent.
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
