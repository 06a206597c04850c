"""Decision whether a connection was limited by its window, or by its application.

A connection that is limited by its window uses all available capacity. In a scenario it is an
upload or download. Other connections are limited by their application, such as video in segments,
calls, or remote shells. Their rate does not depend on the speed of the network. The criteria are
those of Zhang, Breslau, Paxson and Shenker, "On the characteristics and origins of Internet flow
rates" (SIGCOMM 2002), and Siekkinen, Urvoy-Keller, Biersack and Collange, "A root cause analysis
toolkit for TCP" (Computer Networks 2008), as far as a capture in the middle of a path shows them:

- A connection that pauses for a large fraction of its time was not limited by its window.
- A connection that loses segments was limited by its window, since losses limit a window.
- Without losses the window has grown. The window was the limit if the data in flight is about as
  large as the window, or if the connection has filled a queue on the path.
- If a radio channel was busy all the time, data may have waited for the channel before it was
  captured. The window is then taken as the limit.
- Otherwise the sender had less data to send than the window allowed.

A capture downstream of the queue that the sender fills shows neither the queue nor the data in
flight. Time stamps (RFC 7323) show the queue. Without time stamps, losses and a radio, such a
connection is classified as limited by its application. Its rate is then that of the link after the
queue.
"""

from dataclasses import dataclass

from lasthop.importing.activity import Activity, Handshake
from lasthop.importing.round_trips import RoundTrips

__all__ = ["Evidence", "is_window_limited"]

IDLE_PART = 0.25
"""Fraction of a connection's time in pauses from which its application limited it. [-]"""
LOSSES = 2
"""Smallest number of losses from which losses limit the window. [-]"""
WINDOW_PART = 0.5
"""Ratio of data in flight to the window from which the window is the limit. [-]"""
QUEUE_TRIPS = 1.5
"""Smallest ratio of the round-trip time to that of the handshake if there is a queue. [-]"""
QUEUE_SEGMENTS = 20.0
"""Number of segments in flight from which the connection has filled the queue itself: twice an
initial window."""
BUSY_PART = 0.5
"""Fraction of the time with frames on the radio channel from which the channel was busy. [-]"""
GROWTH_S = 2.0
"""Time after which a window has grown for any round-trip time, if the handshake was not captured.
[s]"""


@dataclass(frozen=True)
class Evidence:
    """Evidence of a capture about a connection, in the direction of its data.

    Attributes
    ----------
    handshake : Handshake
        First three segments of the connection.
    activity : Activity
        Times at which the connection sent data.
    trips : RoundTrips
        Window and losses of the connection.
    way : str
        ``"up"`` or ``"down"``.
    payload_bytes : int
        Payload that the connection sent. [bytes]
    busy_part : float
        Fraction of its time with frames on the radio channel; None on a wire. [-]
    tcp : bool
        Whether the connection is TCP. Otherwise it is QUIC, which shows only pauses.
    """

    handshake: Handshake
    activity: Activity
    trips: RoundTrips
    way: str
    payload_bytes: int
    busy_part: float | None
    tcp: bool = True


def is_window_limited(seen: Evidence) -> bool:
    """Return whether a connection sent as much as its window allowed."""
    activity, trips = seen.activity, seen.trips
    if activity.span_s <= 0.0:
        return True  # The window allowed the whole data as one burst.
    if activity.idle_s > IDLE_PART * activity.span_s:
        return False
    if not (seen.tcp and activity.answered and trips.mss_bytes) or trips.losses >= LOSSES:
        return True
    shortest_s = _shortest_trip_s(seen)
    if shortest_s is None:
        return True  # There is too little data for a decision.
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
    """Return the round-trip time without queues: that of the handshake, else the smallest sample.
    [s]"""
    if seen.handshake.rtt_s is not None:
        return seen.handshake.rtt_s
    activity = seen.activity
    if activity.span_s < GROWTH_S or not activity.answers.count:
        return None
    return activity.answers.least + (activity.waits.least if activity.waits.count else 0.0)


def _trip_s(seen: Evidence, shortest_s: float) -> float:
    """Return the mean round-trip time, including queues that are visible in the capture. [s]"""
    answers, beyond_s = seen.activity.answers, seen.handshake.beyond_s(seen.way)
    least_s = answers.least if beyond_s is None else beyond_s
    trip_s = shortest_s + max((answers.mean or least_s) - least_s, 0.0)
    stamped_s = seen.trips.by_stamp.mean
    return trip_s if stamped_s is None else max(trip_s, stamped_s)
