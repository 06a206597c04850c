"""Objectives of `explain`: a number per replication to improve, and when the objective is met.

For each objective, the table contains the number and whether less or more is better:

=============  ======================================================================  ======
objective      number per replication                                                  better
=============  ======================================================================  ======
``calls``      number of bad call directions, plus a remainder below 1: the mean over  less
               directions of half of the 99th percentile of the one-way delay in
               seconds, at most 1 s, and of half of ten times the loss, at most 10 %
``delay``      the worst flow's delay in seconds: the 99th percentile of the one-way   less
               delay of datagrams (the 95th of reports over TCP) plus 1 s times their
               loss; without datagrams the 95th percentile of the completion time of
               web pages and flows with an end; without these the 99th percentile of
               the round-trip times of pings, plus 1 s times their loss; without pings
               the 99th percentile of TCP's round-trip time
``throughput`` goodput of all flows, in bit/s                                          more
``fairness``   Jain's index of the goodputs of stations of a cell that always demand   more
               more (each direction, if a station has both), else of such flows, also
               of one station if it is the only one and they have one direction; also
               of datagrams at 500 kb/s or more that lose more than 1 %, or get more
               than the mean of the others
=============  ======================================================================  ======

If a target is given, calls, delay and throughput are those of the target's flows. Fairness is then
the target's goodput divided by the mean goodput of all stations or flows that always demand more.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean
from typing import TypeAlias

from lasthop.answers.calls import DELAY_P99_S, LOSS
from lasthop.answers.calls import is_paced as has_rate
from lasthop.errors import UserError, nearest
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import (
    CsmaScenario,
    Flow,
    PingFlow,
    SensorFlow,
    TcpFlow,
    UdpFlow,
    without_pings,
)
from lasthop.simulation.result import Result

__all__ = ["OBJECTIVES", "Objective", "PrintedQuantity", "default_objective", "objective_for"]

SHORT_DELAY_S = 0.05
"""Largest 99th percentile of the one-way delay that counts as short for datagrams. [s]"""

SHORT_COMPLETION_S = 0.5
"""Largest 95th percentile of the completion time that counts as short for pages and flows. [s]"""

SHORT_RTT_S = 0.05
"""Largest 99th percentile of the round-trip time that counts as short for bulk flows. [s]"""

EQUAL_SHARES = 0.97
"""Smallest Jain's index at which shares count as equal. [-]"""

MIN_SHARING_BPS = 500_000
"""Smallest rate at which datagrams may count in the objective ``fairness``. [bit/s]"""

LOSS_PENALTY_S = 1.0
"""Delay that is added per fraction of lost datagrams in the objective ``delay``. [s]"""

Column: TypeAlias = list[float]
Values: TypeAlias = Callable[[Result], Column]


@dataclass(frozen=True)
class PrintedQuantity:
    """A quantity that is printed together with an objective."""

    title: str
    """Text before the value; it may be empty."""
    unit: str
    """Unit or other text after the value."""
    scale: float
    """Factor from the value to the printed unit. [-]"""
    values: Callable[[Result], Column]
    """Function that returns the values of the quantity, one per replication."""


@dataclass(frozen=True)
class Objective:
    """Objective of `explain`: a number per replication that changes should increase or decrease."""

    name: str
    target: str | None
    direction: int
    """-1 if a smaller number is better, 1 if a larger number is better. [-]"""
    values: Callable[[Result], Column]
    """Function that returns the number of the objective in each replication."""
    quantities: tuple[PrintedQuantity, ...]
    """Printed quantities; the first corresponds to the number of the objective."""
    is_met: Callable[[Result], bool]
    """Function that returns whether a result meets the objective. If the objective is met, changes
    are not compared.
    """
    met: str
    """Description of the condition in `is_met`."""
    harms: Callable[[Result, Result], bool] = lambda base, case: False
    """Function that returns whether a remedy is rejected although it improves the number.

    For ``throughput``, a remedy is rejected if a flow loses more than half of its goodput. For
    ``fairness``, a remedy is rejected if all flows together lose more than half of their goodput,
    or if the smallest share falls by more than a tenth.
    """


def flows_of(scenario: Scenario, target: str | None) -> Sequence[Flow]:
    """Return the flows of the target: a station, a table of stations, a class or a flow. Without a
    target, return all flows. Pings are left out, because they measure the network.

    Raises
    ------
    UserError
        If the scenario has no such station or flow, or no flow other than pings.
    """
    flows = without_pings(scenario.typed.flows)
    if not flows and scenario.typed.flows:
        raise UserError(f"{scenario.source}: no flow other than pings, which only measure")
    if target is None:
        return flows
    results = [flow for flow in flows if is_of_target(flow, target)]
    if not results and pings_of(scenario, target):
        raise UserError(
            f'target="{target}": has only pings, which measure the network; expected a station or '
            "a flow of other traffic",
            "leave out the target: with --for delay, the pings are the objective if there are no "
            "datagrams, pages, chunks or flows with an end",
        )
    if not results:
        known = {name for flow in flows for name in (flow.class_name, flow.station, flow.name)}
        near = ", ".join(nearest(target, sorted(known - {""})))
        raise UserError(f'target="{target}": no station or flow has this name', f"names: {near}")
    return results


def is_of_target(flow: Flow, target: str | None) -> bool:
    """Return whether a flow belongs to a target; True without a target."""
    names = (flow.name, flow.class_name, flow.station)
    return target is None or target in names or flow.name.startswith(f"{target}/")


def pings_of(scenario: Scenario, target: str | None) -> list[str]:
    """Return the names of the flows of pings of the target, or of all without a target."""
    return ping_names([flow for flow in scenario.typed.flows if is_of_target(flow, target)])


def default_objective(scenario: Scenario, target: str | None = None) -> str:
    """Return the objective of a scenario for which the user does not choose an objective.

    The objective is ``calls`` if the scenario has calls. It is ``delay`` with datagrams at a fixed
    rate, sensors, web pages, finite flows, chunks or pings, and ``throughput`` otherwise.
    """
    flows = flows_of(scenario, target)
    if call_directions(flows):
        return "calls"
    is_short = any(map(is_delay_sensitive, flows)) or bool(pings_of(scenario, target))
    return "delay" if is_short else "throughput"


def is_delay_sensitive(flow: Flow) -> bool:
    """Return whether a flow has datagrams at a rate, sensor reports, web pages, a finite size, or
    chunks of an application.
    """
    if isinstance(flow, TcpFlow):
        return bool(flow.web) or bool(flow.tcp.segments) or has_chunks(flow)
    return is_paced(flow)


def has_chunks(flow: TcpFlow) -> bool:
    """Return whether an application writes the data of a connection in chunks."""
    return flow.application is not None and flow.application.every_s is not None


def is_paced(flow: Flow) -> bool:
    """Return whether a flow sends datagrams at a given rate, or sensor reports."""
    return isinstance(flow, SensorFlow) or has_rate(flow)


def always_demands(flow: Flow) -> bool:
    """Return whether a flow always has data to send: bulk TCP or a greedy source."""
    is_limited = isinstance(flow, TcpFlow) and flow.is_paced
    return not (is_limited or isinstance(flow, PingFlow) or is_delay_sensitive(flow))


def call_directions(flows: Sequence[Flow]) -> dict[tuple[str, str], list[str]]:
    """Return the names of the flows of calls. The keys are pairs: the station or host that has the
    call, and the direction (``up`` or ``down``).
    """
    results: dict[tuple[str, str], list[str]] = {}
    for flow in flows:
        owner, _, kind = flow.name.rpartition("/")[0].rpartition("/")
        medium, _, direction = kind.rpartition("-")
        if is_paced(flow) and medium in ("udp", "audio", "video") and direction in ("up", "down"):
            results.setdefault((owner, direction), []).append(flow.name)
    owners = [owner for owner, _ in results]
    return {each: names for each, names in results.items() if owners.count(each[0]) == 2}


def columns(result: Result, names: Sequence[str], quantity: str, missing: float) -> list[Column]:
    """Return the values of a quantity, one column per flow. `missing` replaces a missing value."""
    results = []
    for name in names:
        values = result.sampled("flows", name, quantity) or [None] * result.replications
        results.append([missing if value is None else value for value in values])
    return results


def worst(result: Sequence[Column], count: int) -> Column:
    """Return the largest value per replication; 0 if there are no columns."""
    return [max(row) for row in zip(*result, strict=True)] if result else [0.0] * count


def calls(scenario: Scenario, target: str | None) -> Objective:
    """Return the objective ``calls``: good calls.

    Raises
    ------
    UserError
        If the scenario, or the target, has no call.
    """
    count = len(call_directions(flows_of(scenario, target)))
    if not count:
        raise UserError(
            'objective="calls": there is no call; expected a station or host with datagrams at a '
            "rate in both directions",
            "write `call = 1` in a station's table, or choose another objective",
        )

    def directions(result: Result) -> list[tuple[Column, Column]]:
        flows = flows_of(result.scenario, target)
        results = []
        for names in call_directions(flows).values():
            delay = worst(columns(result, names, "one_way_delay_p99_s", 1.0), result.replications)
            loss = worst(columns(result, names, "loss_probability", 1.0), result.replications)
            results.append((delay, loss))
        return results

    def bad(result: Result) -> Column:
        each = [
            [float(d > DELAY_P99_S or p > LOSS) for d, p in zip(delay, loss, strict=True)]
            for delay, loss in directions(result)
        ]
        return [fsum(row) for row in zip(*each, strict=True)]

    def values(result: Result) -> Column:
        rest = [
            [(min(d, 1.0) + min(10.0 * p, 1.0)) / 2.0 for d, p in zip(delay, loss, strict=True)]
            for delay, loss in directions(result)
        ]
        return [
            number + fmean(row)
            for number, row in zip(bad(result), zip(*rest, strict=True), strict=True)
        ]

    def is_met(result: Result) -> bool:
        return not any(bad(result))

    return Objective(
        "calls",
        target,
        -1,
        values,
        (
            PrintedQuantity(
                "99 % of packets within",
                "ms",
                1e3,
                lambda result: worst([delay for delay, _ in directions(result)], 0),
            ),
            PrintedQuantity(
                "", "% lost", 1e2, lambda result: worst([loss for _, loss in directions(result)], 0)
            ),
            PrintedQuantity("", f"of {count} directions bad", 1.0, bad),
        ),
        is_met,
        "in every run, 99 % of the packets of each call arrive within 150 ms, and at most 1 % are "
        "lost",
    )


def delay(scenario: Scenario, target: str | None) -> Objective:
    """Return the objective ``delay`` for the kind of traffic that is most sensitive to delay."""
    flows = flows_of(scenario, target)
    paced = [flow for flow in flows if is_paced(flow)]
    pings = pings_of(scenario, target)
    if paced:
        what = "95 % of reports" if all(map(is_over_tcp, paced)) else "99 % of packets"
        title, bound, values = f"{what} within", SHORT_DELAY_S, datagram_delay
    elif any(map(is_delay_sensitive, flows)):
        title, bound, values = "95 % of transfers within", SHORT_COMPLETION_S, completion
    elif pings:
        title, bound, values = "99 % of pings within", SHORT_RTT_S, datagram_delay
    else:
        title, bound, values = "99 % of TCP's round trips within", SHORT_RTT_S, round_trip

    def chosen(result: Result) -> Sequence[Flow]:
        if paced or values is not datagram_delay:
            return flows_of(result.scenario, target)
        return [flow for flow in result.scenario.typed.flows if flow.name in pings]

    def measured(result: Result) -> Column:
        return values(result, chosen(result))

    quantities = [PrintedQuantity(title, "ms", 1e3, measured)]
    if values is datagram_delay:

        def worst_of(columns_of: Callable[[Result, Sequence[Flow]], list[Column]]) -> Values:
            return lambda result: worst(columns_of(result, chosen(result)), result.replications)

        quantities = [
            PrintedQuantity(title, "ms", 1e3, worst_of(paced_delays)),
            PrintedQuantity("", "% lost", 1e2, worst_of(paced_losses)),
        ]
    met = f"in every run, the worst flow has at most {1e3 * bound:g} ms ({title})"
    return Objective(
        "delay",
        target,
        -1,
        measured,
        tuple(quantities),
        lambda result: max(measured(result)) <= bound,
        f"{met}, with 10 ms for each percent lost" if values is datagram_delay else met,
    )


def is_over_tcp(flow: Flow) -> bool:
    """Return whether a flow carries sensor reports over TCP."""
    return isinstance(flow, SensorFlow) and flow.sensor.tcp is not None


def datagram_delay(result: Result, flows: Sequence[Flow]) -> Column:
    """Return the longest delay of a flow of datagrams or pings in each replication, plus the
    penalty for losses. [s]
    """
    each = [
        [d + LOSS_PENALTY_S * p for d, p in zip(delay, loss, strict=True)]
        for delay, loss in zip(
            paced_delays(result, flows), paced_losses(result, flows), strict=True
        )
    ]
    return worst(each, result.replications)


def paced_delays(result: Result, flows: Sequence[Flow]) -> list[Column]:
    """Return the delay of each flow: 99th percentile for datagrams, 95th for reports over TCP, 99th
    of the round-trip time for pings. [s]
    """
    most = result.scenario.typed.duration_s
    names, reports = paced_names(flows)
    delays = columns(result, names, "one_way_delay_p99_s", most)
    delays += columns(result, reports, "report_delay_p95_s", most)
    return delays + columns(result, ping_names(flows), "rtt_p99_s", most)


def paced_losses(result: Result, flows: Sequence[Flow]) -> list[Column]:
    """Return the fraction of lost datagrams or pings, or of undelivered reports over TCP, of each
    flow. [-]
    """
    names, reports = paced_names(flows)
    losses = columns(result, [*names, *ping_names(flows)], "loss_probability", 1.0)
    delivered = columns(result, reports, "report_delivery", 0.0)
    return losses + [[1.0 - value for value in column] for column in delivered]


def paced_names(flows: Sequence[Flow]) -> tuple[list[str], list[str]]:
    """Return the names of the flows with datagrams, and of the flows with reports over TCP."""
    paced = [flow for flow in flows if is_paced(flow)]
    return (
        [flow.name for flow in paced if not is_over_tcp(flow)],
        [flow.name for flow in paced if is_over_tcp(flow)],
    )


def ping_names(flows: Sequence[Flow]) -> list[str]:
    """Return the names of the flows of pings."""
    return [flow.name for flow in flows if isinstance(flow, PingFlow)]


def completion(result: Result, flows: Sequence[Flow]) -> Column:
    """Return the longest completion time of web pages, chunks and finite flows in each replication.
    [s]
    """
    most = result.scenario.typed.duration_s
    short = [flow for flow in flows if is_delay_sensitive(flow)]
    chunks = [flow.name for flow in short if isinstance(flow, TcpFlow) and has_chunks(flow)]
    short = [flow for flow in short if flow.name not in chunks]
    results = []
    for name in dict.fromkeys(flow.class_name for flow in short):
        values = result.sampled("classes", name, "completion_p95_s") or result.sampled(
            "classes", name, "completion_s"
        )
        if values is not None:
            results.append([most if value is None else value for value in values])
    if not results:
        results = columns(result, [flow.name for flow in short], "completion_s", most)
    results += columns(result, chunks, "chunk_completion_p95_s", most)
    return worst(results, result.replications)


def round_trip(result: Result, flows: Sequence[Flow]) -> Column:
    """Return the longest round-trip time of the bulk flows in each replication. [s]"""
    most = result.scenario.typed.duration_s
    names = [flow.name for flow in flows if isinstance(flow, TcpFlow)]
    return worst(columns(result, names, "rtt_p99_s", most), result.replications)


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


def starves_a_flow(base: Result, case: Result) -> bool:
    """Return whether any flow loses more than half of its goodput through a change."""
    means = [
        [fmean(column) for column in goodputs(result, flows_of(base.scenario, None))]
        for result in (base, case)
    ]
    return any(theirs < ours / 2.0 for ours, theirs in zip(*means, strict=False))


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


def is_satisfied(result: Result, flow: Flow) -> bool:
    """Return whether the demand of a flow is met."""
    if is_paced(flow):
        losses = result.sampled("flows", flow.name, "loss_probability") or [None]
        return all(value is not None and value <= 0.01 for value in losses)
    share = result.sampled("flows", flow.name, "app_limited_fraction") or [None]
    return all(value is not None and value > 0.9 for value in share)


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


def is_of_one_device(flows: Sequence[Flow]) -> bool:
    """Return whether all flows that may compete are those of one station in one direction."""
    ends = {(flow.station, flow.direction) for flow in flows if competes(flow)}
    return len(ends) == 1 and bool(next(iter(ends))[0])


def competes(flow: Flow) -> bool:
    """Return whether a flow may count in the objective ``fairness``."""
    return always_demands(flow) or is_large(flow)


def is_large(flow: Flow) -> bool:
    """Return whether a flow sends datagrams at `MIN_SHARING_BPS` or more."""
    return isinstance(flow, UdpFlow) and flow.udp.rate_bps >= MIN_SHARING_BPS


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


def jain_index(values: Sequence[float]) -> float:
    """Return Jain's index of the values; 1 if all values are 0. [-]"""
    squares = fsum(value * value for value in values)
    return fsum(values) ** 2 / (len(values) * squares) if squares > 0.0 else 1.0


OBJECTIVES: Mapping[str, Callable[[Scenario, str | None], Objective]] = {
    "calls": calls,
    "delay": delay,
    "throughput": throughput,
    "fairness": fairness,
}
"""Functions that create the objectives, by name."""


def objective_for(
    scenario: Scenario, name: str | None = None, target: str | None = None
) -> Objective:
    """Return an objective of a scenario; the default is that of `default_objective`.

    Raises
    ------
    UserError
        If the objective or target does not exist, or does not apply to the scenario.
    """
    if isinstance(scenario.typed, CsmaScenario):
        raise UserError(
            f"{scenario.source}: [csma]: users of a conflict graph cannot be explained; expected a "
            "scenario of cells or links",
            "run `lasthop compare FILE`, which compares users with the optimum",
        )
    if name is None:
        name = default_objective(scenario, target)
    if name not in OBJECTIVES:
        known = ", ".join(OBJECTIVES)
        raise UserError(f'objective="{name}": expected one of {known}')
    return OBJECTIVES[name](scenario, target)
