"""Monte Carlo of paper 003's cell: seven TCP downloads with windows of 4 packets over the DCF of
802.11b.

The program was written from IEEE 802.11-2016 (clauses at the constants) and the definition of the
cell in `docs/concepts/cell.md`, without reading the engine, so that the two can be compared.
Windows are constant, so that TCP is a closed network with four packets per flow. Each packet is a
segment in the access point's queue or a TCP ACK in its station's queue.

All nodes sense each other. As in the definition of the cell, all nodes resume their backoffs
simultaneously, both after a collision and after a success. Time therefore passes in rounds: an
interframe space, idle slots until the first backoff ends, and the frame that is then sent. A frame
arrives in its queue only while another frame is on the air. Therefore a node never finds the medium
idle when its frame arrives.
"""

from random import Random
from statistics import mean, stdev
from time import process_time
from typing import NamedTuple

STATIONS = 7
WINDOW = 4
"""Number of segments and TCP ACKs of each flow together. [packets]"""
PAYLOAD_BITS = 8 * 1460
"""Payload of a segment (paper, table 2). [bit]"""
TCP_IP_HEADERS_BITS = 8 * 40
"""Headers of a segment, which are also the length of a TCP ACK (paper, table 2). [bit]"""
LINK_HEADERS_BITS = 8 * (30 + 8)
"""MAC header with frame check sequence, and LLC/SNAP header (paper, table 2). [bit]"""
MAC_ACK_BITS = 8 * 14
"""Length of a MAC ACK (9.3.1.4). [bit]"""

DATA_RATE_BPS = 11e6
CONTROL_RATE_BPS = 2e6
LOWEST_RATE_BPS = 1e6
"""Lowest mandatory rate. EIFS assumes this rate for a MAC ACK (10.3.7). [bit/s]"""

SLOT_S, SIFS_S, CWMAX = 20e-6, 10e-6, 1023
"""Slot time, SIFS and CWmax of the HR/DSSS PHY (table 16-4). [s, s, slots]"""
PREAMBLE_S = 144e-6 + 48e-6
"""Duration of the long preamble and of the PLCP header at 1 Mb/s (16.2.2.2). [s]"""
MAX_ATTEMPTS = 7
"""Default of dot11ShortRetryLimit (annex C). Without RTS, all frames are short frames
(10.3.4.4).
"""


def frame_s(size_bits: int, rate_bps: float) -> float:
    """Return the duration of a frame (16.3.4). [s]

    Differs from the standard: the duration is not rounded up to whole microseconds.
    """
    return PREAMBLE_S + size_bits / rate_bps


SEGMENT_S = frame_s(LINK_HEADERS_BITS + TCP_IP_HEADERS_BITS + PAYLOAD_BITS, DATA_RATE_BPS)
TCP_ACK_S = frame_s(LINK_HEADERS_BITS + TCP_IP_HEADERS_BITS, DATA_RATE_BPS)
DIFS_S = SIFS_S + 2 * SLOT_S
"""Idle time before a backoff continues (10.3.2.3.5, 10.3.7). [s]"""
AFTER_FRAME_S = SIFS_S + frame_s(MAC_ACK_BITS, CONTROL_RATE_BPS)
"""Time from the end of a received frame to the end of its MAC ACK (10.3.2.9). [s]"""
EIFS_S = SIFS_S + frame_s(MAC_ACK_BITS, LOWEST_RATE_BPS) + DIFS_S
"""Idle time after a collision, which replaces DIFS (10.3.2.3.7). The nodes that collided wait for
their ACK timeout (10.3.2.9), which ends at the same time as EIFS. [s]
"""


class Run(NamedTuple):
    """Results of one simulation."""

    goodputs_bps: list[float]
    """Payload received by each station, divided by the time. [bit/s]"""
    collided: list[int]
    """Number of attempts that collided, by node. The access point is the last node. [frames]"""
    sent: list[int]
    """Number of all attempts, by node. The access point is the last node. [frames]"""
    given_up: int
    """Number of frames whose last attempt failed. This program does not discard these frames: the
    number of attempts begins again at 0. [frames]
    """


def simulate(cwmin: int, duration_s: float, seed: int) -> Run:
    """Simulate the cell with equal CWmin for all nodes, from a shuffled queue of the access point.

    No warm-up is discarded, because the initial state is also frequent later: all segments are at
    the access point. This is so in one of five rounds with CWmin 31, and in one of ten rounds with
    CWmin 7. Only the order of the segments has a long effect, and the initial order is random.
    """
    random = Random(seed)
    nodes, access_point = STATIONS + 1, STATIONS
    # `ap_queue` has the station of each segment in the access point's queue.
    # `tcp_acks` has the number of TCP ACKs at each station.
    ap_queue = [flow for flow in range(STATIONS) for _ in range(WINDOW)]
    random.shuffle(ap_queue)
    tcp_acks = [0] * STATIONS
    contenders = {access_point}  # nodes with a frame to send

    cw, failures = [cwmin] * nodes, [0] * nodes
    # Idle slots since the beginning.
    # Backoffs are measured in this time, which stops while the medium is busy.
    idle_slots = 0
    runs_out_at = [0] * nodes  # idle slot at which each backoff ends

    received, collided, sent, given_up = [0] * STATIONS, [0] * nodes, [0] * nodes, 0
    now_s, space_s = 0.0, DIFS_S

    def draw(node: int) -> None:
        """Begin a backoff, uniform on [0, CW] (10.3.3). The backoff is suspended while other nodes
        send.
        """
        runs_out_at[node] = idle_slots + int(random.random() * (cw[node] + 1))

    def contend(node: int) -> None:
        """Enqueue the first frame of a node, which arrives while the medium is busy.

        A running post-backoff of the node continues. Without a post-backoff, a new backoff begins
        (10.3.3, 10.3.4.2).
        """
        if node not in contenders:
            contenders.add(node)
            if runs_out_at[node] <= idle_slots:
                draw(node)

    for node in range(nodes):
        draw(node)
    while now_s < duration_s:
        first = min(runs_out_at[node] for node in contenders)
        senders = sorted(node for node in contenders if runs_out_at[node] == first)
        longest_s = SEGMENT_S if access_point in senders else TCP_ACK_S
        now_s += space_s + (first - idle_slots) * SLOT_S + longest_s
        idle_slots = first
        for node in senders:
            sent[node] += 1

        if len(senders) > 1:
            space_s = EIFS_S
            for node in senders:
                collided[node] += 1
                failures[node] += 1
                cw[node] = min(2 * cw[node] + 1, CWMAX)  # CW doubles after a failure (10.3.3).
                if failures[node] == MAX_ATTEMPTS:  # attempt limit (10.3.4.4)
                    given_up += 1
                    failures[node], cw[node] = 0, cwmin
                draw(node)
            continue

        now_s += AFTER_FRAME_S
        space_s = DIFS_S
        sender = senders[0]
        failures[sender], cw[sender] = 0, cwmin
        draw(sender)  # next backoff, or post-backoff if the queue is empty (10.3.4.3)
        if sender == access_point:
            station = ap_queue.pop(0)
            if not ap_queue:
                contenders.remove(access_point)
            received[station] += 1
            tcp_acks[station] += 1
            contend(station)
        else:
            tcp_acks[sender] -= 1
            if not tcp_acks[sender]:
                contenders.remove(sender)
            ap_queue.append(sender)  # The server sends the next segment.
            contend(access_point)

    goodputs_bps = [segments * PAYLOAD_BITS / now_s for segments in received]
    return Run(goodputs_bps, collided, sent, given_up)


def aggregate_goodput_bps(cwmin: int, duration_s: float, seed: int) -> float:
    """Return the sum of the goodputs of all seven downloads. [bit/s]"""
    return sum(simulate(cwmin, duration_s, seed).goodputs_bps)


T_OF_FIVE = 2.776
"""Student's t for a two-sided 95 % interval, with four degrees of freedom. [-]"""


def mean_and_ci95(five: list[float]) -> tuple[float, float]:
    """Return the mean of five values, and the half width of its 95 % interval."""
    if len(five) != 5:
        raise ValueError("the quantile is that of five replications")
    return mean(five), T_OF_FIVE * stdev(five) / 5**0.5


def main() -> None:
    """Print the goodput for each CWmin, from five replications of 100 s."""
    for cwmin in (7, 15, 31, 63):
        began_s = process_time()
        runs = [simulate(cwmin, 100.0, seed) for seed in range(1, 6)]
        goodput_bps, ci95_bps = mean_and_ci95([sum(run.goodputs_bps) for run in runs])
        print(
            f"CWmin {cwmin:2}: {goodput_bps / 1e6:.4f} +- {ci95_bps / 1e6:.4f} Mb/s,"
            f" {sum(run.given_up for run in runs)} frames given up,"
            f" {process_time() - began_s:.1f} s of CPU time"
        )


if __name__ == "__main__":
    main()
