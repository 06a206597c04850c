"""The objectives ``calls`` and ``delay`` of `explain`: good calls, and a short delay."""

from collections.abc import Callable, Sequence
from math import fsum
from statistics import fmean

from lasthop.answers.calls import DELAY_P99_S, LOSS
from lasthop.errors import UserError
from lasthop.explanation.objective import (
    Column,
    Objective,
    PrintedQuantity,
    Values,
    columns,
    worst,
)
from lasthop.explanation.traffic import (
    call_directions,
    flows_of,
    has_chunks,
    is_delay_sensitive,
    is_over_tcp,
    is_paced,
    is_video,
    other_than_pings,
    paced_names,
    ping_names,
    pings_of,
)
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import Flow, TcpFlow
from lasthop.simulation.result import Result

__all__ = ["calls", "completion", "delay"]

SHORT_DELAY_S = 0.05
"""Largest 99th percentile of the one-way delay that counts as short for datagrams. [s]"""

SHORT_COMPLETION_S = 0.5
"""Largest 95th percentile of the completion time that counts as short for pages and flows. [s]"""

SHORT_RTT_S = 0.05
"""Largest 99th percentile of the round-trip time that counts as short for bulk flows. [s]"""

LOSS_PENALTY_S = 1.0
"""Delay that is added per fraction of lost datagrams in the objective ``delay``. [s]"""


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
                is_noticed=True,
            ),
            PrintedQuantity(
                "",
                "% lost",
                1e2,
                lambda result: worst([loss for _, loss in directions(result)], 0),
                is_noticed=True,
            ),
            PrintedQuantity("", f"of {count} directions bad", 1.0, bad, is_noticed=True),
        ),
        is_met,
        "in every run, 99 % of the packets of each call arrive within 150 ms, and at most 1 % are "
        "lost",
    )


def delay(scenario: Scenario, target: str | None) -> Objective:
    """Return the objective ``delay`` for the kind of traffic that is most sensitive to delay."""
    flows = other_than_pings(scenario, target)
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
            return other_than_pings(result.scenario, target)
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


def completion(result: Result, flows: Sequence[Flow]) -> Column:
    """Return the longest completion time of web pages, chunks and finite flows in each replication.
    The chunks of adaptive video count only if there is no other such traffic: viewers notice
    stalls and the bitrate, which are the objective ``video``. [s]
    """
    most = result.scenario.typed.duration_s
    short = [flow for flow in flows if is_delay_sensitive(flow)]
    short = [flow for flow in short if not is_video(flow)] or short
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
        pages = [flow.name for flow in short if isinstance(flow, TcpFlow) and flow.web]
        others = [flow.name for flow in short if flow.name not in pages]
        results = columns(result, others, "completion_s", most)
        results += columns(result, pages, "completion_p95_s", most)
    results += columns(result, chunks, "chunk_completion_p95_s", most)
    return worst(results, result.replications)


def round_trip(result: Result, flows: Sequence[Flow]) -> Column:
    """Return the longest round-trip time of the bulk flows in each replication. [s]"""
    most = result.scenario.typed.duration_s
    names = [flow.name for flow in flows if isinstance(flow, TcpFlow)]
    return worst(columns(result, names, "rtt_p99_s", most), result.replications)
