"""Assumptions of the 802.11e model (section 3.1 of its paper), and checks of a scenario for
violations.

If a scenario breaks assumptions, :class:`~lasthop.models.errors.ModelError` names all of them. If
it nearly breaks an assumption, the prediction has a warning that the user must consider.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lasthop.models.cells import (
    active_stations,
    disturbing,
    long_lived,
    lossless_wire,
    managed,
    runs_bbr,
    several_categories,
    station_flows,
    unsteady_flows,
)
from lasthop.models.checks import Check, Each, Messages, Table, violations
from lasthop.models.edca.cell import Cell
from lasthop.models.edca.options import Options
from lasthop.models.edca.solve import Performance, packets_held_together
from lasthop.models.errors import Doubt, ModelError, refuse
from lasthop.scenario.typed import CellScenario, Station

OVERFLOW = 1e-6
"""Largest fraction of time for which the AP's queue may exceed its limit. Above this fraction,
assumption a1 is broken. [-]
"""

DISCARD_DOUBTED, DISCARD_BROKEN = 1e-4, 2e-2
"""Probabilities that a frame is discarded. From the first value on, the model warns about
assumption a3; from the second value on, it refuses the scenario. [-]
"""

SMALL_WINDOW = 15
"""CWmin below which p-persistent backoff differs noticeably from exponential backoff. [slots]"""

HELD_ELSEWHERE = 0.5
"""Limit for two quantities; assumption a5 is broken if one of them exceeds it. The first quantity
is the load of the wired link. The second is the number of packets on the wire and in ACK
processing, divided by the number of packets in the AP's queue. [-]
"""


def check_scenario(scenario: CellScenario) -> list[Doubt]:
    """Return warnings about a scenario, before it is solved.

    Raises
    ------
    ModelError
        If the scenario breaks assumptions.
    """
    if not scenario.flows:
        raise ModelError("a4", "the scenario has no connection")
    refuse(violations(REFUSED, scenario))
    return list(violations(DOUBTED, scenario))


def _queues(scenario: CellScenario) -> Iterator[str]:
    return (
        f"{queue}, and may lose packets although it has room for them"
        for queue in managed(scenario)
    )


def _windows(scenario: CellScenario) -> dict[str, int]:
    """Return the total window of each station with connections. [packets]"""
    windows: dict[str, int] = {}
    for flow in scenario.tcp_flows:
        windows[flow.station] = windows.get(flow.station, 0) + flow.tcp.window_packets
    return windows


def _overflowing(scenario: CellScenario) -> Iterator[str]:
    """Yield a message about each station whose total window exceeds the limit of its queue."""
    for name, window in _windows(scenario).items():
        station = scenario.station[name]
        if window > station.queue_packets:
            own = (flow for flow in scenario.tcp_flows if flow.station == name)
            keys = " and ".join(dict.fromkeys(f"`{scenario.flow_key(flow)}`" for flow in own))
            room = f"`{station.table}.queue` has room for {station.queue_packets}"
            yield f"{room} of the {window} packets of {keys}"


def _unequal_windows(scenario: CellScenario) -> Iterator[str]:
    windows = _windows(scenario)
    if len(set(windows.values())) > 1:
        least, most = min(windows, key=windows.__getitem__), max(windows, key=windows.__getitem__)
        yield (
            f"stations `{least}` and `{most}` have windows of {windows[least]} and {windows[most]} "
            "packets; the chain needs equal windows"
        )


def _unequal_access(scenario: CellScenario) -> Iterator[str]:
    """Yield a message about each access parameter in which stations differ."""
    categories = {flow.category for flow in scenario.flows}
    if len(categories) > 1:
        return
    first, *others = active_stations(scenario)
    [category] = categories
    expected = access_values(first, category)
    results = [(other, access_values(other, category)) for other in others]
    for key, here in expected.items():
        for other, values in results:
            if values[key] != here:
                yield (
                    f"stations `{first.name}` and `{other.name}` differ in {key}, "
                    f"{here} and {values[key]}; the chain needs equal stations"
                )
                break


def access_values(node: Station, category: str) -> dict[str, Any]:
    """Return the settings that determine a station's access to the medium, by name."""
    access = node.access(category)
    keys = ("cwmin", "cwmax", "aifsn", "txop_packets", "txop_limit_s")
    return {key: getattr(access, key) for key in keys} | {"attempts_short": node.attempts_short}


def _has_rts_bursts(scenario: CellScenario) -> bool:
    nodes = (scenario.cell.ap, *active_stations(scenario))
    return scenario.cell.rts_threshold_bytes is not None and any(node.has_bursts for node in nodes)


def _ends_bursts(scenario: CellScenario) -> bool:
    nodes = (scenario.cell.ap, *scenario.stations)
    return scenario.cell.cf_end and any(node.txop_limit_s is not None for node in nodes)


DELAYED_ACK = "`{0.key}` delays its ACKs, `tcp.delayed_ack` = true"

BBR = (
    "`{0.key}` runs {0.tcp.congestion}, which does not fill its receive window; expected "
    "another congestion control"
)

REFUSED: Table[CellScenario] = (
    Each(
        station_flows,
        *long_lived("a4"),
        Check("a2", lambda flow: flow.tcp and flow.tcp.delayed_ack, DELAYED_ACK),
        Check("a4", runs_bbr, BBR),
    ),
    lossless_wire("a3"),
    Messages("a3", lambda scenario: disturbing(active_stations(scenario))),
    Messages("a1", _queues),
    Messages("a1", _overflowing),
    Messages("a4", _unequal_windows),
    Messages("section 2.1", several_categories),
    Messages("section 2.2", _unequal_access),
    Check("section 4", _has_rts_bursts, "RTS in a transmission opportunity of several packets"),
)
"""Checks whose violation makes the model refuse a scenario."""

DOUBTED: Table[CellScenario] = (
    Messages("a4", unsteady_flows),
    Check(
        "section 2.2",
        lambda scenario: scenario.cell.ack_timeout_s is not None,
        "colliding nodes are taken to wait for EIFS, not for `cell.ack_timeout`",
    ),
    Check("section 4", _ends_bursts, "the time that CF-End frames take is left out"),
)
"""Checks whose violation causes a warning about a scenario that the model accepts."""


@dataclass(frozen=True)
class Finding:
    """An assumption that the solution breaks or nearly breaks."""

    assumption: str
    message: str
    broken: bool = True


def check_performance(
    scenario: CellScenario, cell: Cell, performance: Performance, options: Options
) -> list[Doubt]:
    """Return warnings about the solution.

    Raises
    ------
    ModelError
        If the solution breaks assumptions.
    """
    findings = [
        *_ap_queue(scenario.cell.ap.queue_packets, performance),
        *_delays(scenario, performance),
        *_given_up(cell, performance),
        *_small_windows(cell, performance),
        *_order(cell, performance, options),
    ]
    refuse((each.assumption, each.message) for each in findings if each.broken)
    return [(each.assumption, each.message) for each in findings]


def _ap_queue(limit: int, performance: Performance) -> Iterator[Finding]:
    queue, time = performance.queue_time
    if queue.max() <= limit:
        return
    above = float(np.sum(time[queue > limit]))
    yield Finding(
        "a1",
        f"the windows do not fit the AP's queue, `cell.ap_queue` = {limit}, which would be "
        f"exceeded for {100 * above:.3g} % of the time",
        above > OVERFLOW,
    )


def _delays(scenario: CellScenario, performance: Performance) -> Iterator[Finding]:
    """Yield findings about the packets on the wire and in ACK processing, compared with the packets
    in the AP's queue.
    """
    wire = scenario.wire
    slowest = max(scenario.tcp_flows, key=lambda flow: flow.tcp.ack_processing_s)
    delays_s = {
        "the wire (`wire.delay`)": 2.0 * wire.delay_s,
        f"the ACK processing of `{scenario.flow_key(slowest)}`": slowest.tcp.ack_processing_s,
    }
    held = {
        where: delay_s * performance.packet_rate for where, delay_s in delays_s.items() if delay_s
    }
    if held:
        what = " and ".join(f"{where} would hold {count:.1f}" for where, count in held.items())
        what += f" packets, the AP's queue {performance.ap_queue:.1f}"
        if sum(held.values()) >= HELD_ELSEWHERE * performance.ap_queue:
            yield Finding("a5", f"{what}: the cell is not the bottleneck")
        else:
            yield Finding("a5", what, broken=False)
    rate_bps = wire.slower_bps
    if rate_bps is not None and performance.goodput_bps >= HELD_ELSEWHERE * rate_bps:
        load = performance.goodput_bps / rate_bps
        yield Finding("a5", f"the cell would load the wire to {load:.2f} of `wire.rate`")


def _given_up(cell: Cell, performance: Performance) -> Iterator[Finding]:
    for who, where, access, discard in (
        ("the AP", "cell.ap", cell.ap_access, performance.ap_discard),
        ("a station", "cell", cell.station_access, performance.station_discard),
    ):
        if discard >= DISCARD_DOUBTED:
            broken = discard >= DISCARD_BROKEN
            most = DISCARD_BROKEN if broken else DISCARD_DOUBTED
            yield Finding(
                "a3",
                f"{who} gives up a frame with probability {discard:.1g}, above {100 * most:g} %, "
                f"at `{where}.attempts_short` = {access.attempts}; a larger one, or a larger "
                "CWmin, lowers it",
                broken,
            )


def _small_windows(cell: Cell, performance: Performance) -> Iterator[Finding]:
    nodes = [cell.station_access]
    if performance.solver != "pifs":  # with PIFS access the AP has no backoff
        nodes.append(cell.ap_access)
    smallest = min(access.cwmin for access in nodes)
    if smallest < SMALL_WINDOW:
        yield Finding(
            "section 2.2",
            f"CWmin {smallest} is below {SMALL_WINDOW}; exponential backoff then favours the last "
            "winner, which p-persistent backoff does not",
            broken=False,
        )


def _order(cell: Cell, performance: Performance, options: Options) -> Iterator[Finding]:
    limit = cell.ap_access.txop_packets
    if max(limit, cell.station_access.txop_packets) == 1:
        return
    bursts = min(cell.station_access.txop_packets, cell.window) > 1
    ordered = (options.ap_queue or cell.ap_queue) == "fifo"
    if ordered and bursts and packets_held_together(cell) == 1:
        yield Finding(
            "section 4",
            "the stations' TXOP limit does not divide the window and the AP's limit; solved for a "
            "mixed AP queue, whose goodput is up to about 2 % below a FIFO queue's",
            broken=False,
        )
    if performance.solver == "lumped":
        long = 2 * limit > cell.size * cell.window
        how = "1.6 % in goodput, 30 %" if long else "0.6 % in goodput, 13 %"
        yield Finding(
            "section 4.1",
            f"with TXOP the lumped chain is accurate to about {how} in active stations",
            broken=False,
        )
