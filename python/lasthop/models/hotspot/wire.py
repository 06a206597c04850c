r"""Wired delay in the hot-spot model (hot-spot paper, footnote 19).

The footnote subtracts the packets on the wire from the AP's buffer. The number of these packets
depends on rates. If round-trip times are measured in AP service times, a connection with window W
has :math:`W P / (Q_{ap} + P + Q_i/\beta_i)` packets on the wire, where

.. math:: P = RTT_{wire} / \tau

is the number of packets that the AP sends during the wired round-trip time :math:`RTT_{wire}`, and
:math:`\tau` is the AP's service time. :math:`Q_{ap}` and :math:`Q_i` are the queues of AP and
station, :math:`\beta_i` is the access priority, and B the size of the AP's buffer. Inserted into
Eqs. (10), (13), (19), (20) and (24), this number replaces :math:`Q_{ap}` (or B) by :math:`Q_{ap} +
P` (or B + P). The wire acts like P additional packets of AP buffer that never overflow. The model
has no time unit, so that :math:`\tau` is computed from the air time of the packets at the
equilibrium.
"""

from dataclasses import dataclass

from lasthop.models.errors import ConvergenceError
from lasthop.models.hotspot.fairness import round_trip
from lasthop.models.hotspot.lossy import solve
from lasthop.models.hotspot.padhye import sent_per_rtt
from lasthop.models.hotspot.picture import HotSpot
from lasthop.models.hotspot.station import Equilibrium

TOLERANCE = 1e-9
"""Change of the packets in the wired pipe below which the iteration has converged. [packets per
packet of AP buffer]
"""

ITERATIONS = 200
"""Largest number of iterations; usually about ten suffice."""


@dataclass(frozen=True)
class Traffic:
    """Traffic of a hot-spot per packet of the AP.

    Attributes
    ----------
    ap_service_s : float
        Time between two packets of the backlogged AP, :math:`\\tau`. [s]
    wire_up_bytes, wire_down_bytes : float
        Number of IP bytes that the wire carries from the AP (up) and to the AP (down), per packet
        that the AP sends. [bytes]
    """

    ap_service_s: float
    wire_up_bytes: float
    wire_down_bytes: float


def traffic(spot: HotSpot, at: Equilibrium) -> Traffic:
    r"""Return the service time of the AP and the load of the wire at an equilibrium.

    .. math:: \tau = \sum_{packets} (T_{AIFS} + T_{exchange})
              + \sigma\frac{CW_{AP}}2 + \frac{f}{1-f}(T_{max} + \sigma CW_{AP})

    The sum is over the packets of AP and stations, per packet of the AP. The AP is backlogged and
    its backoff counter falls in every idle slot. The number of idle slots is therefore the AP's
    backoff. :math:`\sigma` is the slot time, and :math:`CW_{AP}` the AP's CWmin. f is the fraction
    of slots in which a station begins to send. The term with f is a first-order approximation, with
    one doubling of the contention window. :math:`T_{max}` is the longest exchange.

    Parameters
    ----------
    spot : HotSpot
        The hot-spot.
    at : Equilibrium
        Equilibrium of the hot-spot.
    """
    air = wire_up = wire_down = from_stations = longest = 0.0
    remaining = 1.0 - at.loss
    for connection in spot.connections:
        window, per_ack = connection.kind.window, connection.kind.segments_per_ack
        sent = window if connection.upload else sent_per_rtt(at.loss, window, per_ack)
        sent /= round_trip(
            spot.stations[connection.station], at.station_queues[connection.station], at
        )
        segments = sent if connection.upload else sent * remaining
        acks = sent / per_ack * remaining
        up_count, down_count = (segments, acks) if connection.upload else (acks, segments)
        air += up_count * (connection.up.access_s + connection.up.exchange_s)
        air += down_count * (connection.down.access_s + connection.down.exchange_s)
        from_stations += up_count
        longest = max(longest, connection.up.exchange_s, connection.down.exchange_s)
        wire_up += up_count * connection.up.size_bytes
        wire_down += down_count / remaining * connection.down.size_bytes
    backoff = spot.ap_cwmin / 2.0
    collision = from_stations / (backoff + from_stations + 1.0)
    air += spot.slot_s * backoff
    air += collision / (1.0 - collision) * (longest + spot.slot_s * spot.ap_cwmin)
    return Traffic(air, wire_up, wire_down)


def solve_with_wire(spot: HotSpot) -> Equilibrium | None:
    r"""Return the equilibrium of a hot-spot, including the packets in the wired pipe, :math:`P`.

    Parameters
    ----------
    spot : HotSpot
        The hot-spot.

    Returns
    -------
    Equilibrium or None
        None if system Omega has no root other than :math:`Q_{ap} = 0`. If ``ap_queue`` is negative,
        the wire could carry more packets than the windows allow.

    Raises
    ------
    ConvergenceError
        If the number of packets in the wired pipe does not converge.

    Notes
    -----
    The wire is modelled as in footnote 19. If the wire has no delay and no rate limit, P = 0 and
    there is no iteration.
    """
    buffer = float(spot.ap_buffer)
    at = solve(spot.stations, buffer)
    if spot.wired_round_trip_s == 0.0:
        return at
    pipe = 0.0
    for _ in range(ITERATIONS):
        if at is None or at.ap_queue <= 0.0:
            return at
        last, pipe = pipe, spot.wired_round_trip_s / traffic(spot, at).ap_service_s
        if abs(pipe - last) <= TOLERANCE * (buffer + pipe):
            return at
        at = solve(spot.stations, buffer, pipe)
    raise ConvergenceError(f"packets in the wired pipe: still moving at {pipe!r}")
