"""Prediction of the fluid model for a scenario."""

from collections.abc import Iterator, Sequence

from lasthop.models.answer import Quantities, estimate, item, prediction
from lasthop.models.errors import Doubt, ModelError
from lasthop.models.red.fluid import Fluid, fluid
from lasthop.models.red.timeouts import doubted_loss
from lasthop.scenario.transports import Tcp
from lasthop.scenario.typed import Readable, Scenario, TcpFlow, read
from lasthop.stability import NoEquilibriumError, roots

SLOW = 0.1
"""Least ratio of the update interval of the PI queue to a round-trip time at which a warning is
issued. [-]
"""


def suits(scenario: Scenario) -> bool:
    """Return whether a scenario is a wired network."""
    return scenario.is_network


def predict(scenario: Readable) -> Quantities:
    """Predict the equilibrium of flows through a router's queue, and whether it is stable.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, as a `Scenario` or a mapping.

    Returns
    -------
    dict
        A result of kind ``"prediction"``. Each flow and class at equilibrium has ``goodput_bps``
        [bit/s], ``cwnd_packets`` [packets] and ``loss_probability`` [-]. The full link has
        ``utilisation`` [-], and its queue ``occupancy_packets`` [packets], ``drop_probability`` or
        ``mark_probability`` [-] and ``sojourn_s`` [s]. The table ``stability`` states whether the
        equilibrium is ``stable``. It also has the ``rightmost_root`` [1/s], and ``period_s`` [s],
        the period of the slowest-decaying or the growing oscillation. ``parameters`` has the inputs
        of the model.

    Raises
    ------
    ModelError
        If the scenario has no fluid model, or if the fluid has no equilibrium.
    ConvergenceError
        If the rightmost root is uncertain.
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
        stability |= {"period_s": estimate(leading.period)}
    flows = scenario.tcp_flows
    warnings: list[Doubt | str] = [*result.warnings, *doubts_at_equilibrium(flows[0].tcp, result)]
    if not leading.stable:
        warnings.append(
            ("eq. 10", "the equilibrium is not stable; predicted values hold there, not on average")
        )
    lists = {
        "flows": at_rest.flows(flows),
        "queues": [at_rest.queue()],
        "links": [item(result.queue, utilisation=at_rest.utilisation)],
        "classes": at_rest.classes(flows),
        "stability": [stability],
    }
    parameters = {each.name: each.value for each in result.derived}
    return prediction("red", scenario, lists, warnings, parameters=parameters)


def doubts_at_equilibrium(tcp: Tcp, result: Fluid) -> Iterator[Doubt | str]:
    """Yield warnings about the equilibrium.

    Parameters
    ----------
    tcp : Tcp
        Common settings of the flows.
    result : Fluid

    Raises
    ------
    NoEquilibriumError
        If there is no equilibrium.
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
    """Predicted quantities, computed from the equilibrium of a fluid model."""

    def __init__(self, result: Fluid) -> None:
        self.fluid, self.case = result, result.case
        rest = [float(x) for x in self.case.equilibrium]
        self.window = rest[0]
        self.loss = float(self.case.model.loss(self.case.derived, rest)[0])
        rtts = dict(zip(result.groups, self.case.delays, strict=True))
        self.rtts = {name: rtt for group, rtt in rtts.items() for name in group.flows}
        self.marks = self.case.values.get("feedback") == "ecn"
        sent = sum(len(group.flows) * self.window / rtt for group, rtt in rtts.items())
        self.passed = 1.0 if self.marks else 1.0 - self.loss
        total = self.case.values["capacity"] * result.flows
        self.utilisation = sent * self.passed / total
        if len(rest) > 1:
            self.occupancy = rest[len(result.groups)] * result.flows + (not result.sees_service)
        else:
            self.occupancy = small_buffer(sent / total, self.case.values["q_th"])
        self.sojourn_s = self.occupancy / (sent * self.passed)

    def queue(self) -> Quantities:
        """Return the predictions for the queue."""
        return item(
            self.fluid.queue,
            occupancy_packets=self.occupancy,
            mark_probability=self.loss if self.marks else None,
            drop_probability=None if self.marks else self.loss,
            sojourn_s=self.sojourn_s,
        )

    def goodput_bps(self, flow: TcpFlow) -> float:
        """Return the goodput of a flow. [bit/s]"""
        packets = self.passed * self.window / self.rtts[flow.name]
        return 8.0 * flow.tcp.mss_bytes * packets

    def flows(self, flows: Sequence[TcpFlow]) -> list[Quantities]:
        """Return the predictions for each TCP flow."""
        return [
            item(
                flow.name,
                **{"class": flow.class_name},
                goodput_bps=self.goodput_bps(flow),
                rtt_s=self.rtts[flow.name],
                cwnd_packets=self.window,
                loss_probability=1.0 - self.passed,
            )
            for flow in flows
        ]

    def classes(self, flows: Sequence[TcpFlow]) -> list[Quantities]:
        """Return the predictions for each class of TCP flows."""
        sums_bps: dict[str, float] = {}
        for flow in flows:
            sums_bps[flow.class_name] = sums_bps.get(flow.class_name, 0.0) + self.goodput_bps(flow)
        return [
            item(
                name,
                goodput_bps=goodput_bps,
                cwnd_packets=self.window,
                loss_probability=1.0 - self.passed,
            )
            for name, goodput_bps in sums_bps.items()
        ]


def small_buffer(load: float, most: float) -> float:
    r"""Return the mean queue length under the threshold policy. The queue is the M/M/1 queue from
    which the model also computes losses. [packets]

    .. math:: \sum_{n=1}^{q_{th}} \rho^n

    Parameters
    ----------
    load : float
        Ratio of arrivals to capacity, :math:`\rho`. [-]
    most : float
        Threshold. [packets]

    Notes
    -----
    In paper 004, Eq. (36), the drop probability is :math:`\rho^{q_{th}}`: the probability that an
    M/M/1 queue has :math:`q_{th}` packets or more.
    """
    return load * (1.0 - load**most) / (1.0 - load) if load != 1.0 else most
