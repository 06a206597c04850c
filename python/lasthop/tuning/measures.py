"""Quantities by which settings of access parameters are compared; a model predicts them, or a
simulation measures them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import isnan, nan
from statistics import fmean
from typing import Any, TypeAlias

from lasthop.answers.estimates import Estimate
from lasthop.scenario.from_json import Table, read_as
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import BEST_EFFORT, Flow, TcpFlow, UdpFlow
from lasthop.simulation.result import Result
from lasthop.tuning.categories import categories_in_use, cell_flows, delay_quantity, queue_name
from lasthop.tuning.shown import SHOWN

Values: TypeAlias = Mapping[str, float]
"""Values by quantity, with one value for each quantity of `Samples`."""

Samples: TypeAlias = Mapping[str, Sequence[float]]
"""One value per replication of each quantity.

- ``calls``: largest number of calls that the cell carries, if calls are counted. [calls]
- ``beside_calls_goodput_bps``: goodput of all other traffic with these calls. [bit/s]
- ``goodput_bps``: goodput of the cell; ``up_goodput_bps`` and ``down_goodput_bps``: goodput of each
  direction, if both directions have flows. [bit/s]
- ``rtt_s``: round-trip time, averaged over the TCP connections with equal weights. [s]
- ``sojourn_s``: mean time of a packet in the AP's queue of the tuned category, including service.
  [s]
- ``sojourn_p99_s``: 99th percentile of the time in that queue. [s]
- ``station_sojourn_s``: mean time in a station's queue of the tuned category, for the station with
  the longest time. [s]
- ``voice_delay_s``, ``video_delay_s``, ``best_effort_delay_s``, ``background_delay_s``: mean time
  in the queue of each other category with flows, at the AP or station with the longest time. [s]
- ``one_way_delay_p99_s``: 99th percentile of the delay of datagram flows with a rate; the value of
  the flow with the longest delay. [s]
- ``datagram_loss``: fraction of lost packets of datagram flows with a rate; the value of the flow
  with the largest loss. [-]
- ``jain``: Jain's index of the cell from the simulation; absent if the simulation has no value. [-]
- ``direction_jain``: Jain's index of the flows of `sharing`. Uploads and downloads of a station
  count as two shares. Present only if a station has both. [-]
- ``jain_p05``: 5th percentile of Jain's index over windows of 1 s. [-]
- ``longest_starved_s``: longest time that any station gets less than a tenth of an equal share, in
  windows of 1 s. [s]
- ``starving_stations``: number of stations that starve for `STARVED_FOR_S` or longer. [stations]
- ``updown_ratio``: ratio of uploads to downloads in the cell, if it has both. [-]
- ``worst_fairness_level``: largest fairness level of a station divided by the smallest. It equals
  the ratio of the largest to the smallest goodput. [-]
- ``starved_flows``: number of flows that get nothing, or less than a tenth of the rate they ask
  for. [flows]
"""

STARVING = 0.1
"""Fraction of the offered rate of a datagram flow below which the flow starves. [-]"""

STARVED_FOR_S = 5.0
"""Time with less than a tenth of an equal share after which a station is starving. [s]"""


class Mean(Table):
    """A predicted value."""

    mean: float


class PredictedFlow(Table):
    """Prediction for a flow."""

    name: str
    goodput_bps: Mean
    rtt_s: Mean


class PredictedStation(Table):
    """Prediction for a station."""

    goodput_bps: Mean | None = None


class PredictedAp(Table):
    """Prediction for the access point."""

    queue_packets: Mean


class PredictedCell(Table):
    """Prediction for the cell."""

    goodput_bps: Mean
    jain: Mean | None = None
    updown_ratio: Mean | None = None


class CellPrediction(Table):
    """Prediction of the 802.11e model."""

    flows: tuple[PredictedFlow, ...]
    stations: tuple[PredictedStation, ...]
    aps: tuple[PredictedAp, ...]
    cells: tuple[PredictedCell, ...]


def predicted(prediction: Mapping[str, Any], scenario: Scenario) -> Values:
    """Return the quantities of a prediction of the 802.11e model.

    The waiting time at the AP follows from Little's law: the AP's mean queue divided by its packet
    rate.
    """
    known = read_as(CellPrediction, prediction)
    tcp = {flow.name: flow.tcp for flow in scenario.typed.tcp_flows}
    rates = {
        flow.name: flow.goodput_bps.mean / (8.0 * tcp[flow.name].mss_bytes) for flow in known.flows
    }
    [cell], [ap] = known.cells, known.aps
    goodputs = [each.goodput_bps.mean for each in known.stations if each.goodput_bps]
    values = {
        "goodput_bps": cell.goodput_bps.mean,
        "rtt_s": fmean(flow.rtt_s.mean for flow in known.flows),
        "sojourn_s": ap.queue_packets.mean / sum(rates.values()),
        "worst_fairness_level": max(goodputs) / min(goodputs),
    }
    if cell.jain:
        values |= {"jain": cell.jain.mean}
    if cell.updown_ratio:
        values |= {"updown_ratio": cell.updown_ratio.mean}
    return values


def sampled(result: Result, category: str = BEST_EFFORT) -> Samples:
    """Return the quantities of each replication of a simulation; NaN if a replication has no value.

    `category` is the tuned category.
    """
    by_name: Mapping[tuple[str, str], dict[str, list[float]]] = defaultdict(dict)
    for list_name, items in result.sample_tree.items():
        for name, quantities in items.items():
            for quantity, values in quantities.items():
                known = [nan if value is None else value for value in values]
                by_name[list_name, quantity][name] = known
    count = result.replications
    scenario = result.scenario
    nodes = list(scenario.typed.station)
    sojourns = by_name["queues", "sojourn_s"]

    def longest(nodes: Iterable[str], of: str) -> list[float]:
        """Return the longest time in the queues of category `of` at the given nodes, per
        replication. [s]
        """
        names = (queue_name(node, of) for node in nodes)
        return _each([sojourns[name] for name in names if name in sojourns], count, max)

    starved = by_name["stations", "longest_starved_s"].values()
    p99 = by_name["queues", "sojourn_p99_s"].get(queue_name("ap", category), [nan] * count)
    tcp = [flow.name for flow in scenario.typed.tcp_flows]
    rtts = by_name["flows", "rtt_s"]
    results = {
        "goodput_bps": _each(by_name["cells", "goodput_bps"].values(), count, fmean),
        "rtt_s": _each([rtts[name] for name in tcp if name in rtts], count, fmean),
        "sojourn_s": longest(["ap"], category),
        "sojourn_p99_s": p99,
        "station_sojourn_s": longest(nodes, category),
        "updown_ratio": _each(by_name["cells", "updown_ratio"].values(), count, fmean),
        "jain_p05": _each(by_name["cells", "jain_p05"].values(), count, fmean),
        "longest_starved_s": _each(starved, count, max),
        "starving_stations": _each(starved, count, _starving),
    }
    for other in categories_in_use(scenario):
        if other != category:
            results[delay_quantity(other)] = longest(["ap", *nodes], other)
    flows = cell_flows(scenario)
    paced = [flow.name for flow in flows if isinstance(flow, UdpFlow) and flow.udp.rate_bps > 0]
    delays = by_name["flows", "one_way_delay_p99_s"]
    losses = by_name["flows", "loss_probability"]
    results |= {
        "one_way_delay_p99_s": _each([delays[name] for name in paced], count, max),
        "datagram_loss": _each([losses[name] for name in paced], count, max),
    }
    goodputs = by_name["flows", "goodput_bps"]
    ways = _sums(goodputs, {flow.name: (flow.direction,) for flow in flows}, count)
    if len(ways[0]) > 1:
        for way in ("up", "down"):
            results[f"{way}_goodput_bps"] = [each[(way,)] for each in ways]
    least = {
        flow.name: STARVING * flow.udp.rate_bps if isinstance(flow, UdpFlow) else 0.0
        for flow in flows
    }
    starved_flows = [
        float(sum(goodputs[name][k] <= rate for name, rate in least.items())) for k in range(count)
    ]
    levels = by_name["stations", "fairness_level"].values()
    results |= {
        "starved_flows": starved_flows,
        "jain": _each(by_name["cells", "jain"].values(), count, fmean),
        "worst_fairness_level": _each(levels, count, _spread),
    }
    sharers = sharing(scenario)
    shares = {flow.name: (flow.station, flow.direction) for flow in sharers}
    directions = _sums(goodputs, shares, count)
    if len(directions[0]) > len({flow.station for flow in sharers}):
        results |= {"direction_jain": [jain(each.values()) for each in directions]}
    return {name: values for name, values in results.items() if not all(map(isnan, values))}


def sharing(scenario: Scenario) -> list[Flow]:
    """Return the flows whose directions are compared for fairness.

    If there are TCP connections or greedy sources, which send as fast as they can, the function
    returns these flows. Calls and sensors have a small demand, and a flow whose demand is met is
    not treated unfairly. Only Jain's index of directions (`direction_jain`) uses these flows; the
    simulation computes Jain's index of stations.
    """
    flows = cell_flows(scenario)
    return [
        flow
        for flow in flows
        if isinstance(flow, TcpFlow) or (isinstance(flow, UdpFlow) and flow.udp.rate_bps == 0)
    ] or flows


def _each(items: Collection[Sequence[float]], count: int, over: Any) -> list[float]:
    """Return one value per replication. The function `over` computes this value from the values of
    all items in the replication. Items without a value are left out; the result is NaN if no item
    has a value.
    """
    rows = [[row[index] for row in items if not isnan(row[index])] for index in range(count)]
    return [float(over(row)) if row else nan for row in rows]


def _starving(longest_s: Iterable[float]) -> int:
    """Return the number of stations whose longest time of starvation reaches `STARVED_FOR_S`.
    [stations]
    """
    return sum(time_s >= STARVED_FOR_S for time_s in longest_s)


def _spread(levels: Sequence[float]) -> float:
    """Return the ratio of the largest to the smallest value; NaN with fewer than two values, or if
    a value is 0.
    """
    return max(levels) / min(levels) if len(levels) > 1 and min(levels) > 0.0 else nan


def _sums(
    goodputs: Mapping[str, Sequence[float]], share: Mapping[str, tuple[str, ...]], count: int
) -> list[dict[tuple[str, ...], float]]:
    """Return the goodput of every share in each replication. A share is a group of flows; `share`
    names the group of each flow.
    """
    rows = []
    for index in range(count):
        sums = dict.fromkeys(share.values(), 0.0)
        for name, owner in share.items():
            sums[owner] += goodputs[name][index]
        rows.append(sums)
    return rows


def jain(values: Iterable[float]) -> float:
    """Return Jain's index of n values: 1 if all values are equal, 1/n if only one value is not 0.
    [-]
    """
    shares = list(values)
    squares = sum(share**2 for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares > 0.0 else nan


def estimated(samples: Samples) -> dict[str, Estimate]:
    """Return the mean and the confidence interval of each quantity, computed from the replications
    that have a value.
    """
    return {name: Estimate.of(values) for name, values in _known(samples)}


def means(samples: Samples) -> Values:
    """Return the mean of each quantity over the replications with a value."""
    return {name: fmean(values) for name, values in _known(samples)}


def _known(samples: Samples) -> Iterator[tuple[str, list[float]]]:
    """Yield each quantity that has a value in at least one replication, with its values."""
    for name, values in samples.items():
        if known := [value for value in values if not isnan(value)]:
            yield name, known


def is_beyond(differences: Sequence[float], limit: float) -> bool:
    """Return whether the mean of paired differences exceeds a limit, and the difference from 0 is
    not due to chance.

    The difference is not due to chance if the mean exceeds the half width of its 95 % interval, or
    if every difference exceeds the limit. The second condition is for two or three replications,
    whose interval is too wide.
    """
    mean = fmean(differences)
    if mean <= limit:
        return False
    return min(differences) > limit or mean > (Estimate.of(differences).ci95 or 0.0)


def paired(ours: Samples, theirs: Samples, quantity: str) -> Estimate | None:
    """Return the mean paired difference ours - theirs over replications with the same seeds; None
    without common replications.
    """
    result = differences(ours, theirs, quantity)
    return Estimate.of(result) if result else None


def differences(ours: Samples, theirs: Samples, quantity: str) -> list[float]:
    """Return the paired differences ours - theirs of the replications in which both settings have a
    value. Replications are paired by their seeds.
    """
    pairs = zip(ours.get(quantity, ()), theirs.get(quantity, ()), strict=False)
    return [mine - other for mine, other in pairs if not isnan(mine - other)]


def favourable(ours: Samples, theirs: Samples) -> Values:
    """Return favourable values of `ours`. Each value is the mean over the replications, improved by
    the half width of a confidence interval. This interval is that of the paired differences between
    `ours` and `theirs`.
    """
    values = dict(means(ours))
    for name, shown in SHOWN.items():
        change = paired(ours, theirs, name)
        if change is not None and shown.greatest is not None:
            half = change.ci95 or 0.0
            values[name] += half if shown.greatest else -half
    return values
