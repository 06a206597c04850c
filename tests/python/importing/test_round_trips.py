"""Round-trip times measured in the middle of a path. The packets are computed, so that the true
times are known.
"""

import pytest

from lasthop.importing.round_trips import RoundTrips
from lasthop.importing.segments import ACK, SYN, Segment

MSS = 1000
RTT_S = 0.2
BEFORE_S = 0.15
"""Delay of a segment from its sender to the capture, mainly in queues. [s]"""


def segment(number: int, *, stamp: int = -1) -> Segment:
    """Return the segment with this number, from 0."""
    return Segment(b"s", b"r", 1, 2, True, ACK, 1 + number * MSS, 1, 100, MSS, stamp=stamp)


def ack(segments: int, *, echo: int = -1) -> Segment:
    """Return the ACK of the first `segments` segments."""
    return Segment(b"r", b"s", 2, 1, True, ACK, 1, 1 + segments * MSS, 100, 0, echo=echo)


def opened() -> RoundTrips:
    """Return the measurement of a connection after its handshake."""
    trips = RoundTrips()
    trips.data(0.0, Segment(b"s", b"r", 1, 2, True, SYN, 0, 0, 0, 0), 0)
    trips.ack(0.001, Segment(b"r", b"s", 2, 1, True, SYN | ACK, 0, 1, 100, 0), 0, 0)
    return trips


def window_of(count: int, rounds: int, *, stamps: bool = False) -> RoundTrips:
    """Return the measurement of a sender that always has `count` segments in flight, at equal
    intervals.

    The sender transmits segment k at k RTT / count, and gets its ACK one RTT later. The capture is
    just before the receiver, after the queue of the sender.
    """
    trips = opened()
    events: list[tuple[float, int, bool]] = []
    for number in range(count * rounds):
        sent_s = 1.0 + number * RTT_S / count
        events += [(sent_s + BEFORE_S, number, True), (sent_s + RTT_S, number, False)]
    for at_s, number, data in sorted(events):
        tick = round((at_s - BEFORE_S if data else at_s - RTT_S) * 1000) if stamps else -1
        if data:
            trips.data(at_s, segment(number, stamp=tick), number)
        else:
            trips.ack(at_s, ack(number + 1, echo=tick), count * MSS, number)
    return trips


def test_a_window_limited_by_the_receiver_reveals_the_complete_round_trip() -> None:
    """At the capture, the time between a segment and its ACK is only a quarter of the round-trip
    time. The complete time follows from the receive window.
    """
    trips = window_of(20, 60)
    assert trips.by_window.mean == pytest.approx(RTT_S, rel=0.05)


def test_time_stamps_reveal_the_delay_before_the_capture() -> None:
    """Time stamps show how much the delay before the capture exceeds its minimum. They do not show
    the minimum, because the clocks of two machines differ. Here the delay is constant, so that
    nothing is added to the measured time.
    """
    trips = window_of(20, 30, stamps=True)
    assert trips.stamped
    assert trips.rtt_s == pytest.approx(RTT_S - BEFORE_S, rel=0.05)


def test_a_clock_is_set_by_the_first_stamps_not_by_late_ones() -> None:
    trips = opened()
    for number in range(400):
        wait_s = 0.001 if number < 10 else 0.3  # a standing queue from packet 10 on
        sent_s = 0.01 * number
        trips.data(sent_s + wait_s, segment(number, stamp=round(1000 * sent_s)), number)
        trips.ack(sent_s + wait_s + 0.002, ack(number + 1, echo=round(1000 * sent_s)), 0, number)
    assert trips.rtt_s == pytest.approx(0.301, rel=0.02)


def test_a_loss_shows_the_window_and_halves_it() -> None:
    trips = opened()
    for number in range(16):
        trips.data(1.0 + 0.001 * number, segment(number), number)
    for _ in range(3):
        trips.ack(1.1, ack(0), 0, 16)
    trips.ack(1.1, ack(0), 0, 16)
    trips.data(1.2, segment(0), 17)
    assert trips.retransmitted == 1
    trips.ack(1.3, ack(16), 0, 17)
    trips.data(1.31, segment(16), 18)
    trips.ack(1.5, ack(17), 0, 18)
    assert trips.window.mean == pytest.approx(8, abs=0.5)


def test_sequence_numbers_may_wrap() -> None:
    trips = RoundTrips()
    start = (1 << 32) - 5 * MSS
    for number in range(40):
        sent = segment(0)._replace(seq=(start + number * MSS) % (1 << 32))
        trips.data(0.1 * number, sent, number)
        back = ack(0)._replace(ack=(start + (number + 1) * MSS) % (1 << 32))
        trips.ack(0.1 * number + 0.05, back, MSS, number)
    assert trips.retransmitted == 0
    assert trips.by_window.mean == pytest.approx(0.1, rel=0.05)


def test_the_queue_before_a_segment_has_the_bytes_that_passed_before_it() -> None:
    """Between each ACK and the next segment, which this ACK allows to be sent, ten other packets
    pass the capture. These ten packets were queued before the segment.
    """
    trips = opened()
    passed = 0
    for number in range(60):
        passed += 10
        trips.data(0.1 * number, segment(number), passed)
        trips.ack(0.1 * number + 0.05, ack(number + 1), MSS, passed)
    assert max(trips.backlog, key=lambda packets: trips.backlog[packets]) == 10


def test_a_pause_is_not_a_round_trip() -> None:
    trips = opened()
    for number in range(5):
        at_s = 100.0 * number
        trips.data(at_s, segment(number), number)
        trips.ack(at_s + 0.01, ack(number + 1), MSS, number)
    assert trips.by_window.most < 10.0


def test_a_sender_that_begins_with_two_segments_is_followed_through_slow_start() -> None:
    """The sender sends 2, 4, 8, ... segments per round trip. If a larger initial window were
    assumed, the round-trip times would be too long.
    """
    trips = opened()
    sent = 0
    for turn in range(6):
        start_s = 1.0 + turn * RTT_S
        burst = range(sent, sent + 2 ** (turn + 1))
        for place, number in enumerate(burst):
            trips.data(start_s + 0.001 * place, segment(number), number)
        for place, number in enumerate(burst):
            trips.ack(start_s + RTT_S - 0.01 + 0.0001 * place, ack(number + 1), 0, number)
        sent = burst.stop
    assert trips.by_window.most == pytest.approx(RTT_S, rel=0.05)


def test_a_window_that_grows_faster_than_renos_is_followed_from_the_second_loss_on() -> None:
    """Linux counts acknowledged segments, not ACKs. Therefore the window grows by 12 between two
    losses.

    In comparison, thirty ACKs increase Reno's window from 8 to the square root of 8^2 + 2 * 30,
    which is 11.
    """
    trips = opened()
    first, at_s = 0, 1.0
    for window in (8, 16):
        for number in range(first, first + window):
            at_s += 0.01
            trips.data(at_s, segment(number), number)
        for _ in range(4):
            trips.ack(at_s, ack(first), 0, first)
        trips.data(at_s + 0.01, segment(first), first)
        trips.ack(at_s + 0.1, ack(first + window), 0, first)
        first, at_s = first + window, at_s + 0.2
        for number in range(first, first + 30):
            trips.data(at_s, segment(number), number)
            trips.ack(at_s + 0.05, ack(number + 1), 0, number)
            at_s += 0.1
        first += 30
    assert 13 < trips.window.most < 16


def test_an_idle_sender_does_not_increase_round_trip_times() -> None:
    trips = opened()
    for number in range(40):
        at_s = 3.0 * number if number >= 20 else 0.1 * number
        trips.data(at_s, segment(number), number)
        trips.ack(at_s + 0.05, ack(number + 1), MSS, number)
    assert trips.by_window.most < 0.2
