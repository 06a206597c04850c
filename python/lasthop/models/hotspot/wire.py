r"""Wired delay in the hot-spot model (hot-spot paper, footnote 19).

The footnote subtracts from the AP's buffer the packets that the wire holds. How many these
are depends on rates: with round trips measured in AP service times, a connection of window W
has :math:`W P / (Q_{ap} + P + Q_i/\beta_i)` of them, where

.. math:: P = RTT_{wire} / \tau

is the number of packets that the AP sends during the wired round trip and :math:`\tau` its
service time. Put into Eqs. (10) and (13), and (19), (20) and (24), this turns
:math:`Q_{ap}` (or B) into :math:`Q_{ap} + P` (or B + P) everywhere: the wire acts as P more
packets of AP buffer that never overflow. The model itself has no clock, so :math:`\tau` is
taken from the air time of the packet mix that the equilibrium predicts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lasthop.models.dcf.airtime import aifs_s, exchange_s
from lasthop.models.errors import ConvergenceError
from lasthop.models.hotspot.fairness import round_trip
from lasthop.models.hotspot.lossy import solve
from lasthop.models.hotspot.padhye import DELAYED_ACK, sent_per_rtt
from lasthop.models.hotspot.station import Equilibrium, Station

TOLERANCE = 1e-9
"""Change of the pipe at which it is taken. [packets per packet of AP buffer]"""

ITERATIONS = 200
"""Limit of the iteration; about ten are usual."""


@dataclass(frozen=True)
class Traffic:
    """What passes while the AP sends one packet.

    Attributes
    ----------
    ap_service_s : float
        Time between two packets of the backlogged AP, :math:`\\tau`. [s]
    wire_up_bytes, wire_down_bytes : float
        IP bytes that the wire carries meanwhile, from and to the AP. [bytes]
    """

    ap_service_s: float
    wire_up_bytes: float
    wire_down_bytes: float


def traffic(scenario: Mapping[str, Any], stations: Sequence[Station], at: Equilibrium) -> Traffic:
    r"""Service time of the AP and load of the wire at an equilibrium.

    .. math:: \tau = \sum_{packets} (T_{AIFS} + T_{exchange})
              + \sigma\frac{CW_{AP}}2 + \frac{f}{1-f}(T_{max} + \sigma CW_{AP})

    summed over what AP and stations send for each packet of the AP. The backlogged AP counts
    every idle slot, so these are its own backoffs; f is the share of slots in which a
    station begins to send, taken to first order and with one doubling.

    Parameters
    ----------
    scenario : Mapping
        Normalised scenario.
    stations : sequence of Station
        Its stations in the model's terms, in the scenario's order.
    at : Equilibrium
        Their equilibrium.
    """
    cell, ap = scenario["cell"], scenario["cell"]["ap"]
    by_name = {node["name"]: k for k, node in enumerate(scenario["stations"])}
    air = wire_up = wire_down = from_stations = longest = 0.0
    for flow in scenario["flows"]:
        index = by_name[flow["station"]]
        node, tcp = scenario["stations"][index], flow["tcp"]
        upload = flow["direction"] == "up"
        per_ack = DELAYED_ACK if tcp["delayed_ack"] else 1
        window = float(tcp["window_packets"])
        sent = window if upload else sent_per_rtt(at.loss, window, per_ack)
        sent /= round_trip(stations[index], at.station_queues[index], at)
        kept = 1.0 - at.loss
        segments = sent if upload else sent * kept
        acks = sent / per_ack * kept
        segment_bytes = tcp["mss_bytes"] + tcp["header_bytes"]
        ack_bytes = tcp["header_bytes"]
        up_count, down_count = (segments, acks) if upload else (acks, segments)
        up_bytes, down_bytes = (segment_bytes, ack_bytes) if upload else (ack_bytes, segment_bytes)
        up_control = node["uplink_rts_rate_bps"], node["uplink_response_rate_bps"]
        down_control = node["downlink_rts_rate_bps"], node["downlink_response_rate_bps"]
        up_s = exchange_s(cell, up_bytes, node["rate_bps"], *up_control)
        down_s = exchange_s(cell, down_bytes, node["downlink_rate_bps"], *down_control)
        air += up_count * (aifs_s(cell, node["aifsn"]) + up_s)
        air += down_count * (aifs_s(cell, ap["aifsn"]) + down_s)
        from_stations += up_count
        longest = max(longest, up_s, down_s)
        wire_up += up_count * up_bytes
        wire_down += down_count / kept * down_bytes
    backoff = ap["cwmin"] / 2.0
    collision = from_stations / (backoff + from_stations + 1.0)
    air += cell["slot_s"] * backoff
    air += collision / (1.0 - collision) * (longest + cell["slot_s"] * ap["cwmin"])
    return Traffic(air, wire_up, wire_down)


def wired_round_trip_s(scenario: Mapping[str, Any]) -> float:
    """Round-trip time of the wire for a full segment and an ACK, without queueing. [s]"""
    wire = scenario["wire"]
    time = 2.0 * float(wire["delay_s"])
    if wire["rate_bps"] is not None and scenario["flows"]:
        tcp = scenario["flows"][0]["tcp"]
        time += 8.0 * (tcp["mss_bytes"] + 2 * tcp["header_bytes"]) / wire["rate_bps"]
    return time


def solve_with_wire(scenario: Mapping[str, Any], stations: Sequence[Station]) -> Equilibrium | None:
    r"""Equilibrium with the packets that the wired round trip holds, :math:`P`.

    Parameters
    ----------
    scenario : Mapping
        Normalised scenario of TCP flows.
    stations : sequence of Station
        Its stations in the model's terms, in the scenario's order.

    Returns
    -------
    Equilibrium or None
        None when system Omega has no other root than :math:`Q_{ap} = 0`. A negative
        ``ap_queue`` says that the wire holds more than the windows leave for the cell.

    Raises
    ------
    ConvergenceError
        The pipe did not settle.

    Notes
    -----
    Footnote 19. Without delay and with an unlimited wire P = 0 and nothing is iterated.
    """
    buffer = float(scenario["cell"]["ap"]["queue_packets"])
    wired = wired_round_trip_s(scenario)
    at = solve(stations, buffer)
    if wired == 0.0:
        return at
    pipe = 0.0
    for _ in range(ITERATIONS):
        if at is None or at.ap_queue <= 0.0:
            return at
        last, pipe = pipe, wired / traffic(scenario, stations, at).ap_service_s
        if abs(pipe - last) <= TOLERANCE * (buffer + pipe):
            return at
        at = solve(stations, buffer, pipe)
    raise ConvergenceError(f"packets in the wired pipe: still moving at {pipe!r}")
