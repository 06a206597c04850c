"""Warnings about valid but surprising settings, printed by `check` and with every result.

Each warning can be understood without the other warnings. Each warning names the key, the
consequence, and a remedy.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from lasthop import _core
from lasthop.answers.summary import estimates_in
from lasthop.channel import frame_error, highest_mcs, highest_rate, mcs_frame_error
from lasthop.errors import listed
from lasthop.scenario.queues import Vbs
from lasthop.scenario.transports import Ping, Tcp
from lasthop.scenario.typed import (
    CellScenario,
    CsmaScenario,
    Flow,
    PingFlow,
    Scenario,
    SensorFlow,
    Station,
    UdpFlow,
    VbsClass,
)
from lasthop.warnings.cake import cake_warnings

__all__ = ["warnings_for", "window_notes"]

LOSSY = 0.5
"""Largest fraction of lost frames per attempt that causes no warning. [-]"""

DRIFT = 0.25
"""Deviation of a class's queue share from its target under Algorithm 1, divided by d. Here d is the
fraction of all connections that belong to the class, minus the target. The constant applies to TCP
without channel errors, see docs/papers/vbs.md, "Unequal shares". [-]
"""

MISSED = 0.025
"""Largest relative deviation of a share from its target that causes no warning. [-]"""

MIN_LIMITED_FRACTION = 0.5
"""Largest fraction of time in which a receive window may limit a flow without causing a note. [-]
"""


def warnings_for(scenario: Scenario, *, programs_run: bool = False) -> list[str]:
    """Return warnings about a scenario that a user must read before trusting a result.

    `programs_run` is true if the programs of the scenario run, as in an emulation.
    """
    results: list[str] = []
    if scenario.programs and not programs_run:
        results.append(
            "`programs`: they run only in emulations; predictions and simulations ignore them"
        )
    if isinstance(scenario, CellScenario):
        results += [*_sharing(scenario), *_noise(scenario), *_greedy(scenario)]
    elif isinstance(scenario, CsmaScenario):
        results += _conflicts(scenario)
    return [*results, *_marks(scenario), *cake_warnings(scenario)]


def window_notes(scenario: Scenario, summary: Mapping[str, Any]) -> list[str]:
    """Return notes on flows that are limited by their receive windows most of the time.

    Flows with the same window share a note, which contains the mean over these flows.
    """
    windows = {flow.name: flow.tcp.window_packets for flow in scenario.tcp_flows}
    fractions: dict[int, dict[str, float]] = {}
    limits = estimates_in(summary, "flows", "rwnd_limited_fraction")
    for name, limited in limits.items():
        if limited.mean > MIN_LIMITED_FRACTION and name in windows:
            fractions.setdefault(windows[name], {})[name] = limited.mean
    return [_window_note(window, limited) for window, limited in fractions.items()]


def _window_note(window: int, limited: Mapping[str, float]) -> str:
    """Return a note on flows that a receive window of `window` packets limits."""
    percent = f"{100 * sum(limited.values()) / len(limited):.0f} % of the time"
    names = listed(list(limited))
    if len(limited) == 1:
        return f"{names} is limited by its receive window (tcp.window = {window}) {percent}"
    return (
        f"{len(limited)} flows ({names}) are limited by their receive windows (tcp.window = "
        f"{window}) {percent} on average"
    )


def _marks(scenario: Scenario) -> Iterator[str]:
    """Yield a warning if CoDel marks packets but not all flows support ECN."""
    queues = {f"link {link.name}": link.queue for link in scenario.routers}
    if isinstance(scenario, CellScenario):
        queues["`cell.ap_queue`"] = scenario.cell.ap.queue
    marking = [name for name, item in queues.items() if item.discipline == "codel" and item.ecn]
    if not marking:
        return
    flows = [flow for flow in scenario.flows if not isinstance(flow, PingFlow)]
    deaf = [flow.name for flow in flows if not _can_be_marked(flow)]
    if not deaf or len(deaf) == len(flows):
        return
    yield (
        f"{marking[0]}: CoDel with ecn = true marks packets and drops those without ECN "
        f"({listed(deaf)}), more and more often while the delay stays above its target. If many "
        "marked flows cannot send less, most packets of the others are dropped (71 % of a call "
        "among 60 flows over 20 Mb/s); use fq_codel or pie"
    )


def _can_be_marked(flow: Flow | SensorFlow) -> bool:
    """Return whether a flow's data packets are ECN-capable."""
    transport = getattr(flow, "transport", None)
    return isinstance(transport, Tcp) and transport.ecn


def _sharing(scenario: CellScenario) -> Iterator[str]:
    """Yield warnings about virtual buffer sharing."""
    classes, queue = scenario.cell.vbs_classes, scenario.cell.ap.queue
    if not classes or not isinstance(queue, Vbs):
        return
    remaining = queue.occupancy * queue.limit_packets
    if remaining < 1.0:
        yield (
            f"`cell.ap_queue.vbs.occupancy`: {queue.occupancy:g} of {queue.limit_packets} packets "
            f"is {remaining:.2g}, less than one packet: a single packet fills this part of the "
            "queue, so that classes are blocked and may starve; it must hold some packets of each "
            "class"
        )
    small = (SensorFlow, PingFlow)
    bulk = [item for item in scenario.flows if item.station and not isinstance(item, small)]
    classed = {name for each in classes for name in each.flows}
    categories = {flow.category for flow in bulk if flow.name in classed}
    outside = [
        flow.name for flow in bulk if flow.name not in classed and flow.category in categories
    ]
    if outside:
        room = queue.occupancy * queue.limit_packets
        yield (
            f"`cell.ap_queue.vbs`: {len(outside)} of {len(bulk)} flows are in no class "
            f"({listed(outside)}): they are never blocked, but they count in the {room:g} packets "
            "from which classes are blocked, and can starve classes; give every flow a class, "
            "except for sensors"
        )
    shares = sum(each.share for each in classes)
    targets = ", ".join(f"{each.name} {each.target_share:.3g}" for each in classes)
    if any(each.target_share != each.share for each in classes):
        yield (
            f"`cell.ap_queue.vbs.class`: shares sum to {shares:.3g}; they are relative to the sum "
            f"of all classes, so that the targets are {targets}"
        )
    flows = {flow.name: flow.direction for flow in bulk}
    rare = [each.name for each in classes if not flows.keys() & set(each.flows)]
    if rare:
        yield (
            f"`cell.ap_queue.vbs.class`: {listed(rare)}: only sensors, which seldom have a packet; "
            "the other classes get the rest, and targets hold for busy classes"
        )
    ways = [{flows[name] for name in each.flows if name in flows} for each in classes]
    if {"up"} in ways and {"down"} in ways:
        yield from _both_ways(queue)
    elif queue.algorithm == "corrected":
        yield from _drift(scenario, classes)


def _both_ways(queue: Vbs) -> Iterator[str]:
    """Yield a warning if virtual buffer sharing has classes of uploads and classes of downloads."""
    if queue.share_of == "queue":
        yield (
            "`cell.ap_queue.vbs.share_of`: classes of uploads have only ACKs in the queue and need "
            "few of them, so that shares of the queue are not shares of goodput. With equal shares "
            "uploads get two to five times as much as downloads; for shares of goodput use "
            'share_of = "service" with algorithm = "regulated"'
        )
    elif queue.algorithm == "corrected":
        yield (
            '`cell.ap_queue.vbs`: algorithm = "corrected" gives uploads 1.2 to 1.6 times the '
            'goodput of downloads with the same target; algorithm = "regulated" holds targets'
        )


def _drift(scenario: CellScenario, classes: Sequence[VbsClass]) -> Iterator[str]:
    """Yield a warning if Algorithm 1 in its corrected form misses the target share of a class.

    While the queue is below its target occupancy, the algorithm accepts packets of all classes."""
    flows = {flow.name: flow for flow in scenario.tcp_flows}

    def connections(each: VbsClass) -> float:
        tcp = (flows[name] for name in each.flows if name in flows)
        return sum(_presence(flow, scenario) for flow in tcp)

    counts = [connections(each) for each in classes]
    total = sum(counts)
    if not all(counts):
        return
    misses = [
        (abs(count / total - each.target_share) / each.target_share, each, count)
        for each, count in zip(classes, counts, strict=True)
    ]
    miss, each, count = max(misses, key=lambda each: each[0])
    if DRIFT * miss <= MISSED:
        return
    target, natural = each.target_share, count / total
    yield (
        f"`cell.ap_queue.vbs`: class {each.name} has the target {target:.3g}, with {count:.3g} "
        f'of {total:.3g} connections: algorithm = "corrected" has no effect below its occupancy. '
        f"The share is up to {DRIFT * abs(natural - target):.2g} closer to {natural:.3g}, and more "
        'with channel errors; algorithm = "regulated" holds targets (model vbs predicts the '
        "target for both)"
    )


def _presence(flow: Flow, scenario: Scenario) -> float:
    """Return the fraction of the measured time in which a flow may send. [-]"""
    warmup, duration = scenario.warmup_s, scenario.duration_s
    stop = duration if flow.stop_s is None else min(flow.stop_s, duration)
    return max(stop - max(flow.start_s, warmup), 0.0) / (duration - warmup)


def _noise(scenario: CellScenario) -> Iterator[str]:
    """Yield a warning for each table of stations whose rate is too high for its signal-to-noise
    ratio.
    """
    groups = {each.group: each for each in reversed(scenario.stations)}
    noisy = {each.name: each for each in groups.values() if any(_ratios(each))}
    if not noisy:
        return
    frames = _longest_frames(scenario, noisy)
    for name, station in reversed(noisy.items()):
        for snr_db, since in _ratios(station):
            yield from _too_fast(scenario, station, frames[name], snr_db, since)


def _ratios(station: Station) -> Iterator[tuple[float, str]]:
    """Yield each signal-to-noise ratio of a station, with a text on when it begins."""
    if station.snr_db is not None:
        yield station.snr_db, ""
    for change in station.channel_changes:
        if change.snr_db is not None:
            yield change.snr_db, f" from {change.at_s:g} s on"


def _too_fast(
    scenario: CellScenario,
    station: Station,
    frames: Mapping[str, int],
    snr_db: float,
    since: str,
) -> Iterator[str]:
    """Yield a warning about the direction with the highest frame error rate, if it exceeds
    `LOSSY`.
    """
    if station.mcs is not None and station.streams is not None:
        yield from _mcs_too_high(station, station.mcs, station.streams, frames, snr_db, since)
        return
    phy, falls_back = scenario.cell.phy, scenario.cell.rate_control == "arf"
    losses = []
    for way, length in frames.items():
        nominal = station.rate_bps if way == "up" else station.downlink_rate_bps
        bps = min(_core.data_rates(phy)) if falls_back else nominal
        losses.append((frame_error(bps, length, snr_db), bps, length))
    lost, bps, length = max(losses, key=lambda each: each[0], default=(0.0, 0.0, 0))
    if lost <= LOSSY:
        return
    best = highest_rate(phy, max(frames.values()), snr_db, bps)
    if best is not None:
        works = f'rate = "{best / 1e6:g} Mbps" is the highest that works'
    else:
        works = f"no rate of {phy} works"
    yield (
        f"`{station.table}`: at snr = {snr_db:g} dB{since} {bps / 1e6:g} Mb/s loses "
        f"{100 * lost:.3g} % of its frames of {length} B; {works}"
    )


def _mcs_too_high(
    station: Station,
    mcs: int,
    streams: int,
    frames: Mapping[str, int],
    snr_db: float,
    since: str,
) -> Iterator[str]:
    """Yield a warning if the MCS of a station is too high; nothing if the MCS is derived from the
    SNR.
    """
    if station.mcs_by_snr:
        return
    length = max(frames.values(), default=0)
    lost = mcs_frame_error(mcs, streams, length, snr_db)
    if lost <= LOSSY:
        return
    best = highest_mcs(mcs, streams, length, snr_db)
    if best is not None:
        works = f"mcs = {best} is the highest that works, and without `mcs` the SNR chooses it"
    else:
        works = "no MCS works"
    yield (
        f"`{station.table}`: at snr = {snr_db:g} dB{since} mcs = {mcs} loses {100 * lost:.3g} % of "
        f"its frames of {length} B; {works}"
    )


def _longest_frames(scenario: CellScenario, stations: Collection[str]) -> dict[str, dict[str, int]]:
    """Return the length of the longest frame per station and direction. [bytes]"""
    cell = scenario.cell
    around = cell.mac_header_bytes + cell.llc_bytes
    frames: dict[str, dict[str, int]] = {name: {} for name in stations}
    for flow in scenario.flows:
        if flow.station not in frames:
            continue
        longest, transport = frames[flow.station], flow.transport
        packets = {flow.direction: transport.packet_bytes}
        if isinstance(transport, Tcp):
            packets["down" if flow.is_up else "up"] = transport.header_bytes
        elif isinstance(transport, Ping):
            packets["down" if flow.is_up else "up"] = transport.packet_bytes
        for way, length in packets.items():
            longest[way] = max(longest.get(way, 0), length + around)
    return frames


def _greedy(scenario: CellScenario) -> Iterator[str]:
    """Yield a warning about greedy downlink sources, which starve other flows in the same queue."""
    # A virtual shared bottleneck prevents starvation.
    if scenario.vsb is not None:
        return
    down = [flow for flow in scenario.flows if isinstance(flow, UdpFlow) and not flow.is_up]
    greedy = {flow.name: flow.category for flow in down if flow.udp.arrivals == "greedy"}
    through = [
        flow.name
        for flow in scenario.flows
        if flow.name not in greedy
        and flow.category in greedy.values()
        and not (isinstance(flow, UdpFlow) and flow.is_up)
    ]
    if greedy and through:
        yield (
            f"{listed(list(greedy))}: a greedy source fills every free place of its queue, so that "
            f"{listed(through)} may get nothing; give it a rate"
        )


def _conflicts(scenario: CsmaScenario) -> Iterator[str]:
    """Yield warnings about settings of a conflict graph."""
    csma = scenario.csma
    conflicts = csma.conflicts
    routes = {flow.class_name: flow.route for flow in csma.flows}
    for name, route in routes.items():
        apart = [
            (item, other)
            for item, other in pairwise(route)
            if item in conflicts and other in conflicts and other not in conflicts[item]
        ]
        if apart:
            link, other = apart[0]
            more = f" (and {len(apart) - 1} more pairs)" if len(apart) > 1 else ""
            yield (
                f"`flow.{name}.route`: links {link} and {other} follow each other without a "
                f"conflict{more}: the node between them would send and receive simultaneously; "
                f'add it, csma.link.{link}.conflicts = ["{other}"]'
            )
    adaptive = csma.access == "adaptive" and any(link.r is None for link in csma.links)
    unbound = adaptive and not csma.aqm and csma.r_max is None
    if unbound and any(flow.tcp is not None for flow in csma.flows):
        most = csma.r_per_packet * csma.queue_packets
        yield (
            "`csma.aqm` = false without r_max: only full queues signal the cost of a link to TCP, "
            f"so that every r grows with its queue, up to {most:.3g} at csma.queue = "
            f"{csma.queue_packets}. All links get similar r; set csma.aqm = true, or csma.r_max"
        )
