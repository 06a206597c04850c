"""From a scenario to a prediction of a saturated cell that aggregates."""

from collections.abc import Mapping, Sequence

from lasthop.models.aggregates import saturated, timing
from lasthop.models.aggregates import window as windows
from lasthop.models.aggregates.assumptions import (
    ALWAYS_FULL,
    ASSUMPTIONS,
    check,
    loss_of,
    senders,
)
from lasthop.models.aggregates.saturated import Aggregator
from lasthop.models.aggregates.sending import Sending
from lasthop.models.answer import Quantities, cell_item, estimate, prediction
from lasthop.models.errors import Doubt, ModelError, refuse
from lasthop.models.reading import (
    AggregatingCell,
    CellScenario,
    Flow,
    Readable,
    Scenario,
    UdpFlow,
    read,
)

SELDOM = 1e-3
"""Part of the packets that may wait in order for longer than receivers wait. [-]"""


def suits(scenario: Scenario) -> bool:
    """Whether a scenario is a cell of 802.11n, ac or ax; no other model knows these."""
    return isinstance(scenario, CellScenario) and isinstance(scenario.cell, AggregatingCell)


def predict(scenario: Readable) -> Quantities:
    """Predict goodput, collisions and aggregates of a saturated cell.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, read or to be read: a cell of 802.11n, ac or ax in which the access
        point, stations or both send UDP, more than the cell takes.

    Returns
    -------
    dict
        A result of kind ``"prediction"``: ``goodput_bps`` [bit/s] of cell, stations and flows; of
        stations and the access point ``collision_rate``, ``frame_failure_rate``,
        ``discard_probability`` [-] and ``mpdus_per_ppdu``, and of a sender that is alone
        ``reordering_s`` [s]. What the theory cannot know is absent.

    Raises
    ------
    ModelError
        The scenario breaks an assumption: TCP, packets for several stations in one queue.
    ConvergenceError
        A solver did not settle.
    """
    known = read(scenario)
    if not isinstance(known, CellScenario) or not suits(known):
        raise ModelError("cell", "there is no `cell` of 802.11n, ac or ax")
    sending = senders(known)
    broken, warnings = check(known, sending)
    refuse(broken)
    found = saturated.solve(
        [aggregator(one) for one, _ in sending],
        known.cell.slot_s,
        known.cell.sifs_s + sending[0][0].access.aifsn * known.cell.slot_s,
        known.cell.countdown,
    )
    warnings += _rates(known, sending, found.goodput_bps)
    return prediction(
        "aggregates",
        known,
        _lists(known, sending, found),
        assumptions=ASSUMPTIONS,
        warnings=warnings,
    )


def aggregator(one: Sending) -> Aggregator:
    """A sender in the theory's terms."""
    access = one.access
    node = one.station if one.is_up else one.cell.ap
    agreed = one.most_mpdus > 1
    # without a block acknowledgement the limit of the access is that of the packet, too
    attempts = one.own.attempts if agreed else None
    return Aggregator(
        cwmin=access.cwmin,
        cwmax=access.cwmax,
        attempts_short=node.attempts_short,
        mpdus=one.first.count,
        exchange=one.exchange,
        payload_bytes=one.packets_per_mpdu * one.payload_bytes,
        request=one.request() if attempts is not None else None,
        attempts=attempts,
        loss=loss_of(one),
    )


def _rates(
    scenario: CellScenario,
    sending: Sequence[tuple[Sending, list[Flow]]],
    goodputs_bps: Sequence[float],
) -> list[Doubt]:
    """Whether datagrams come faster than they are sent."""
    broken: list[Doubt] = []
    doubted: list[Doubt] = []
    for (_, flows), goodput_bps in zip(sending, goodputs_bps, strict=True):
        rate_bps = 0.0
        for flow in flows:
            assert isinstance(flow, UdpFlow)
            greedy = flow.udp.arrivals == "greedy"
            rate_bps += float("inf") if greedy else flow.udp.rate_bps
        if rate_bps < ALWAYS_FULL * goodput_bps:
            key = scenario.flow_key(flows[0])
            what = (
                f"`{key}` offers {rate_bps / 1e6:.4g} Mb/s where {goodput_bps / 1e6:.4g} Mb/s fit"
            )
            (broken if rate_bps < goodput_bps else doubted).append(("assumption 1", what))
    slower_bps = scenario.wire.slower_bps
    if slower_bps is not None and slower_bps < ALWAYS_FULL * sum(goodputs_bps):
        broken.append(("cell", "`wire.rate` is no higher than what the cell takes"))
    refuse(broken)
    return doubted


def _lists(
    scenario: CellScenario,
    sending: Sequence[tuple[Sending, list[Flow]]],
    found: saturated.Cell,
) -> Mapping[str, list[Quantities]]:
    total_bps = sum(found.goodput_bps)
    stations: dict[str, Quantities] = {one.name: {"name": one.name} for one in scenario.stations}
    ap: Quantities = {"name": "ap"}
    flows: list[Quantities] = []
    active = 0
    for number, (one, own_flows) in enumerate(sending):
        goodput_bps = found.goodput_bps[number]
        own = stations[one.station.name]
        before_bps = own["goodput_bps"]["mean"] if "goodput_bps" in own else 0.0
        own["goodput_bps"] = estimate(before_bps + goodput_bps)
        own["goodput_share"] = estimate((before_bps + goodput_bps) / total_bps)
        sender = own if one.is_up else ap
        failed, collided = found.failure_prob[number], found.collision_prob[number]
        frames = collided + (1 - collided) * found.frames[number]
        sender["collision_rate"] = estimate(collided / frames)
        sender["frame_failure_rate"] = estimate(failed / frames)
        if one.most_mpdus > 1:
            sender["discard_probability"] = estimate(found.given_up[number])
        aggregates = {"mpdus_per_ppdu": estimate(found.mpdus[number])}
        reordering_s = _reordering_s(one, alone=len(sending) == 1)
        if reordering_s is not None:
            aggregates["reordering_s"] = estimate(reordering_s)
        sender.update(aggregates)
        if one.is_up:
            active += 1
        else:
            own.update({f"downlink_{name}": value for name, value in aggregates.items()})
        if len(own_flows) == 1:
            flows.append(
                {
                    "name": own_flows[0].name,
                    "station": one.station.name,
                    "direction": own_flows[0].direction,
                    "goodput_bps": estimate(goodput_bps),
                    "goodput_share": estimate(goodput_bps / total_bps),
                }
            )
    items = list(stations.values())
    cell = cell_item(total_bps, active, items, flows)
    return {"flows": flows, "stations": items, "aps": [ap], "cells": [cell]}


def _reordering_s(one: Sending, *, alone: bool) -> float | None:
    """Mean wait to be in order; None where it is not known. [s]"""
    loss = loss_of(one)
    if loss == 0 and (alone or one.own.attempts is None or one.most_mpdus == 1):
        return 0.0
    if not alone:
        return None
    window = windows.solve(one.most_mpdus, loss, one.own.attempts if one.most_mpdus > 1 else None)
    times = timing_of(one)
    longest_s = window.wait_quantile(1 - SELDOM) * timing.round_s(window, times)
    most_s = one.own.reorder_timeout_s
    return timing.reordering_s(window, times) if most_s is None or longest_s < most_s else None


def timing_of(one: Sending) -> timing.Timing:
    """Durations of a sender that is alone."""
    cell = one.cell
    node = one.station if one.is_up else cell.ap

    def ppdu_s(mpdus: int) -> float:
        return one.exchange(mpdus).ended_s

    def response_s(mpdus: int) -> float:
        return 1e-9 * one.response_ns(mpdus)

    return timing.Timing(
        ppdu_s,
        response_s,
        sifs_s=cell.sifs_s,
        slot_s=cell.slot_s,
        aifs_s=cell.sifs_s + one.access.aifsn * cell.slot_s,
        wait_s=one.exchange(one.first.count).wait_s,
        cwmin=one.access.cwmin,
        cwmax=one.access.cwmax,
        attempts_short=node.attempts_short,
        request_s=1e-9 * one.control_ns("block_ack_request"),
    )
