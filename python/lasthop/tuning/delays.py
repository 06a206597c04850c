"""Queues in which packets wait, and delays of calls. The results show whether packets wait mainly
in the AP's queue.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lasthop.scenario.typed import Flow, UdpFlow
from lasthop.simulation.result import Result
from lasthop.tuning.calls import calls_of
from lasthop.tuning.categories import cell_flows, queue_name

BOTTLENECK = "vsb"
"""Name of the queue of the virtual shared bottleneck, which packets of both directions pass."""

HALF = 0.5
"""Queues dominate the delay of a packet if the time in queues, divided by the whole delay, is at
least this value. [-]
"""


@dataclass(frozen=True)
class Elsewhere:
    """A flow whose packets wait mainly in a queue other than that of the access point.

    Attributes
    ----------
    flow : str
        Flow with the longest packet delay.
    delay_s : float
        Mean RTT of the flow, or its mean one-way delay if it is UDP. [s]
    queue : str
        Queue in which the packets of the flow wait longest, among all queues on the path except the
        queue of the access point.
    queue_s : float
        Mean time in the queue `queue`. [s]
    ap_s : float
        Mean time in the access point's queue; 0 if the flow does not pass this queue. [s]
    queues_s : float
        Mean time in all queues on the path of the flow. [s]
    is_link : bool
        Whether `queue` is the queue of a link or of the virtual shared bottleneck. If not, it is
        the queue of a station.
    """

    flow: str
    delay_s: float
    queue: str
    queue_s: float
    ap_s: float
    queues_s: float
    is_link: bool

    @property
    def text(self) -> str:
        """Sentence that names the queue in which the packets of the flow wait."""
        waits, total, ap = (f"{1e3 * each:.3g}" for each in (self.queue_s, self.delay_s, self.ap_s))
        waits = f"{self.flow}: {waits} of {total} ms are spent in"
        if self.queues_s < HALF * self.delay_s:
            return (
                f"{waits} {self.queue}, {ap} ms at the access point; most of the delay is outside "
                "of queues"
            )
        return f"{waits} {self.queue}{'; see `lasthop queue`' if self.is_link else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Return all values by name, including `text`."""
        return {**asdict(self), "text": self.text}


@dataclass(frozen=True)
class CallDelay:
    """Delay of the calls of the scenario file in one direction. Each value is the largest value of
    all calls.

    Attributes
    ----------
    direction : str
    delay_s : float
        Mean one-way delay. [s]
    p99_s : float
        99th percentile of the one-way delay. [s]
    """

    direction: str
    delay_s: float
    p99_s: float

    @property
    def text(self) -> str:
        """Short text with the delay."""
        mean, tail = (f"{1e3 * each:.3g} ms" for each in (self.delay_s, self.p99_s))
        return f"{mean} {self.direction} (99th percentile {tail})"

    def to_dict(self) -> dict[str, Any]:
        """Return all values by name, including `text`."""
        return {**asdict(self), "text": self.text}


def elsewhere(result: Result) -> Elsewhere | None:
    """Return the flow with the longest delay and the queue in which its packets wait; None if its
    packets wait mainly in the access point's queue.

    The flow is a call if the scenario file has calls, or else any flow of the cell. The result is
    None if two conditions hold: packets wait longest in the AP's queue, and the time in all queues
    is at least half of the delay.
    """
    value = _longest(result, own_calls(result) or cell_flows(result.scenario))
    if value is None:
        return None
    flow, delay_s = value
    sojourns = means_of(result, "queues", "sojourn_s")
    waits = {name: sojourns[name] for name in _path(flow) if name in sojourns}
    ap_s = waits.pop(queue_name("ap", flow.category), 0.0)
    if not waits:
        return None
    queue = max(waits, key=lambda name: waits[name])
    queues_s = ap_s + sum(waits.values())
    if waits[queue] <= ap_s and queues_s >= HALF * delay_s:
        return None
    is_link = queue != queue_name(flow.station, flow.category)
    return Elsewhere(flow.name, delay_s, queue, waits[queue], ap_s, queues_s, is_link)


def call_delays(result: Result) -> list[CallDelay]:
    """Return the delays of the calls of the scenario file, one value per direction; an empty list
    without calls.
    """
    means = means_of(result, "flows", "one_way_delay_s")
    tails = means_of(result, "flows", "one_way_delay_p99_s")
    results = []
    for direction in ("up", "down"):
        names = [flow.name for flow in own_calls(result) if flow.direction == direction]
        names = [name for name in names if name in means and name in tails]
        if names:
            worst_s = max(means[name] for name in names)
            results.append(CallDelay(direction, worst_s, max(tails[name] for name in names)))
    return results


def own_calls(result: Result) -> list[Flow]:
    """Return the flows of the calls that the scenario file contains."""
    calls = calls_of(result.scenario)
    station = result.scenario.typed.station
    flows = cell_flows(result.scenario) if calls.own else []
    return [flow for flow in flows if station[flow.station].group == calls.group]


def _longest(result: Result, flows: Sequence[Flow]) -> tuple[Flow, float] | None:
    """Return the flow with the longest mean packet delay, and the delay. [s]"""
    rtts, delays = (means_of(result, "flows", name) for name in ("rtt_s", "one_way_delay_s"))
    known = {flow.name: rtts.get(flow.name, delays.get(flow.name)) for flow in flows}
    took = [(flow, delay_s) for flow in flows if (delay_s := known[flow.name]) is not None]
    return max(took, key=lambda each: each[1], default=None)


def _path(flow: Flow) -> Iterator[str]:
    """Yield the names of the queues that packets of a flow may pass, including the queues of its
    ACKs.
    """
    ap, station = (queue_name(node, flow.category) for node in ("ap", flow.station))
    down, up = ("wire/down", ap), (station, "wire/up")
    data, acks = (up, down) if flow.is_up else (down, up)
    yield from (*data, *flow.forward, BOTTLENECK)
    if not isinstance(flow, UdpFlow):
        yield from (*acks, *flow.back)


def means_of(result: Result, list_name: str, quantity: str) -> Mapping[str, float]:
    """Return the means of a quantity by the name of the item. Items of the result's list that lack
    the quantity are left out.
    """
    return {
        item["name"]: item[quantity]["mean"]
        for item in result.contents.get(list_name, [])
        if item.get(quantity) is not None and item[quantity]["mean"] is not None
    }
