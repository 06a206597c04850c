"""Prediction of the 802.11e model for a scenario."""

from collections.abc import Sequence

from lasthop.models.access import Access
from lasthop.models.answer import CellValues, Lists, Quantities, prediction
from lasthop.models.cells import active_stations, cell_scenario, is_cell
from lasthop.models.dcf import airtime
from lasthop.models.edca.assumptions import check_performance, check_scenario
from lasthop.models.edca.cell import Cell, Connection, Packet, StationTraffic
from lasthop.models.edca.options import Options
from lasthop.models.edca.solve import Performance, solve
from lasthop.models.errors import ModelError
from lasthop.scenario import typed
from lasthop.scenario.typed import CellScenario, Node, Readable, Scenario, Station, TcpFlow


def suits(scenario: Scenario) -> bool:
    """Return whether a scenario meets all assumptions of the 802.11e model.

    Each station that has a flow must have exactly one long-lived TCP connection. Windows and the
    stations' access parameters must be equal, and every segment must be acknowledged immediately.
    The wire and the channel must lose no packets, and the wire and ACK processing must have no
    delay. Every queue must have room for all packets that can be outstanding.
    """
    if not is_cell(scenario) or len({each.station for each in scenario.flows}) < len(
        scenario.flows
    ):
        return False
    try:
        known = cell_scenario(scenario)
        doubts = check_scenario(known)
        cell_of(known, Options())
    except ModelError:
        return False
    connections = [flow.tcp for flow in known.tcp_flows]
    return (
        not doubts
        and not any(tcp.ack_processing_s for tcp in connections)
        and known.wire.delay_s == 0.0
        and known.wire.slower_bps is None
        and sum(tcp.window_packets for tcp in connections) <= known.cell.ap.queue_packets
    )


def predict(scenario: Readable, options: Options | None = None) -> Quantities:
    """Predict goodput, contention and queues of a cell with TCP traffic.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, as a `Scenario` or a mapping. ``txop_packets`` and ``txop_limit_s`` of
        a node limit its bursts, and ``queue_order`` of the AP is the order of its queue.
    options : Options, optional
        Choices where the paper leaves a rule open; by default the rules of lasthop's simulation
        engine.

    Returns
    -------
    dict
        A result of kind ``"prediction"``. The cell has ``goodput_bps`` [bit/s],
        ``active_stations``, ``jain`` and ``updown_ratio`` [-]. Stations and flows have
        ``goodput_bps`` and ``goodput_share``, flows ``rtt_s`` [s]. Stations and the AP have
        ``collision_rate`` [-] and ``queue_packets`` [packets]. Other values are ``solver``,
        ``states``, ``options``, and the lists ``assumptions`` and ``warnings``. Values that the
        model does not predict are absent.

    Raises
    ------
    ModelError
        If the scenario breaks an assumption of the model.
    ConvergenceError
        If a solver does not converge.
    """
    scenario = cell_scenario(scenario)
    options = options or Options()
    warnings = check_scenario(scenario)
    cell = cell_of(scenario, options)
    try:
        result = solve(cell, options)
    except ValueError as error:
        raise ModelError("section 2.2", str(error)) from error
    warnings += check_performance(scenario, cell, result, options)
    return prediction(
        "edca",
        scenario,
        _lists(scenario, result),
        warnings,
        solver=result.solver,
        states=result.states,
        options=options.to_dict(),
    )


def cell_of(scenario: CellScenario, options: Options) -> Cell:
    """Return the cell of the model for a scenario of TCP flows; stations without flows are left
    out.

    Parameters
    ----------
    scenario : CellScenario
        Scenario that `check_scenario` has accepted.
    options : Options
        Choices where the paper leaves a rule open; ``eifs_rate_bps`` replaces the rate of the
        scenario.

    Raises
    ------
    ModelError
        If a TXOP limit in seconds does not allow the same number of packets for all stations.
    """
    cell = scenario.cell
    nodes = active_stations(scenario)
    category = scenario.flows[0].category
    stations = tuple(
        StationTraffic(
            tuple(
                _connection(cell, node, flow)
                for flow in scenario.tcp_flows
                if flow.station == node.name
            )
        )
        for node in nodes
    )
    accesses = [
        _access(cell, node, category, [connection.up for connection in station.connections])
        for node, station in zip(nodes, stations, strict=True)
    ]
    if len({access.txop_packets for access in accesses}) > 1:
        raise ModelError(
            "section 4", "a TXOP limit in time holds more packets of one station than of another"
        )
    down = [connection.down for station in stations for connection in station.connections]
    return Cell(
        stations=stations,
        station_access=accesses[0],
        ap_access=_access(cell, cell.ap, category, down),
        slot_s=cell.slot_s,
        sifs_s=cell.sifs_s,
        eifs_lead_s=airtime.eifs_lead_s(cell, options.eifs_rate_bps),
        ap_queue=cell.ap.queue_order,
    )


def _access(cell: typed.Cell, node: Node, category: str, packets: Sequence[Packet]) -> Access:
    """Return the access parameters of a node. A TXOP limit in seconds is converted to the number of
    packets of this node that fit into it.
    """
    own = node.access(category)
    lengths = {packet.exchange_s for packet in packets}
    if own.txop_limit_s is not None and len(lengths) > 1:
        raise ModelError(
            "section 4", "a TXOP limit in time holds different numbers of packets of unequal length"
        )
    return Access.of(node, category, airtime.packets_in_txop(cell, own, min(lengths)))


def _connection(cell: typed.Cell, node: Station, flow: TcpFlow) -> Connection:
    tcp = flow.tcp

    def packet(payload: int, rate: float, sender: float, receiver: float) -> Packet:
        size = payload + tcp.header_bytes
        return Packet(
            exposed_s=airtime.first_frame_s(cell, size, rate, sender),
            exchange_s=airtime.exchange_s(cell, size, rate, sender, receiver),
            payload_bytes=payload,
        )

    up, down = (tcp.mss_bytes, 0) if flow.is_up else (0, tcp.mss_bytes)
    return Connection(
        window=tcp.window_packets,
        up=packet(up, node.rate_bps, *node.uplink_control_bps),
        down=packet(down, node.downlink_rate_bps, *node.downlink_control_bps),
    )


def _lists(scenario: CellScenario, performance: Performance) -> Lists:
    """Return the predictions of stations and flows.

    A station's goodput is divided among its flows in proportion to their windows and payloads. The
    whole window of a flow is always outstanding. By Little's law, its round-trip time is therefore
    the window divided by the rate of its segments.
    """
    values = CellValues(scenario, performance.goodput_bps)
    nodes = (node.name for node in active_stations(scenario))
    goodputs = dict(zip(nodes, performance.station_goodput_bps, strict=True))
    for name, goodput_bps in goodputs.items():
        values.stations[name] = values.shares(goodput_bps) | {
            "collision_rate": performance.station_collision_rate,
            "queue_packets": performance.station_queue,
        }
    values.ap = {
        "collision_rate": performance.ap_collision_rate,
        "queue_packets": performance.ap_queue,
    }
    weights = [flow.tcp.window_packets * flow.tcp.mss_bytes for flow in scenario.tcp_flows]
    totals = dict.fromkeys(goodputs, 0)
    for flow, weight in zip(scenario.tcp_flows, weights, strict=True):
        totals[flow.station] += weight
    for flow, weight in zip(scenario.tcp_flows, weights, strict=True):
        own_bps = goodputs[flow.station] * weight / totals[flow.station]
        values.flows.append((flow, own_bps, {"rtt_s": 8.0 * weight / own_bps}))
    return values.lists(performance.active_stations)
