"""Whether a connection's window limited it, so that it sent as much as its window allowed.

Such a connection takes what the network gives, and a scenario has it as an upload or download.
Others are limited by their application: video in pieces, calls, remote shells. They have a rate of
their own, however fast the network is. The signs are those of Zhang, Breslau, Paxson and Shenker,
"On the characteristics and origins of Internet flow rates" (SIGCOMM 2002), and Siekkinen,
Urvoy-Keller, Biersack and Collange, "A root cause analysis toolkit for TCP" (Computer Networks
2008), as far as a capture in the middle of a path shows them:

- A connection that pauses for a good part of its time was not limited by its window.
- A connection that loses segments was: losses are what limits a window.
- Without losses the window has grown. If about as much as the window is under way, or a queue of
  the connection's own is on the path, the window was the limit.
- If a radio was busy throughout, data may have waited for it in front of the capture.
- Otherwise the sender had less to send than it was allowed.

A capture downstream of the queue that the sender fills sees neither the queue nor the data under
way. Time stamps (RFC 7323) show it. Without them, without losses and without a radio such a
connection is taken for one with a rate of its own, which is the rate of the link after that queue.
"""

from dataclasses import dataclass

from lasthop.importing.activity import Activity, Handshake
from lasthop.importing.round_trips import RoundTrips

__all__ = ["Evidence", "is_window_limited"]

IDLE_PART = 0.25
"""Part of a connection's time in pauses from which its application limited it. [-]"""
LOSSES = 2
"""Least number of losses with which they are what limits the window."""
WINDOW_PART = 0.5
"""Part of the window under way from which the window is the limit. [-]"""
QUEUE_TRIPS = 1.5
"""Least round trip over that of the handshake if there is a queue. [-]"""
QUEUE_SEGMENTS = 20.0
"""Segments under way, twice an initial window, from which such a queue is the connection's own."""
BUSY_PART = 0.5
"""Part of the time in which a radio heard something from which it was busy. [-]"""
GROWTH_S = 2.0
"""Time in which a window has grown whatever the round trip, if no handshake shows it. [s]"""


@dataclass(frozen=True)
class Evidence:
    """Evidence of a capture about a connection, in the direction of its data.

    Attributes
    ----------
    handshake : Handshake
        Its first three segments.
    activity : Activity
        Times at which it sent.
    trips : RoundTrips
        Its window and losses.
    way : str
        ``"up"`` or ``"down"``.
    payload_bytes : int
        Payload that it sent. [bytes]
    busy_part : float
        Part of its time in which the radio heard something; None on a wire. [-]
    tcp : bool
        TCP, else QUIC, of which only pauses show.
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
        return True  # A single burst is what the window allowed.
    if activity.idle_s > IDLE_PART * activity.span_s:
        return False
    if not (seen.tcp and activity.answered and trips.mss_bytes) or trips.losses >= LOSSES:
        return True
    shortest_s = _shortest_trip_s(seen)
    if shortest_s is None:
        return True  # Too little was seen to tell.
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
    """Return the round trip without queues: that of the handshake, else the least that shows."""
    if seen.handshake.rtt_s is not None:
        return seen.handshake.rtt_s
    activity = seen.activity
    if activity.span_s < GROWTH_S or not activity.answers.count:
        return None
    return activity.answers.least + (activity.waits.least if activity.waits.count else 0.0)


def _trip_s(seen: Evidence, shortest_s: float) -> float:
    """Return the mean round trip with the queues that show."""
    answers, beyond_s = seen.activity.answers, seen.handshake.beyond_s(seen.way)
    least_s = answers.least if beyond_s is None else beyond_s
    trip_s = shortest_s + max((answers.mean or least_s) - least_s, 0.0)
    stamped_s = seen.trips.by_stamp.mean
    return trip_s if stamped_s is None else max(trip_s, stamped_s)
