"""The objectives ``throughput`` and ``fairness`` of `explain`: more goodput, and equal shares."""

from collections.abc import Sequence
from math import fsum
from statistics import fmean

from lasthop.errors import UserError
from lasthop.explanation.objective import Column, Objective, PrintedQuantity, columns
from lasthop.explanation.traffic import (
    always_demands,
    competes,
    flows_of,
    is_large,
    is_of_one_device,
    is_paced,
)
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import Flow
from lasthop.simulation.result import Result

__all__ = ["fairness", "goodputs", "jain_index", "shares", "throughput"]

EQUAL_SHARES = 0.97
"""Smallest Jain's index at which shares count as equal. [-]"""


def throughput(scenario: Scenario, target: str | None) -> Objective:
    """Return the objective ``throughput``: a high goodput."""
    flows_of(scenario, target)

    def values(result: Result) -> Column:
        value = goodputs(result, flows_of(result.scenario, target))
        return [fsum(row) for row in zip(*value, strict=True)]

    def is_met(result: Result) -> bool:
        return all(is_satisfied(result, flow) for flow in flows_of(result.scenario, target))

    return Objective(
        "throughput",
        target,
        1,
        values,
        (PrintedQuantity("goodput", "Mb/s", 1e-6, values),),
        is_met,
        "each flow is limited by its application, and loses at most 1 %",
        harms=(lambda base, case: False) if target else starves_a_flow,
    )


def goodputs(result: Result, flows: Sequence[Flow]) -> list[Column]:
    """Return the goodput of each flow, or of each class if the result contains no flows. [bit/s]"""
    items = result.sample_tree.get("flows", {})
    names = [flow.name for flow in flows if flow.name in items]
    results = columns(result, names, "goodput_bps", 0.0)
    others = dict.fromkeys(flow.class_name for flow in flows if flow.name not in items)
    for name in others:
        values = result.sampled("classes", name, "goodput_bps") or [0.0] * result.replications
        results.append([value or 0.0 for value in values])
    return results


def starves_a_flow(base: Result, case: Result) -> bool:
    """Return whether any flow loses more than half of its goodput through a change."""
    means = [
        [fmean(column) for column in goodputs(result, flows_of(base.scenario, None))]
        for result in (base, case)
    ]
    return any(theirs < ours / 2.0 for ours, theirs in zip(*means, strict=False))


def is_satisfied(result: Result, flow: Flow) -> bool:
    """Return whether the demand of a flow is met."""
    if is_paced(flow):
        losses = result.sampled("flows", flow.name, "loss_probability") or [None]
        return all(value is not None and value <= 0.01 for value in losses)
    share = result.sampled("flows", flow.name, "app_limited_fraction") or [None]
    return all(value is not None and value > 0.9 for value in share)


def fairness(scenario: Scenario, target: str | None) -> Objective:
    """Return the objective ``fairness``: equal shares.

    Raises
    ------
    UserError
        If fewer than two stations or flows always demand more. Connections of one station count if
        no other station demands more, and all have the same direction.
    """
    flows_of(scenario, target)
    flows = scenario.typed.flows
    demanding = [flow for flow in flows if competes(flow)]
    by_flow = is_of_one_device(flows)
    if len({flow.name if by_flow else flow.station or flow.name for flow in demanding}) < 2:
        raise UserError(
            'objective="fairness": expected at least two stations that always demand more, or two '
            "such flows between wired nodes",
            "to compare connections at one device, give each a station",
        )

    def jain(result: Result) -> Column:
        return [jain_index(row) for row in shares(result)]

    def relative(result: Result) -> Column:
        own = goodputs(result, flows_of(result.scenario, target))
        totals = [fsum(row) for row in zip(*own, strict=True)]
        return [
            total / fmean(row) if any(row) else 0.0
            for total, row in zip(totals, shares(result), strict=True)
        ]

    if target is None:
        printed = PrintedQuantity("Jain's index", "", 1.0, jain)
        return Objective(
            "fairness",
            None,
            1,
            jain,
            (printed,),
            lambda result: min(jain(result)) >= EQUAL_SHARES and nobody_is_poor(result),
            f"in every run, Jain's index is at least {EQUAL_SHARES:g}, and nobody has less than "
            "half of the mean",
            harms=lambda base, case: starves_all(base, case) or starves_the_poorest(base, case),
        )
    printed = PrintedQuantity("part of an equal share", "%", 1e2, relative)
    return Objective(
        "fairness",
        target,
        1,
        relative,
        (printed,),
        lambda result: min(relative(result)) >= 0.9,
        "in every run, the target gets at least 90 % of an equal share",
        harms=starves_all,
    )


def shares(result: Result) -> list[list[float]]:
    """Return the goodputs per replication that the objective ``fairness`` compares. [bit/s]

    In a cell, the goodputs are those of the stations that always demand more. If there is only one,
    and all its demanding flows have the same direction, they are those of its flows. Without a
    cell, the goodputs are those of the flows that always demand more. If a station has both
    directions, each direction counts separately. Datagrams at `MIN_SHARING_BPS` or more count if
    they lose more than 1 %, or get more than the mean.
    """
    flows = result.scenario.typed.flows
    demanding = [flow for flow in flows if always_demands(flow)]
    in_cell = any(flow.station for flow in demanding)
    demanding = [flow for flow in demanding if bool(flow.station) == in_cell]
    large = [flow for flow in flows if is_large(flow) and bool(flow.station) == in_cell]
    pairs = {(flow.station, flow.direction) for flow in demanding}
    by_direction = in_cell and len(pairs) > len({station for station, _ in pairs})
    by_flow = not in_cell or is_of_one_device(flows)

    def by_owner(chosen: Sequence[Flow], quantity: str) -> dict[str, Column]:
        results: dict[str, Column] = {}
        for flow in chosen:
            owner = flow.name if by_flow else flow.station
            name = f"{owner}/{flow.direction}" if by_direction else owner
            [values] = columns(result, [flow.name], quantity, 0.0)
            known = results.get(name, [0.0] * len(values))
            results[name] = [a + b for a, b in zip(known, values, strict=True)]
        return results

    always = by_owner(demanding, "goodput_bps")
    others, losses = by_owner(large, "goodput_bps"), by_owner(large, "loss_probability")
    results = []
    for k in range(result.replications):
        row = [values[k] for values in always.values()]
        mean = fmean(row) if row else 0.0
        for name, values in others.items():
            if name not in always and (losses[name][k] > 0.01 or values[k] > mean):
                row.append(values[k])
        results.append(row)
    return results


def jain_index(values: Sequence[float]) -> float:
    """Return Jain's index of the values; 1 if all values are 0. [-]"""
    squares = fsum(value * value for value in values)
    return fsum(values) ** 2 / (len(values) * squares) if squares > 0.0 else 1.0


def nobody_is_poor(result: Result) -> bool:
    """Return whether each goodput of `shares` is at least half of the mean, in each replication."""
    return all(min(row) >= fmean(row) / 2.0 for row in shares(result) if row)


def starves_the_poorest(base: Result, case: Result) -> bool:
    """Return whether a change reduces the smallest goodput of `shares` by more than a tenth."""
    ours, theirs = (
        fmean(min(row, default=0.0) for row in shares(result)) for result in (base, case)
    )
    return theirs < 0.9 * ours


def starves_all(base: Result, case: Result) -> bool:
    """Return whether a change reduces the goodput of all flows together by more than half."""
    ours, theirs = (
        fsum(fmean(column) for column in goodputs(result, flows_of(base.scenario, None)))
        for result in (base, case)
    )
    return theirs < ours / 2.0
