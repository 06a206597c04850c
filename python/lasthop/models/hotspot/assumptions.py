"""Assumptions of the hot-spot model (Tab. 1 of paper 002), and checks of a scenario for violations.

If a scenario breaks an assumption, :class:`~lasthop.models.errors.ModelError` is raised. If it
nearly breaks an assumption, the prediction has a warning that the user must consider.
"""

from collections.abc import Iterator, Sequence

from lasthop.models import cells
from lasthop.models.cells import StationFlow, is_aggregating, station_flows
from lasthop.models.checks import Check, Each, Messages, Table, violations
from lasthop.models.errors import Doubt, ModelError, refuse
from lasthop.models.hotspot.station import Equilibrium, StationLoad
from lasthop.scenario.typed import BEST_EFFORT, CellScenario, Station

RENO = ("reno", "newreno")
"""Congestion controls that the model supports."""

CRITICAL_LOSS = 4.0 / 19.0
r"""Loss probability p at which Padhye's mean window W(p) is three segments, with delayed ACKs. At a
higher loss probability every loss ends in a timeout, and fewer than about one segment arrives per
round-trip time. [-]
"""

LOST_WINDOW_OF_ACKS = 1e-3
"""A warning about assumption a4 is issued if the probability that all ACKs of an upload's window
are lost exceeds this value. [-]
"""

MIN_BETA = 0.5
"""Access priority beta of a station below which the AP's buffer is not always full (footnote 13).
[-]
"""

AGGREGATES_OFF = (7.5, 11.5)
"""Largest difference between predicted and simulated goodput shares in 881 cells with aggregation
and without losses. The first value is for 95 % of the shares, the second for all shares.
``docs/papers/hotspot.md`` describes the cells. [percentage points]
"""

EXPIRED_OFF = (15, 34)
"""Largest difference between predicted and simulated goodput shares in 264 simulated cells. In
these cells, a ratio of two times exceeds its limit `SHORT_OF_TIMERS`. The first value is for 95 %
of the shares, the second for all shares. [percentage points]
"""

SHORT_OF_TIMERS = 0.5
"""Ratio of two times: the air time of all downloads' full windows, and the least retransmission
timeout. Above this ratio, retransmission timers expire while the queue grows. [-]
"""

DISCARD_DOUBTED, DISCARD_BROKEN = 1e-3, 2e-2
"""Probabilities that the MAC layer discards a frame. From the first value on, the model warns about
assumption a7; from the second value on, it refuses the scenario. [-]
"""


def _is_no_reno(flow: StationFlow) -> bool:
    """Return whether a connection has a congestion control that the model does not support.

    In a cell with aggregation the model requires that no packet is lost. The window of a connection
    then equals the receive window with every congestion control except BBR.
    """
    is_other = flow.tcp is not None and flow.tcp.congestion not in RENO
    return is_other and (cells.runs_bbr(flow) or not is_aggregating(flow.scenario))


def _limits_time(scenario: CellScenario) -> bool:
    nodes = (scenario.cell.ap, *scenario.stations)
    return any(node.access(BEST_EFFORT).txop_limit_s is not None for node in nodes)


NO_RENO = "`{0.key}` runs {0.tcp.congestion}; expected `tcp.congestion` = reno or newreno"
REFUSED: Table[CellScenario] = (
    cells.lossless_wire("a1"),
    Messages("a7", lambda scenario: cells.disturbing(scenario.stations)),
    Messages("a5", cells.managed),
    Each(station_flows, *cells.long_lived("section 3"), Check("a3", _is_no_reno, NO_RENO)),
)
"""Checks whose violation makes the model refuse a scenario."""

DOUBTED: Table[CellScenario] = (
    Check(
        "a7",
        _limits_time,
        "`txop_limit` is a time, which the model ignores: with `txop_packets` an access is worth "
        "as many frames",
    ),
    Check(
        "a3",
        cells.any_connection(lambda tcp: tcp.congestion == "newreno"),
        "`tcp.congestion` is newreno, the default in cells of 802.11a, b and g: NewReno has fewer "
        "timeouts than the Reno of the model, which matters where downloads lose packets; "
        "`--set tcp.congestion=reno` simulates the Reno of the model",
    ),
    Check(
        "a3",
        cells.any_connection(lambda tcp: not tcp.delayed_ack),
        "immediate ACKs are beyond the paper; solved with one segment per ACK (b = 1)",
    ),
    Check(
        "a3",
        cells.any_connection(lambda tcp: tcp.outgrows_acks),
        "windows of the model grow per ACK, not per segment (`byte_counting`)",
    ),
    Check(
        "a3",
        cells.any_connection(lambda tcp: tcp.delayed_ack and tcp.window_packets == 1),
        "with a window of one segment every delayed ACK waits for its timer",
    ),
    Messages("section 3", cells.unsteady_flows),
)
"""Checks whose violation causes a warning about a scenario that the model accepts."""


def check_scenario(scenario: CellScenario) -> Iterator[Doubt]:
    """Yield warnings about a scenario, before it is solved.

    Raises
    ------
    ModelError
        If the scenario breaks assumptions; all of them are named.
    """
    if not scenario.flows:
        raise ModelError("section 3", "the scenario has no connection")
    # `refuse` drops equal messages, so that stations of the same table are reported only once.
    refuse(violations(REFUSED, scenario))
    yield from _check_retries(scenario)
    yield from violations(DOUBTED, scenario)


def check_aggregates(scenario: CellScenario) -> Iterator[Doubt | str]:
    """Yield warnings about a cell whose exchanges have several packets.

    Raises
    ------
    ModelError
        If the wire has a delay. The model converts the delay to packets by the air time of a
        packet. Aggregated packets, however, share the air time of a PPDU.
    """
    if scenario.wired_round_trip_s > 0.0:
        raise ModelError(
            "a1",
            f"a cell of {scenario.cell.phy} sends several packets in one exchange, and "
            "`wire.delay` counts as packets by the time of each",
        )
    usual, most = AGGREGATES_OFF
    yield (
        f"a cell of {scenario.cell.phy} sends several packets in one exchange, past those to "
        f"others: of simulated cells 95 % had shares within {usual:g} points of the prediction, "
        f"all within {most:g}"
    )
    drain_s, min_rto_s = _drain_s(scenario), _min_rto_s(scenario)
    if drain_s >= SHORT_OF_TIMERS * min_rto_s:
        usual, most = EXPIRED_OFF
        yield (
            "a3",
            f"full windows of all downloads take {1e3 * drain_s:.3g} ms at the stations' rates: "
            f"while the queue grows, timers expire (`tcp.min_rto` = {1e3 * min_rto_s:g} ms) and "
            "windows are not full again for minutes; of such simulated cells 95 % had shares "
            f"within {usual:g} points of the prediction, all within {most:g}",
        )


def aggregates_off(scenario: CellScenario) -> float:
    """Return the largest documented difference of predicted and simulated goodput shares for a cell
    with aggregation. [percentage points]
    """
    expires = _drain_s(scenario) >= SHORT_OF_TIMERS * _min_rto_s(scenario)
    return max(EXPIRED_OFF if expires else AGGREGATES_OFF)


def _min_rto_s(scenario: CellScenario) -> float:
    """Return the least retransmission timeout of the flows. [s]"""
    return min(flow.tcp.min_rto_s for flow in scenario.tcp_flows)


def _drain_s(scenario: CellScenario) -> float:
    """Return the air time of the full windows of all downloads at the stations' rates. [s]"""
    return sum(
        8.0
        * flow.tcp.window_packets
        * flow.tcp.packet_bytes
        / scenario.station[flow.station].downlink_rate_bps
        for flow in scenario.tcp_flows
        if not flow.is_up
    )


def _check_retries(scenario: CellScenario) -> Iterator[Doubt]:
    # A collision destroys an RTS, or a data frame that is sent without RTS. The limit of attempts
    # is `attempts_short` in both cases.
    ap = scenario.cell.ap
    for station in scenario.stations:
        attempts = min(station.attempts_short, ap.attempts_short)
        # With two contenders, the other node begins to send in a slot with a probability of at most
        # 2 / (CW + 1). Later attempts collide less often, since windows double after a collision.
        collision = min(1.0, 2.0 / (min(station.cwmin, ap.cwmin) + 1.0))
        discard = collision**attempts
        if discard < DISCARD_DOUBTED:
            continue
        broken = discard >= DISCARD_BROKEN
        most = DISCARD_BROKEN if broken else DISCARD_DOUBTED
        what = (
            f"the MAC of AP or station `{station.name}` gives up a frame with probability "
            f"up to {discard:.1g}, above {100 * most:g} %, at `attempts_short` = {attempts}; a "
            "larger one, or a larger CWmin, lowers it"
        )
        if broken:
            raise ModelError("a7", what)
        yield "a7", what
        return


def check_access(nodes: Sequence[Station], stations: Sequence[StationLoad]) -> Iterator[Doubt]:
    """Yield warnings about the access priorities; `nodes` and `stations` are those of
    :func:`check_equilibrium`.
    """
    for node, station in zip(nodes, stations, strict=True):
        if station.beta < MIN_BETA:
            yield (
                "a5",
                f"the AP is much more aggressive than station `{node.name}` "
                f"(beta = {station.beta:.3g} < {MIN_BETA}); its buffer is not always full",
            )


def check_equilibrium(
    nodes: Sequence[Station], stations: Sequence[StationLoad], at: Equilibrium
) -> Iterator[Doubt]:
    """Yield warnings about the solution.

    Parameters
    ----------
    nodes : sequence of Station
        Stations of the scenario.
    stations : sequence of StationLoad
        Connections and access priorities of `nodes`.
    at : Equilibrium
        Equilibrium of these stations.

    Yields
    ------
    tuple of str
        A nearly broken assumption: its number, and the property to consider.

    Raises
    ------
    ModelError
        If the solution breaks an assumption.
    """
    if at.ap_queue <= 0.0:
        raise ModelError(
            "a1",
            f"the wired round trip holds {at.pipe:.0f} packets, all that the windows allow: "
            "the cell is not the bottleneck",
        )
    if at.pipe > 0.0:
        yield (
            "a1",
            f"wired delay counts as {at.pipe:.1f} packets of AP buffer, from an "
            "estimate of the AP's packet rate",
        )
    if at.neutral:
        yield (
            "section 3",
            "stations and AP also balance at every smaller AP queue; the largest queue is given",
        )
    for node, station, queue in zip(nodes, stations, at.station_queues, strict=True):
        where, limit = f"station `{node.name}`", node.queue_packets
        if queue >= limit:
            raise ModelError(
                "a2",
                f"{where} would queue {queue:.0f} packets in room for {limit}; expected a smaller "
                "`tcp.window` or a longer queue",
            )
        if station.packets_at_station > limit:
            yield (
                "a2",
                f"the windows of {where} ({station.packets_at_station:.0f} packets) do not "
                f"fit its buffer ({limit}); bursts may overflow it",
            )
    yield from _check_starvation(stations, at)


def _check_starvation(stations: Sequence[StationLoad], at: Equilibrium) -> Iterator[Doubt]:
    if at.loss > CRITICAL_LOSS:
        yield (
            "a4",
            f"critical starvation: the AP loses {at.loss:.0%} of its packets, above "
            f"{CRITICAL_LOSS:.0%} every loss is a timeout and connections may never start; "
            "the prediction is a best case of fairness",
        )
    windows = [c for station in stations for c in station.uploads]
    worst = max((at.loss ** (c.window / c.segments_per_ack) for c in windows), default=0.0)
    if worst > LOST_WINDOW_OF_ACKS:
        yield (
            "a4",
            f"an upload loses every ACK of its window with probability {worst:.1g} a round "
            "trip and then waits for a timeout",
        )
