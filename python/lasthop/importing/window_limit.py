"""Classification of connections: limited by the window, or by the application.

A connection that is limited by its window uses all available capacity. In a scenario it is an
upload or download. The application limits other connections, such as video streams, calls, or
remote shells. The rate of such a connection does not depend on the speed of the network. The
criteria are those of Zhang, Breslau, Paxson and Shenker, "On the characteristics and origins of
Internet flow rates" (SIGCOMM 2002), and Siekkinen, Urvoy-Keller, Biersack and Collange, "A root
cause analysis toolkit for TCP" (Computer Networks 2008), as far as a capture in the middle of a
path shows them:

- If a connection pauses for a large fraction of its time, its window did not limit it.
- If a connection loses segments, its window limited it, because losses reduce the window.
- Without losses the window has grown. The window was the limit if the data in flight is about as
  large as the window, or if the connection has filled a queue on the path.
- If a radio channel was busy all the time, data may have waited for the channel before it was
  captured. In this case the window counts as the limit.
- Otherwise the sender had less data to send than the window allowed.

A capture downstream of the queue that the sender fills shows neither the queue nor the data in
flight. Time stamps (RFC 7323) show the queue. If there are no time stamps, no losses and no radio,
the connection is classified as limited by its application. The imported rate of the connection is
then the rate of the link after the queue.
"""

from dataclasses import dataclass

from lasthop.importing.activity import Activity, Handshake
from lasthop.importing.round_trips import RoundTrips

__all__ = ["Evidence", "is_window_limited"]

IDLE_PART = 0.25
"""Largest fraction of its time that a window-limited connection spends in pauses. [-]"""
LOSSES = 2
"""Number of losses from which a connection counts as limited by its window. [-]"""
WINDOW_PART = 0.5
"""Smallest ratio of the data in flight to the window at which the window counts as the limit. [-]
"""
QUEUE_TRIPS = 1.5
"""Ratio of the round-trip time to the handshake's round-trip time from which a queue is assumed.
[-]"""
QUEUE_SEGMENTS = 20.0
"""Smallest number of segments in flight for which the connection itself counts as having filled the
queue. It is twice an initial window. [segments]
"""
BUSY_PART = 0.5
"""Smallest fraction of time with frames on the radio channel for which the channel counts as busy.
[-]
"""
GROWTH_S = 2.0
"""Age of a connection from which its window counts as grown, if its handshake was not captured. [s]
"""


@dataclass(frozen=True)
class Evidence:
    """Captured properties of a connection, in the direction of its data.

    Attributes
    ----------
    handshake : Handshake
        Handshake of the connection.
    activity : Activity
        Times at which the connection sent data.
    trips : RoundTrips
        Window and losses of the connection.
    way : str
        Direction of the data, ``"up"`` or ``"down"``.
    payload_bytes : int
        Payload that the connection sent. [bytes]
    busy_part : float
        Fraction of the connection's time with frames on the radio channel; None in a wired capture.
        [-]
    tcp : bool
        Whether the connection is TCP. If False, it is QUIC, for which only pauses are known.
    """

    handshake: Handshake
    activity: Activity
    trips: RoundTrips
    way: str
    payload_bytes: int
    busy_part: float | None
    tcp: bool = True


def is_window_limited(seen: Evidence) -> bool:
    """Return whether the window limited the connection; if False, its application limited it."""
    activity, trips = seen.activity, seen.trips
    if activity.span_s <= 0.0:
        return True  # Without duration there is no pause: assume the window.
    if activity.idle_s > IDLE_PART * activity.span_s:
        return False
    if not (seen.tcp and activity.answered and trips.mss_bytes) or trips.losses >= LOSSES:
        return True
    shortest_s = _shortest_trip_s(seen)
    if shortest_s is None:
        return True  # There is too little data: assume the window.
    trip_s = _trip_s(seen, shortest_s)
    active_s = activity.span_s - activity.idle_s
    flight = seen.payload_bytes / active_s * trip_s / trips.mss_bytes
    most = max(flight, activity.peak_bytes / trips.mss_bytes)
    if most >= WINDOW_PART * trips.allowed_segments:
        return True
    if trip_s >= QUEUE_TRIPS * shortest_s and flight >= QUEUE_SEGMENTS:
        return True
    if trips.stamped or seen.busy_part is None:
        return False
    return seen.busy_part > BUSY_PART


def _shortest_trip_s(seen: Evidence) -> float | None:
    """Return the round-trip time without queues: that of the handshake; if unknown, the shortest.
    [s]"""
    if seen.handshake.rtt_s is not None:
        return seen.handshake.rtt_s
    activity = seen.activity
    if activity.span_s < GROWTH_S or not activity.answers.count:
        return None
    return activity.answers.least + (activity.waits.least if activity.waits.count else 0.0)


def _trip_s(seen: Evidence, shortest_s: float) -> float:
    """Return the mean round-trip time, including the queues that the capture shows. [s]"""
    answers, beyond_s = seen.activity.answers, seen.handshake.beyond_s(seen.way)
    least_s = answers.least if beyond_s is None else beyond_s
    trip_s = shortest_s + max((answers.mean or least_s) - least_s, 0.0)
    stamped_s = seen.trips.by_stamp.mean
    return trip_s if stamped_s is None else max(trip_s, stamped_s)
