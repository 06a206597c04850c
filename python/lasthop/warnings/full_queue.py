"""Overloaded queues with random drops: whether a full queue also drops packets at its limit.

Random drops prevent phase effects only if they remove the whole overload. If they remove less while
the queue is at its limit, the queue drops the remaining packets in the same way as drop-tail. If
the arrival rate is `load` times the departure rate, at least the fraction 1 - 1/`load` of the
packets is lost. The rule compares this fraction with the probability of random drops at the limit,
for sources that do not react to losses:

*RED* and *proportional*: the compared value is the fraction that is dropped at random while the
(average) queue is at the limit. For RED, this fraction follows from RED's drop probability p_b at
an average queue equal to the limit. The fraction also depends on RED's counter of packets since the
last drop.

*PI* and *PIE*: while the queue is above the target, the controller's integral part increases the
drop probability until the fraction is reached. If the limit is not above the target, the fraction
is never reached. If the limit is above the target, a queue at its limit has a constant distance
from the target. The time until the fraction is reached then follows from the gains. PI's default
gains need more than an hour for 40 % if the limit is 10 packets above the target.

The queue fluctuates by about two packets. Therefore RED and proportional drops are evaluated two
packets below the limit. RED with `wait` and `gentle`, as in ns-2, drops at most every second packet
until it drops all packets. Near the fraction 0.5, its drops are almost deterministic: above a
fraction of 0.45, phases lock at any limit.

The rule was derived from simulations with six seeds of two equal sources over 10 Mb/s. The loads
are 1.1 to 3.2, and the limits 8 to 200 packets. If the rule reports no phase lock, the sources'
goodputs differ by less than 10 % of their sum.

Differs from the disciplines in three points. The queue is at its limit from the start. RED's
average has no transient. A drop of the full queue does not restart RED's counter.
"""

from itertools import pairwise
from math import ceil, inf

from lasthop.scenario.queues import Pi, Pie, Proportional, Queue, Red

__all__ = ["DRAWN", "lock_time_s"]

DRAWN = ("red", "proportional", "pi", "pie")
"""Disciplines with one queue and random drops, for which this module computes drop fractions."""

PIE_GAINS = (
    (1e-6, 1 / 2048),
    (1e-5, 1 / 512),
    (1e-4, 1 / 128),
    (1e-3, 1 / 32),
    (1e-2, 1 / 8),
    (1e-1, 1 / 2),
    (1.0, 1.0),
)
"""Pairs of numbers: the upper end of a range of PIE's drop probability, and the factor of the step
of this probability in the range (RFC 8033, 4.2). [-]
"""

PIE_MOST_STEP = 0.02
"""Largest step of PIE's probability if it is 0.1 or more (RFC 8033, 5.5). [-]"""

PIE_SPARED = 0.85
"""PIE drops no packet while the sum of probabilities since its last drop is below this value (RFC
8033, 5.4). [-]
"""

FLUCTUATION = 2
"""Distance from the limit at which the random drops of a queue are evaluated. [packets]"""

CERTAIN = 0.45
"""Limit of the fraction of dropped packets. Above the limit, the drops of RED with `wait` and
`gentle` are almost deterministic. [-]
"""

MAX_COUNT = 10_000
"""Maximum number of packets between two drops of RED that is examined."""


def lock_time_s(queue: Queue, limit_packets: int, load: float, packet: tuple[int, float]) -> float:
    """Return the time, from the start of an overload, in which the queue's limit drops packets. [s]

    Parameters
    ----------
    queue : Queue
        Queue discipline with its settings.
    limit_packets : int
        Limit of the queue. [packets]
    load : float
        Ratio of the arrival rate to the departure rate. [-]
    packet : tuple of int and float
        Length of a packet [bytes], and the service time of a packet [s].

    Returns
    -------
    float
        0 if the random drops remove the whole overload; infinity if the limit drops packets
        indefinitely.
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
    """Return the fraction of packets that RED drops while its average queue is `limit_packets`.
    [-]
    """
    length = packet_bytes / queue.mean_packet_bytes if queue.counts_bytes else 1.0
    average = float(limit_packets)
    if queue.form == "ns-2":
        # In ns-2, the average excludes the packet in service. A limit in bytes is `limit_packets`
        # times the mean packet length.
        average -= 1.0
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
    for count in range(1, MAX_COUNT):
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
    """Return the time until PI drops the fraction `share` of the packets of a full queue. [s]"""
    distance = limit_packets - queue.target_packets
    if distance <= 0:
        return inf
    first = queue.a * distance + queue.b * queue.target_packets
    return max(0.0, share - first) / ((queue.a - queue.b) * distance) * queue.update_s


def pie_time_s(queue: Pie, delay_s: float, share: float) -> float:
    """Return the time until PIE drops the fraction `share` of the packets of a full queue. [s]"""
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
    """Return the probability at which PIE drops the fraction `share`. The probability is larger
    than the fraction, because PIE spares some packets after each drop.
    """
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        spared = ceil(PIE_SPARED / middle) - 1
        low, high = (middle, high) if 1.0 / (spared + 1.0 / middle) < share else (low, middle)
    return high
