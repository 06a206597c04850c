"""Full queues: which disciplines that drop at random leave the drops of an overload to their limit.

A discipline that draws its drops ends phase effects only if its draws drop what does not fit. If
they drop less while the queue is at its limit, the full queue drops the rest, as drop-tail does.
Sources that send `load` times what leaves lose at least 1 - 1/`load` of their packets. The rule
compares this share with the draws at the limit, for sources that do not react to losses:

*RED* and *proportional*: the share that is drawn while the (average) queue is at the limit. For RED
it follows from p_b at that average, and from the count that spreads drops.

*PI* and *PIE*: the integral part raises the probability while the queue is above the target, so
that the share is reached at some time. If the limit is not above the target it is never reached.
Otherwise a queue at its limit has a constant distance from the target, and the time follows from
the gains. PI's default gains need more than an hour for 40 % if the limit is 10 packets above the
target.

The queue fluctuates by about two packets, so that RED and proportional drops are evaluated two
packets below the limit. RED with `wait` and `gentle`, as in ns-2, drops at most every second
packet until it drops all. Near that share its draws are certain: a share above 0.45 locks at any
limit.

The rule rests on simulations with six seeds of two equal sources over 10 Mb/s. The loads are 1.1 to
3.2, and the limits 8 to 200 packets. Where the rule reports no lock, the sources' goodputs differ
by less than 10 % of their sum.

Differs from the disciplines in: the queue is at its limit from the start; RED's average has no
transient; a drop of the full queue restarts no count.
"""

from itertools import pairwise
from math import ceil, inf

from lasthop.scenario.queues import Pi, Pie, Proportional, Queue, Red

__all__ = ["DRAWN", "lock_time_s"]

DRAWN = ("red", "proportional", "pi", "pie")
"""Disciplines with one queue that draw drops at random, whose draws are known here."""

PIE_GAINS = (
    (1e-6, 1 / 2048),
    (1e-5, 1 / 512),
    (1e-4, 1 / 128),
    (1e-3, 1 / 32),
    (1e-2, 1 / 8),
    (1e-1, 1 / 2),
    (1.0, 1.0),
)
"""Probabilities below which PIE's steps have a factor (RFC 8033, 4.2). [-]"""

PIE_MOST_STEP = 0.02
"""Largest step of a probability of 0.1 and more (RFC 8033, 5.5). [-]"""

PIE_SPARED = 0.85
"""Sum of probabilities since the last drop below which PIE drops nothing (RFC 8033, 5.4). [-]"""

FLUCTUATION = 2
"""Packets by which a queue that draws its drops stays below its limit. [packets]"""

CERTAIN = 0.45
"""Share from which on RED with `wait` and `gentle` hardly draws. [-]"""

MOST_COUNT = 10_000
"""Packets between two drops of RED up to which the share is computed."""


def lock_time_s(queue: Queue, limit_packets: int, load: float, packet: tuple[int, float]) -> float:
    """Return the time from the start during which the limit drops a part of an overload. [s]

    Parameters
    ----------
    queue : Queue
        Its discipline.
    limit_packets : int
        Its limit.
    load : float
        Rate of arrivals over rate of departures. [-]
    packet : tuple of int and float
        Length of a packet [bytes], and the time for which it is served [s].

    Returns
    -------
    float
        0 if the draws drop all, infinity if the limit drops a part indefinitely.
    """
    size_bytes, service_s = packet
    share = 1.0 - 1.0 / load
    if load <= 1.0:
        return 0.0
    if isinstance(queue, Pi):
        return pi_time_s(queue, limit_packets, share)
    if isinstance(queue, Pie):
        return pie_time_s(queue, limit_packets * service_s, share)
    drawn, below = 1.0, max(0, limit_packets - FLUCTUATION)
    if isinstance(queue, Red):
        if queue.wait and queue.gentle and share > CERTAIN:
            return inf
        drawn = red_share(queue, below, size_bytes)
    elif isinstance(queue, Proportional):
        drawn = min(1.0, queue.slope * below)
    return inf if drawn < share else 0.0


def red_share(queue: Red, limit_packets: int, packet_bytes: int) -> float:
    """Return the share that RED drops while its average is that of this many packets. [-]"""
    length = packet_bytes / queue.mean_packet_bytes if queue.counts_bytes else 1.0
    average = float(limit_packets)
    if queue.form == "ns-2":
        average -= 1.0  # ns-2 averages what waits, and its limit in byte mode is of mean packets
    elif queue.counts_bytes:
        average *= length
    low, high, most = queue.min_th_packets, queue.max_th_packets, queue.max_p
    if average < low:
        return 0.0
    if average < high:
        base = most * (average - low) / (high - low)
    elif queue.gentle:
        base = min(1.0, most + (1.0 - most) * (average - high) / high)
    else:
        return 1.0
    if queue.form == "published":
        base *= length
        length = 1.0
    spacing, remaining = 0.0, 1.0
    for count in range(1, MOST_COUNT):
        spacing += remaining
        expected = count * length * base
        least = 1.0 if queue.wait else 0.0
        if expected < least:
            drop = 0.0
        elif expected < least + 1.0:
            drop = base / (least + 1.0 - expected)
        else:
            drop = 1.0
        if queue.form == "ns-2" and drop < 1.0:
            drop *= length
        remaining *= max(0.0, 1.0 - drop)
        if remaining <= 0.0:
            return 1.0 / spacing
    return 0.0


def pi_time_s(queue: Pi, limit_packets: int, share: float) -> float:
    """Return how long PI takes to drop a share of what arrives. [s]"""
    distance = limit_packets - queue.target_packets
    if distance <= 0:
        return inf
    first = queue.a * distance + queue.b * queue.target_packets
    return max(0.0, share - first) / ((queue.a - queue.b) * distance) * queue.update_s


def pie_time_s(queue: Pie, delay_s: float, share: float) -> float:
    """Return how long PIE takes to drop a share of what arrives. [s]"""
    step = queue.alpha_per_s * (delay_s - queue.target_s)
    if step <= 0.0:
        return inf
    steps, wanted = 0, pie_probability(share)
    bounds = [0.0, *(bound for bound, _ in PIE_GAINS)]
    for (low, high), (_, gain) in zip(pairwise(bounds), PIE_GAINS, strict=True):
        own = min(step, PIE_MOST_STEP) if gain == 1.0 else step * gain
        steps += ceil(max(0.0, min(high, wanted) - low) / own)
    return queue.max_burst_s + steps * queue.update_s


def pie_probability(share: float) -> float:
    """Return the probability with which PIE drops a share: some packets after a drop are spared."""
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        spared = ceil(PIE_SPARED / middle) - 1
        low, high = (middle, high) if 1.0 / (spared + 1.0 / middle) < share else (low, middle)
    return high
