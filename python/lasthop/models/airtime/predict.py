"""Prediction of the air time and throughput of stations that the access point's queue serves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from lasthop.models import cells
from lasthop.models.aggregates.sending import Sending
from lasthop.models.airtime import assumptions
from lasthop.models.airtime import order as orders
from lasthop.models.airtime.options import Options, Order
from lasthop.models.airtime.receivers import Frames, Receiver
from lasthop.models.airtime.shares import (
    airtime_fractions,
    exchange_shares,
    goodputs_bps,
    period_s,
)
from lasthop.models.answer import CellValues, Lists, Quantities, prediction
from lasthop.models.errors import Doubt, refuse
from lasthop.progress.cost_limits import need
from lasthop.scenario.typed import CellScenario, Readable, Scenario, UdpFlow

PACKET_S, EXCHANGE_S = 1e-6, 6e-6
"""Computation time of the simulated order per packet, and per exchange. [s]"""


def suits(scenario: Scenario) -> bool:
    """Return whether a scenario has a cell of 802.11n, ac or ax that meets one of two conditions.
    Either the access point has the queue of mac80211, or the access point is the only sender and
    sends to several stations.

    No other model supports the queue of mac80211. This model is therefore chosen for every scenario
    with this queue, and `predict` raises an error if the scenario breaks an assumption.
    """
    if not cells.is_aggregating(scenario):
        return False
    if assumptions.is_fair(scenario):
        return True
    down = [isinstance(flow, UdpFlow) and not flow.is_up for flow in scenario.flows]
    several = len({flow.station for flow in scenario.flows}) > 1
    return bool(down) and all(down) and several


@dataclass(frozen=True)
class Shares:
    """Aggregates, air time and throughput of the stations; the sequences follow the order of the
    stations.

    Attributes
    ----------
    mpdus : sequence of float
        Mean MPDUs in a PPDU. [MPDUs]
    exchanges : sequence of float
        Fraction of the exchanges that are with each station. [-]
    airtime : sequence of float
        Fraction of time that PPDUs to each station are on the air. [-]
    goodput_bps : sequence of float
        Throughput of each station. [bit/s]
    """

    mpdus: Sequence[float]
    exchanges: Sequence[float]
    airtime: Sequence[float]
    goodput_bps: Sequence[float]


def predict(scenario: Readable, options: Options | None = None) -> Quantities:
    """Predict throughput and air-time shares of stations that an access point's queue serves.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, as a `Scenario` or a mapping. It has a cell of 802.11n, ac or ax in
        which the access point sends more UDP to stations than the cell can carry.
    options : Options, optional
        Options that replace the queue discipline of the scenario, or set mean aggregate sizes from
        a simulation run.

    Returns
    -------
    dict
        A result of kind ``"prediction"``: ``goodput_bps`` [bit/s] of cell, stations and flows; of
        stations ``airtime_fraction`` [-], the fraction of the time that PPDUs to them are on the
        air, and ``downlink_mpdus_per_ppdu``; ``options`` and ``order``.

    Raises
    ------
    ModelError
        If the scenario breaks an assumption: TCP, uploads, a queue with AQM, or losses without the
        aggregates of a run.
    """
    options = Options() if options is None else options
    known = cells.aggregating_scenario(scenario)
    refuse(assumptions.of_flows(known))
    order = assumptions.order_of(known, options)
    receivers = _receivers(known)
    if options.aggregates is not None:
        options = replace(options, aggregates=assumptions.of_members(receivers, options.aggregates))
    refuse(assumptions.of_cell(known, receivers, options))
    if options.aggregates is not None:
        refuse(assumptions.of_aggregates(receivers, options.aggregates))
    result = _solve(known, receivers, order, options)
    offers = [
        cells.Offer(
            known.flow_key(own.flows[0]), 8 * own.sending.payload_bytes * own.offered_pps, fit
        )
        for own, fit in zip(receivers, result.goodput_bps, strict=True)
    ]
    late = [("assumption 1", message) for message in cells.unsteady_flows(known)]
    warnings = [*late, *cells.unsaturated(known, offers)]
    lists = _lists(known, receivers, result)
    return prediction("airtime", known, lists, warnings, order=order, options=options.to_dict())


def _receivers(scenario: CellScenario) -> list[Receiver]:
    results: dict[str, list[UdpFlow]] = {}
    for flow in scenario.flows:
        assert isinstance(flow, UdpFlow)
        results.setdefault(flow.station, []).append(flow)
    known: dict[Sending, Frames] = {}
    rate_bps = scenario.wire.rate_bps
    round_bits = sum(8 * flow.udp.packet_bytes for flows in results.values() for flow in flows)
    turns_pps = inf if rate_bps is None else rate_bps / round_bits
    receivers = []
    for name, flows in results.items():
        sending = Sending.of(scenario, flows[0])
        unnamed = replace(sending, station=replace(sending.station, name=""))
        frames = known.setdefault(unnamed, Frames(unnamed))
        receivers.append(Receiver(scenario.station[name], frames, flows, turns_pps))
    return receivers


def _solve(
    scenario: CellScenario, receivers: Sequence[Receiver], order: Order, options: Options
) -> Shares:
    """Return the shares of the stations. Aggregate sizes and the number of channel accesses come
    from a simulation of the order in which the queue sends. The shares are then computed in closed
    form.
    """
    sending = receivers[0].sending
    cell = scenario.cell
    access_s = cell.sifs_s + cell.slot_s * (sending.access.aifsn + sending.access.cwmin / 2)
    tally = _order(scenario, receivers, order, access_s)
    refuse(_unserved(scenario, receivers, tally))
    exchanges = sum(tally.exchanges)
    contention_s = tally.accesses * access_s + (exchanges - tally.accesses) * cell.sifs_s
    if options.aggregates is None:

        def mean(sums: Sequence[int], scale: float = 1.0) -> list[float]:
            return [scale * all_ / often for all_, often in zip(sums, tally.exchanges, strict=True)]

        mpdus, packets = mean(tally.mpdus), mean(tally.packets)
        exchange_s, ppdu_s = mean(tally.exchange_ns, 1e-9), mean(tally.ppdu_ns, 1e-9)
    else:
        mpdus = [options.aggregates[own.name] for own in receivers]
        pairs = [*zip(mpdus, receivers, strict=True)]
        packets = [n * own.sending.packets_per_mpdu for n, own in pairs]
        pairs = [*zip(packets, receivers, strict=True)]
        exchange_s, ppdu_s = (
            [own.exchange_s(n) for n, own in pairs],
            [own.ppdu_s(n) for n, own in pairs],
        )
    delivered = [n * (1.0 - own.loss) for n, own in zip(packets, receivers, strict=True)]
    payload = [n * own.sending.payload_bytes for n, own in zip(delivered, receivers, strict=True)]
    parts = exchange_shares(order, [own.offered for own in receivers], delivered, ppdu_s)
    period = period_s(parts, exchange_s, contention_s / exchanges)
    return Shares(
        mpdus,
        parts,
        airtime_fractions(parts, ppdu_s, period),
        goodputs_bps(parts, payload, period),
    )


def _unserved(
    scenario: CellScenario, receivers: Sequence[Receiver], tally: orders.Counters
) -> Iterator[Doubt]:
    """Yield a message about each station without an exchange, because almost no packets arrive for
    it.
    """
    for own, often in zip(receivers, tally.exchanges, strict=True):
        if often == 0:
            rate_bps = 8 * own.sending.payload_bytes * own.offered_pps
            key = scenario.flow_key(own.flows[0])
            what = f"`{key}` offers {rate_bps:.4g} b/s, too little for one packet in the queue"
            yield "assumption 1", what


def _order(
    scenario: CellScenario, receivers: Sequence[Receiver], order: Order, access_s: float
) -> orders.Counters:
    stations = len(receivers)
    room = assumptions.room_of(scenario) if order == "fifo" else 0
    least = max(orders.LEAST[order][0], orders.LEAST[order][1] * stations)
    longest = max(len(own.frames.ppdus) for own in receivers)
    # An aggregate has the packets that have arrived for its station since the station's previous
    # aggregate. With a full queue and equal stations, their number is 2 room / (stations + 1).
    each = min(longest, 2 * room / (stations + 1))
    packets = max((orders.FIRST + orders.COUNTED) * room, least * each)
    need(
        f"the order of a queue to {stations} stations",
        time_s=packets * PACKET_S + least * EXCHANGE_S,
        memory_bytes=200 * (room + stations),
    )
    if order == "fifo":
        rate_pps = sum(own.offered_pps for own in receivers)
        fifo = orders.Fifo(room, orders.drawn([own.offered for own in receivers]), rate_pps)
        return orders.serve(
            receivers, fifo, access_s, least, orders.FIRST * room, orders.COUNTED * room
        )
    fair = orders.Airtime(stations) if order == "airtime" else orders.Rounds(stations)
    return orders.serve(receivers, fair, access_s, least)


def _lists(scenario: CellScenario, receivers: Sequence[Receiver], shares: Shares) -> Lists:
    values = CellValues(scenario, sum(shares.goodput_bps))
    for number, own in enumerate(receivers):
        goodput_bps = shares.goodput_bps[number]
        values.stations[own.name] |= values.shares(goodput_bps) | {
            "airtime_fraction": shares.airtime[number],
            "downlink_mpdus_per_ppdu": shares.mpdus[number],
        }
        if len(own.flows) == 1:
            values.flows.append((own.flows[0], goodput_bps, {}))
    mpdus = sum(f * n for f, n in zip(shares.exchanges, shares.mpdus, strict=True))
    values.ap |= {"mpdus_per_ppdu": mpdus}
    return values.lists(0.0)
