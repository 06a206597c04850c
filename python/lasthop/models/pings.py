"""Pings of a scenario, which the models leave out.

A ping measures the network and is a negligible load: 200 ms between two pings of 84 B are 7 kb/s.
"""

from dataclasses import fields

from lasthop.models.errors import ModelError
from lasthop.scenario.typed import CellScenario, PingFlow, Scenario, VbsClass, without_pings


def left_out(scenario: Scenario) -> tuple[Scenario, list[str]]:
    """Return a scenario without its pings, and warnings: one if the scenario has pings.

    Raises
    ------
    ModelError
        If the scenario has no flow other than pings.
    """
    pings = [flow for flow in scenario.flows if isinstance(flow, PingFlow)]
    if not pings:
        return scenario, []
    if len(pings) == len(scenario.flows):
        raise ModelError("pings", "the scenario has only pings, which no model predicts")
    rate = sum(1.0 / flow.ping.every_s for flow in pings)
    warning = f"{rate:.3g} pings per second are left out: no model predicts their RTT"
    return _without(scenario), [warning]


def _without(scenario: Scenario) -> Scenario:
    values = {each.name: getattr(scenario, each.name) for each in fields(scenario)}
    values["flows"] = without_pings(scenario.flows)
    if isinstance(scenario, CellScenario) and scenario.cell.vbs_classes:
        kept = {flow.name for flow in values["flows"]}
        cell = {each.name: getattr(scenario.cell, each.name) for each in fields(scenario.cell)}
        cell["vbs_classes"] = tuple(
            VbsClass(
                name=each.name,
                share=each.share,
                target_share=each.target_share,
                flows=tuple(name for name in each.flows if name in kept),
            )
            for each in scenario.cell.vbs_classes
        )
        values["cell"] = type(scenario.cell)(**cell)
    return type(scenario)(**values)
