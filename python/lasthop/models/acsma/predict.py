"""Prediction of the A-CSMA model for a scenario."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lasthop.models.acsma.assumptions import (
    check_optimum,
    check_prices,
    check_scenario,
    csma_scenario,
)
from lasthop.models.acsma.distribution import stationary_airtime
from lasthop.models.acsma.errors import NetworkError, TooLargeError
from lasthop.models.acsma.failing import equal_aggressiveness
from lasthop.models.acsma.graph import from_edges
from lasthop.models.acsma.network import Flow, Network
from lasthop.models.acsma.optimum import RENO, optimum
from lasthop.models.acsma.reno import (
    connections_beside_errors,
    connections_for_rtt,
    connections_for_utility,
)
from lasthop.models.acsma.sampled import queue_modes
from lasthop.models.acsma.sets import Floats
from lasthop.models.acsma.utility import AlphaFair, ByPoints, Utility
from lasthop.models.answer import Quantities, Values, item, prediction
from lasthop.models.errors import ModelError
from lasthop.scenario.csma import Csma, CsmaFlow
from lasthop.scenario.typed import CsmaScenario, Readable, Scenario

NO_LOSS = 1e-9
"""Largest loss probability of a wired link that is treated as 0, since it may be a residual of the
solver. [-]
"""

NO_DUMMIES = 1e-4
"""Largest air time fraction of dummy packets that is treated as 0, since it may be a residual of
the solver. [-]
"""


@dataclass(frozen=True)
class _Answer:
    """Predicted values of links and flows by name, and a description of the solver."""

    links: dict[str, Values]
    flows: dict[str, Values]
    rates_pps: dict[str, float]
    """Rates of the flows, if known. [packets/s]"""
    solver: Quantities


def suits(scenario: Scenario) -> bool:
    """Return whether a scenario is a network of CSMA links."""
    return isinstance(scenario, CsmaScenario)


def predict(scenario: Readable) -> Quantities:
    """Predict the air time of links and the goodput of flows in a CSMA network.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, as a `Scenario` or a mapping.

    Returns
    -------
    dict
        A result of kind ``"prediction"``. Links have ``airtime_fraction`` and the ``connections``
        that pass them, ``aggressiveness`` with adaptive access, and ``dummy_fraction`` if any link
        has dummy packets. Flows have ``goodput_bps`` and ``goodput_share``, and ``rtt_s``,
        ``loss_probability`` and ``connections`` if known. Other values are ``solver`` and its
        ``states``, the ``kkt_residual`` (if the solver computes an optimum) or the
        ``airtime_error`` (for other solvers), and the lists ``assumptions`` and ``warnings``.
        Unknown values are absent.

    Raises
    ------
    ModelError
        If the scenario breaks an assumption of the model, or if its conflict graph is too dense.
    ConvergenceError
        If a solver does not converge.
    """
    scenario = csma_scenario(scenario)
    csma = scenario.csma
    warnings = list(check_scenario(csma))
    try:
        network = network_of(scenario)
        if csma.access == "legacy":
            alike = np.full(len(network.carrying), np.log(csma.intensity))  # legacy CSMA, Eq. (4.1)
            answer = _saturated(csma, network, alike)
        elif csma.saturated:
            own = [csma.links[place].r for place in network.carrying]
            answer = _given(csma, network, np.array(own))
        elif csma.connections == "one":
            answer = _given(csma, network, np.full(len(network.carrying), _one_connection(csma)))
        else:
            answer, more = _optimum(scenario, network)
            warnings += more
    except NetworkError as error:
        raise ModelError("section 3.1", str(error)) from error
    except TooLargeError as error:
        raise ModelError("section 3.2", f"{error}, and the optimum needs it exactly") from error
    lists = {
        "flows": _flows(csma, answer),
        "links": [item(name, **values) for name, values in answer.links.items()],
    }
    return prediction("acsma", scenario, lists, warnings, **answer.solver)


def network_of(scenario: CsmaScenario) -> Network:
    """Return the network of the model for a scenario.

    Wired links without a rate do not limit flows and are left out. A packet on a wired link has the
    size of the largest segment of any flow, including headers.

    Raises
    ------
    NetworkError
        If a flow passes no link that limits it.
    """
    csma = scenario.csma
    names = [link.name for link in csma.links]
    pairs = [(link.name, other) for link in csma.links for other in link.conflicts]
    bits = 8.0 * max(flow.transport.packet_bytes for flow in csma.flows)
    wired = {
        link.name: link.rate_bps / bits
        for link in scenario.links
        if link.name in csma.carrying and link.rate_bps is not None
    }
    flows = tuple(
        Flow(
            flow.name,
            tuple(link for link in flow.route if link in wired or link in names),
            _utility(csma, flow),
        )
        for flow in csma.flows
    )
    return Network(from_edges(names, pairs), flows, csma.service_rate_pps, wired)


def _utility(csma: Csma, flow: CsmaFlow) -> Utility:
    """Return the utility function of a flow. The rule for the flow's number of connections leads to
    the optimum for this utility.
    """
    if flow.marginal_utility is not None:
        return ByPoints(flow.marginal_utility, flow.weight)
    if csma.fairness is not None:
        return AlphaFair(csma.fairness, flow.weight)
    return RENO


def _optimum(scenario: CsmaScenario, network: Network) -> tuple[_Answer, list[str]]:
    """Return the solution of problem MP or EP, and warnings. The number of connections of each flow
    follows from the round-trip time, the marking probability or the utility.
    """
    csma, k = scenario.csma, scenario.csma.k
    check_prices(csma, network)
    result = optimum(network, k, csma.beta)
    rates, incidence = result.rates_pps, network.incidence
    wireless = len(network.graph)
    load = (incidence @ rates)[:wireless]
    queues = result.aggressiveness / csma.r_per_packet
    # Little's law: the waiting time at a link is its queue divided by its load.
    waiting = np.divide(queues, load, out=np.zeros(wireless), where=load > 0.0)
    wired_loss = dict(zip(network.wired_pps, result.wired_loss.tolist(), strict=True))
    rtt = waiting @ incidence[:wireless] + _wires_s(scenario, network, wired_loss)
    loss = np.concatenate([result.aggressiveness, result.wired_loss]) @ incidence
    if csma.connections == "rtt":
        number = connections_for_rtt(k, rtt)
    elif csma.connections == "marks":
        errors = np.array([link.error**csma.attempts for link in csma.links])
        number = connections_beside_errors(k, rtt, loss, errors @ incidence[:wireless])
    else:
        flows = zip(network.flows, rates, strict=True)
        worth = np.array([flow.utility.derivative(rate) for flow, rate in flows])
        number = connections_for_utility(k, worth, rtt, rates)
    through = incidence[:wireless] @ number
    names = [flow.name for flow in network.flows]
    dummy = np.maximum(result.airtime - load / network.service_rate_pps, 0.0)
    has_dummies = bool(dummy.max() > NO_DUMMIES)
    links = {
        name: {
            "airtime_fraction": result.airtime[place],
            **({"dummy_fraction": dummy[place]} if has_dummies else {}),
            "aggressiveness": result.aggressiveness[place],
            "connections": through[place],
        }
        for place, name in enumerate(network.graph.links)
    }
    of_flows = {
        name: {
            "rtt_s": rtt[place],
            "loss_probability": loss[place],
            "connections": number[place],
        }
        for place, name in enumerate(names)
    }
    rates_pps = dict(zip(names, rates, strict=True))
    solver = {
        "solver": result.method,
        "states": result.states,
        "kkt_residual": result.kkt_residual,
    }
    answer = _Answer(links, of_flows, rates_pps, solver)
    losses = dict(zip(names, loss.tolist(), strict=True))
    connections = dict(zip(names, number.tolist(), strict=True))
    dummies = dict(zip(network.graph.links, dummy.tolist(), strict=True))
    modes = queue_modes(network, rates, result.aggressiveness, csma.beta)
    modes_per_s = csma.r_per_packet * network.service_rate_pps * modes
    return answer, list(check_optimum(csma, result, losses, connections, dummies, modes_per_s))


def _wires_s(scenario: CsmaScenario, network: Network, loss: Mapping[str, float]) -> Floats:
    """Return the delay that wired links add to each flow's round-trip time. The delay is the
    propagation delay in both directions plus, at links with losses, the delay of a full queue (Eq.
    5.34). [s]
    """
    added = {}
    for link in scenario.links:
        full = loss.get(link.name, 0.0) > NO_LOSS
        queue_s = link.queue_packets / network.wired_pps[link.name] if full else 0.0
        added[link.name] = 2.0 * link.delay_s + queue_s
    routes = (flow.route for flow in scenario.csma.flows)
    return np.array([sum(added.get(link, 0.0) for link in route) for route in routes])


def _one_connection(csma: Csma) -> float:
    """Return the aggressiveness r of every link if each flow has one connection. Without AQM it is
    the largest r (appendix A), and with AQM the value of Eq. (B.8).
    """
    largest = np.inf if csma.r_max is None else csma.r_max
    return min(equal_aggressiveness(csma.r_per_packet), largest) if csma.aqm else largest


def _given(csma: Csma, network: Network, r: Floats) -> _Answer:
    """Return the prediction for links with given values of the aggressiveness r, by Eq. (3.3)."""
    answer = _saturated(csma, network, csma.beta * r)
    for place, own in zip(network.carrying, r, strict=True):
        answer.links[network.graph.links[place]] |= {"aggressiveness": own}
    return answer


def _saturated(csma: Csma, network: Network, log_fugacity: Floats) -> _Answer:
    """Return the air times of saturated links. The rates of flows are known only if each link
    carries one flow.
    """
    result = stationary_airtime(network.graph.within(network.carrying), log_fugacity)
    airtime = np.zeros(len(network.graph))
    airtime[list(network.carrying)] = result.airtime
    rates: dict[str, float] = {}
    if csma.one_flow_per_link:
        pps = network.service_rate_pps * airtime @ network.incidence[: len(network.graph)]
        rates = {flow.name: rate for flow, rate in zip(network.flows, pps, strict=True)}
    parts = zip(network.graph.links, airtime.tolist(), strict=True)
    links: dict[str, Values] = {name: {"airtime_fraction": part} for name, part in parts}
    solver = {
        "solver": result.method,
        "states": result.states,
        "airtime_error": result.error,
    }
    return _Answer(links, {}, rates, solver)


def _flows(csma: Csma, answer: _Answer) -> list[Quantities]:
    """Return the predictions for the flows in the order of the scenario, with rates converted to
    goodputs.
    """
    goodput = {
        flow.name: answer.rates_pps[flow.name] * 8.0 * flow.transport.payload_bytes
        for flow in csma.flows
        if flow.name in answer.rates_pps
    }
    total = sum(goodput.values())
    return [
        item(
            flow.name,
            **{"class": flow.class_name},
            goodput_bps=goodput.get(flow.name),
            goodput_share=goodput[flow.name] / total if flow.name in goodput else None,
            **answer.flows.get(flow.name, {}),
        )
        for flow in csma.flows
    ]
