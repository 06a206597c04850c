"""Simulate stations with aggregates slot by slot, to find the effect of each rule of ns-3.

    python bench/aggregates_slots.py        goodput without, with one, and with both rules

This Monte Carlo simulation was written from the standard, independently of the engine. All stations
are saturated. PPDUs that overlap are lost. A sender that gets no response sends a BlockAckReq next.
After the response to the BlockAckReq, the sender sends its data.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass

from measure import require_release_build

SLOT, SIFS = 9.0, 16.0
"""Slot time and SIFS: IEEE 802.11-2020, table 17-21. [us]"""
AIFS = SIFS + 3 * SLOT
CWMIN, CWMAX = 15, 1023
BLOCK_ACK_REQ = 32.0
"""Duration of a BlockAckReq: 24 bytes at 24 Mb/s. [us]"""
OBSERVER_WAIT, SENDER_WAIT = 60.0, 45.0
"""EIFS minus AIFS: additional wait of a node that heard a collision. EIFS contains the air time of
a MAC ACK at 6 Mb/s. The second value is the timeout of a sender that expects a response. [us]
"""
DOUBLINGS = 7
"""Number of successive failures that each double CW. The next failure resets CW to CWmin."""
DATAGRAM_BITS = 8 * 1472


@dataclass(frozen=True)
class Exchange:
    """Air times of an aggregate and of its BlockAck, and the number of MPDUs."""

    data_us: float
    block_ack_us: float
    mpdus: int


@dataclass(frozen=True)
class Rules:
    """Rules of ns-3 that differ from the standard; by default none is used."""

    eifs_of_first: bool = False
    """Whether EIFS after overlapping frames starts at the end of the frame that began first. If
    false, EIFS starts at the end of the frame that ends last."""
    #: Time after the start of a frame during which other senders do not sense the frame yet. [us]
    sensing_us: float = 0.0


EXCHANGES: Mapping[str, Exchange] = {
    "802.11n": Exchange(3632.0, 32.0, 42),
    "802.11ac": Exchange(1861.0, 32.0, 64),
    "802.11ax": Exchange(2690.0, 40.0, 256),
}
RULES = (Rules(), Rules(eifs_of_first=True), Rules(sensing_us=3.5), Rules(True, 3.5))


def goodput_bps(
    stations: int, exchange: Exchange, rules: Rules, duration_s: float, seed: int
) -> float:
    """Return the total goodput of saturated stations that send uplink traffic. [bit/s]"""
    rng = random.Random(seed)
    all_stations = range(stations)
    sends_bar = [False] * stations
    failures = [0] * stations
    slots = [rng.randint(0, CWMIN) for _ in all_stations]
    resumed = [0.0] * stations
    now, delivered = 0.0, 0

    def draw(station: int) -> None:
        window = min(CWMAX, 2 ** failures[station] * (CWMIN + 1) - 1)
        slots[station] = rng.randint(0, window)

    while now < 1e6 * duration_s:
        due = [resumed[sender] + AIFS + SLOT * slots[sender] for sender in all_stations]
        start = min(due)
        senders = [
            sender for sender in all_stations if due[sender] - start <= rules.sensing_us + 1e-6
        ]
        for sender in all_stations:
            idle = start - resumed[sender] - AIFS
            if sender not in senders and idle >= -1e-6:
                # a slot in which the node starts to send counts as idle (802.11-2020, 10.23.2.4)
                slots[sender] -= min(slots[sender], int((idle + 1e-6) / SLOT) + 1)
        ends = {
            sender: due[sender] + (BLOCK_ACK_REQ if sends_bar[sender] else exchange.data_us)
            for sender in senders
        }
        now = max(ends.values())
        if len(senders) == 1:
            [sender] = senders
            now += SIFS + exchange.block_ack_us
            delivered += 0 if sends_bar[sender] else exchange.mpdus
            sends_bar[sender], failures[sender] = False, 0
            draw(sender)
            resumed = [now] * stations
            continue
        eifs_start = ends[rng.choice(senders)] if rules.eifs_of_first else now
        resumed = [max(now, eifs_start + OBSERVER_WAIT)] * stations
        for sender in senders:
            resumed[sender] = max(now, ends[sender] + SENDER_WAIT)
            sends_bar[sender] = True
            failures[sender] = failures[sender] + 1 if failures[sender] < DOUBLINGS else 0
            draw(sender)
    return delivered * DATAGRAM_BITS / now * 1e6


def main(duration_s: float = 200.0) -> None:
    """Simulate, and print the goodput with each combination of rules."""
    print("                 Mb/s   EIFS of the first   sensing   both")
    for name, exchange in EXCHANGES.items():
        for stations in (5, 20):
            none, *goodputs = [
                goodput_bps(stations, exchange, rules, duration_s, 1) for rules in RULES
            ]
            first, sensing, both = (goodput / none - 1 for goodput in goodputs)
            row = f"{none / 1e6:8.1f} {first:+19.1%} {sensing:+9.1%} {both:+6.1%}"
            print(f"{name:9}{stations:4} {row}", flush=True)


if __name__ == "__main__":
    require_release_build()
    main()
