"""From a scenario to the prediction of the fluid model."""

from collections.abc import Iterator, Sequence

from lasthop.models.answer import Quantities, estimate, prediction
from lasthop.models.errors import Doubt, ModelError
from lasthop.models.red.assumptions import ASSUMPTIONS
from lasthop.models.red.fluid import Fluid, fluid
from lasthop.models.red.timeouts import doubted_loss
from lasthop.scenario.transports import Tcp
from lasthop.scenario.typed import Readable, Scenario, TcpFlow, read
from lasthop.stability import NoEquilibriumError, roots

SLOW = 0.1
"""Least ratio of PI's time step to a round-trip time for a warning. [-]"""


def suits(scenario: Scenario) -> bool:
    """Return whether a scenario is a network of wires."""
    return scenario.is_network


def predict(scenario: Readable) -> Quantities:
    """Predict the equilibrium of flows over a router's queue, and whether it is stable.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, read or to be read.

    Returns
    -------
    dict
        A result of kind ``"prediction"``. Each flow and class at equilibrium has ``goodput_bps``
        [bit/s], ``cwnd_packets`` [packets] and ``loss_probability`` [-]. The full link has
        ``utilisation`` [-], and its queue ``occupancy_packets`` [packets], ``drop_probability`` or
        ``mark_probability`` [-] and ``sojourn_s`` [s]. The table ``stability`` has whether the
        equilibrium is ``stable``, its ``rightmost_root`` [1/s] and ``period_s`` [s], the period of
        the slowest-decaying or the growing oscillation. ``parameters`` has the inputs of the model.

    Raises
    ------
    ModelError
        The scenario has no fluid counterpart, or the fluid no equilibrium.
    ConvergenceError
        The rightmost root is not sure.
    """
    scenario = read(scenario)
    result = fluid(scenario)
    try:
        at_rest = EquilibriumQuantities(result)
    except NoEquilibriumError as error:
        raise ModelError("eq. 10", str(error)) from None
    leading = roots(result.case, 2)
    root = complex(leading.values[0])
    stability: Quantities = {
        "name": result.queue,
        "stable": leading.stable,
        "rightmost_root": {"real": root.real, "imag": abs(root.imag)},
    }
    if leading.period is not None:
        stability["period_s"] = estimate(leading.period)
    warnings: list[Doubt | str] = [
        *result.warnings,
        *doubts_at_rest(scenario.tcp_flows[0].tcp, result),
    ]
    if not leading.stable:
        warnings.append(
            ("eq. 10", "the equilibrium is not stable; predicted values hold there, not on average")
        )
    flows = scenario.tcp_flows
    lists = {
        "flows": at_rest.flows(flows),
        "queues": [at_rest.queue()],
        "links": [{"name": result.queue, "utilisation": estimate(at_rest.utilisation)}],
        "classes": at_rest.classes(flows),
        "stability": [stability],
    }
    return prediction(
        "red",
        scenario,
        lists,
        parameters={each.name: each.value for each in result.derived},
        assumptions=ASSUMPTIONS,
        warnings=warnings,
    )


def doubts_at_rest(tcp: Tcp, result: Fluid) -> Iterator[Doubt | str]:
    """Yield what the equilibrium makes doubtful.

    Parameters
    ----------
    tcp : Tcp
        Common settings of the flows.
    result : Fluid

    Raises
    ------
    NoEquilibriumError
        If there is none.
    """
    yield from doubted_loss(result, tcp)
    update = result.case.values.get("update", 0.0)
    if update > SLOW * min(result.case.delays):
        yield (
            f"PI steps every {update:g} s, {update / min(result.case.delays):.2g} round-trip "
            "times, but continuously in the fluid"
        )
    waiting = float(result.case.equilibrium[1]) if len(result.case.equilibrium) > 1 else 0.0
    if tcp.congestion == "compound" and waiting >= tcp.compound.gamma_packets:
        yield (
            "eq. 2",
            f"Compound would see {waiting:.3g} packets of each flow wait and reduce its delay "
            "window, which the model ignores",
        )


class EquilibriumQuantities:
    """Quantities that follow from a fluid's equilibrium."""

    def __init__(self, result: Fluid) -> None:
        self.found, self.case = result, result.case
        rest = [float(x) for x in self.case.equilibrium]
        self.window = rest[0]
        self.loss = float(self.case.model.loss(self.case.derived, rest)[0])
        self.rtts = dict(zip(result.groups, self.case.delays, strict=True))
        self.marks = self.case.values.get("feedback") == "ecn"
        sent = sum(len(group.flows) * self.window / rtt for group, rtt in self.rtts.items())
        passed = sent * (1.0 if self.marks else 1.0 - self.loss)
        total = self.case.values["capacity"] * result.flows
        self.utilisation = passed / total
        if len(rest) > 1:
            self.occupancy = rest[len(result.groups)] * result.flows + (not result.sees_service)
        else:
            self.occupancy = small_buffer(sent / total, self.case.values["q_th"])
        self.sojourn_s = self.occupancy / passed

    def queue(self) -> Quantities:
        """Return what is predicted of the queue."""
        what = "mark_probability" if self.marks else "drop_probability"
        return {
            "name": self.found.queue,
            "occupancy_packets": estimate(self.occupancy),
            what: estimate(self.loss),
            "sojourn_s": estimate(self.sojourn_s),
        }

    def flows(self, flows: Sequence[TcpFlow]) -> list[Quantities]:
        """Return what is predicted of each TCP flow."""
        of = {name: rtt for group, rtt in self.rtts.items() for name in group.flows}
        remaining = 1.0 if self.marks else 1.0 - self.loss
        items = []
        for flow in flows:
            packets = remaining * self.window / of[flow.name]
            items.append(
                {
                    "name": flow.name,
                    "class": flow.class_name,
                    "goodput_bps": estimate(8.0 * flow.tcp.mss_bytes * packets),
                    "rtt_s": estimate(of[flow.name]),
                    "cwnd_packets": estimate(self.window),
                    "loss_probability": estimate(1.0 - remaining),
                }
            )
        return items

    def classes(self, flows: Sequence[TcpFlow]) -> list[Quantities]:
        """Return what is predicted of each class of TCP flows."""
        items = self.flows(flows)
        sums: dict[str, float] = {}
        for item in items:
            sums[item["class"]] = sums.get(item["class"], 0.0) + item["goodput_bps"]["mean"]
        return [
            {
                "name": name,
                "goodput_bps": estimate(goodput),
                "cwnd_packets": estimate(self.window),
                "loss_probability": items[0]["loss_probability"],
            }
            for name, goodput in sums.items()
        ]


def small_buffer(load: float, most: float) -> float:
    r"""Mean queue under the threshold policy, of the law that the model takes its losses from.

    .. math:: \sum_{n=1}^{q_{th}} \rho^n

    Parameters
    ----------
    load : float
        Arrivals over capacity, :math:`\rho`. [-]
    most : float
        Threshold. [packets]

    Notes
    -----
    (36) drops with the probability :math:`\rho^{q_{th}}` that an M/M/1 queue holds :math:`q_{th}`.
    """
    return load * (1.0 - load**most) / (1.0 - load) if load != 1.0 else most
