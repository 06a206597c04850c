"""Assumptions of the airtime model (stations that one queue serves), and checks whether a scenario
meets them."""

from collections.abc import Iterator, Mapping, Sequence

from lasthop.errors import listed
from lasthop.models import cells
from lasthop.models.airtime.options import Options, Order
from lasthop.models.airtime.receivers import Receiver
from lasthop.models.checks import violations
from lasthop.models.errors import Doubt, ModelError
from lasthop.scenario.queues import Mac80211, Threshold
from lasthop.scenario.typed import CellScenario, UdpFlow

WHOLE = 0.01
"""Largest accepted probability that all MPDUs of a PPDU to a station are lost. After such a loss
the access point doubles its contention window. The model neglects this. [-]
"""


def is_fair(scenario: CellScenario) -> bool:
    """Return whether the access point has the queue of mac80211."""
    return isinstance(scenario.cell.ap.queue, Mac80211)


def order_of(scenario: CellScenario, options: Options) -> Order:
    """Return the order in which the access point's queue serves the stations.

    Raises
    ------
    ModelError
        If the model does not support the queue discipline.
    """
    if options.queue is not None:
        return options.queue
    queue = scenario.cell.ap.queue
    if isinstance(queue, Mac80211):
        if queue.aql and not queue.airtime_fairness:
            why = "`cell.ap_queue.mac80211.aql` without `airtime_fairness`: what the device holds"
            raise ModelError("assumption 6", f"{why} shares out the air")
        return "airtime" if queue.airtime_fairness else "rounds"
    if queue.discipline not in cells.PLAIN:
        raise ModelError("assumption 6", cells.manages("cell.ap", queue.discipline))
    if scenario.cell.ap.queue_order == "mixed":
        raise ModelError("assumption 6", '`cell.ap.queue_order` is "mixed"')
    return "fifo"


def room_of(scenario: CellScenario) -> int:
    """Return the limit of the access point's queue. [packets]"""
    queue = scenario.cell.ap.queue
    if isinstance(queue, Threshold):
        return min(queue.threshold_packets, scenario.cell.ap.queue_packets)
    return scenario.cell.ap.queue_packets


def of_flows(scenario: CellScenario) -> Iterator[Doubt]:
    """Yield messages about properties of the flows that the model does not support."""
    yield from cells.NO_FLOW(scenario)
    heads: dict[str, UdpFlow] = {}
    kinds = set()
    for subject in cells.station_flows(scenario):
        yield from violations(cells.SATURATED, subject)
        flow = subject.flow
        if not isinstance(flow, UdpFlow):
            continue
        if flow.is_up:
            yield "assumption 1", f"`{subject.key}` sends to the access point"
            continue
        kinds.add(flow.udp.arrivals == "greedy")
        if heads.setdefault(flow.station, flow).udp.packet_bytes != flow.udp.packet_bytes:
            yield "assumption 2", f"`{subject.key}` has datagrams of several sizes"
    if len(kinds) > 1:
        yield "assumption 1", "greedy sources leave no room for those with a rate of their own"
    for message in cells.several_categories(scenario):
        yield "assumption 3", message


def of_cell(
    scenario: CellScenario, receivers: Sequence[Receiver], options: Options
) -> Iterator[Doubt]:
    """Yield messages about properties of cell, channel and wire that break an assumption."""
    yield from violations(cells.AGGREGATING, scenario)
    sending = receivers[0].sending
    if sending.limit_ns is None and not sending.is_single:
        yield "assumption 5", "`txop_packets` without `txop_limit`"
    if scenario.cell.cf_end and sending.limit_ns is not None:
        yield "assumption 5", "`cell.cf_end` ends opportunities"
    for message in cells.changing(own.station for own in receivers):
        yield "assumption 4", message
    for own in receivers:
        yield from violations((cells.POWER_SAVE, cells.SNR), own.station)
        yield from _of_losses(own, options)


def _of_losses(own: Receiver, options: Options) -> Iterator[Doubt]:
    if own.loss == 0.0:
        return
    table = own.station.table
    if options.aggregates is None:
        yield (
            "assumption 4",
            f"`{table}.error_down` = {own.loss:g} leaves holes in windows, which shorten "
            "aggregates; option `aggregates` reads their means from a run",
        )
    elif own.loss ** options.aggregates.get(own.name, 1.0) > WHOLE:
        yield "assumption 4", f"`{table}.error_down` = {own.loss:g} loses whole PPDUs"


def of_members(receivers: Sequence[Receiver], sizes: Mapping[str, float]) -> Mapping[str, float]:
    """Return the mean numbers of MPDUs in a PPDU by station; the value of a group applies to each
    station of the group.
    """
    groups = {own.station.group for own in receivers} - {own.name for own in receivers}
    named = {name: size for name, size in sizes.items() if name not in groups}
    of_groups = [own for own in receivers if own.station.group in groups & sizes.keys()]
    return {own.name: sizes[own.station.group] for own in of_groups} | named


def of_aggregates(receivers: Sequence[Receiver], sizes: Mapping[str, float]) -> Iterator[Doubt]:
    """Yield messages about given mean aggregate sizes that are impossible, and about names that are
    not stations.
    """
    names = [own.name for own in receivers]
    for name in sizes:
        if name not in names:
            yield (
                "assumption 7",
                f"option `aggregates` names {name}, and the access point sends to {listed(names)}",
            )
    missing = [name for name in names if name not in sizes]
    if missing:
        yield "assumption 7", f"option `aggregates` lacks {listed(missing)}"
    for own in receivers:
        given, most = sizes.get(own.name), own.frames.ppdus[-1].count
        if given is not None and given > most:
            yield (
                "assumption 7",
                f"aggregates of {own.name} have {given:g} MPDUs; its limits allow {most}",
            )
