"""Stations that share one queue: exchange times, service orders and shares, by hand and by Monte
Carlo.
"""

import math
import random
from collections import deque
from itertools import cycle

import pytest

import lasthop as lh
from lasthop.models import predict
from lasthop.models.airtime.assumptions import room_of
from lasthop.models.airtime.order import Airtime, Counters, Fifo, Rounds, drawn, serve
from lasthop.models.airtime.predict import _receivers
from lasthop.models.airtime.receivers import Receiver
from lasthop.models.airtime.shares import (
    airtime_fractions,
    exchange_shares,
    goodputs_bps,
    period_s,
)
from lasthop.scenario.typed import CellScenario

PAYLOAD, ROOM = 1472, 200


def scenario(station=None, cell=None, rate="greedy", **more):
    """Return two stations at MCS 15 of 20 MHz with a short guard interval, and one at MCS 0."""
    near = {"count": 2, "mcs": 7, "streams": 2, "udp_down": rate}
    far = {"mcs": 0, "streams": 1, "udp_down": rate}
    return lh.Scenario(
        {
            "duration": "1 s",
            "cell": {
                "phy": "802.11n",
                "width": "20 MHz",
                "guard_interval": "0.4 us",
                "txop_limit": "none",
                "ap_queue": ROOM,
                **(cell or {}),
            },
            "station": {"near": near, "far": {**far, **(station or {})}},
            **more,
        }
    ).typed


def receivers(known) -> list[Receiver]:
    assert isinstance(known, CellScenario)
    return _receivers(known)


def exchange_by_hand_us(mpdus: int, bits_per_symbol: int, streams: int, response_mbps: int) -> int:
    """Return the duration of an HT-mixed PPDU at 5 GHz with symbols of 3.6 us, of SIFS, and of the
    ACK or BlockAck.
    """
    mpdu = 26 + 8 + 1500 + 4
    psdu = mpdu if mpdus == 1 else (mpdus - 1) * 4 * math.ceil((mpdu + 4) / 4) + mpdu + 4
    symbols = math.ceil((16 + 8 * psdu + 6) / bits_per_symbol)
    preamble = 20 + 8 + 4 + 4 * streams
    response = 14 if mpdus == 1 else 32
    data = 4 * math.ceil(symbols * 3.6 / 4 - 1e-9)
    answer = 20 + 4 * math.ceil((16 + 8 * response + 6) / (4 * response_mbps))
    return preamble + data + 16 + answer


def test_exchange_times_by_hand() -> None:
    near, _, far = receivers(scenario())
    for packets in (1, 2, 17, 42):
        by_hand = exchange_by_hand_us(packets, 520, 2, 24)
        assert near.frames.opening_ns[packets - 1] == 1000 * by_hand
    for packets in (1, 2):
        assert far.frames.opening_ns[packets - 1] == 1000 * exchange_by_hand_us(packets, 26, 1, 6)
    # The PPDUs are limited by 65,535 bytes at 144 Mb/s, and by 5.484 ms at 7.2 Mb/s.
    assert (len(near.frames.ppdus), len(far.frames.ppdus)) == (42, 3)


def test_between_whole_packets_an_exchange_is_linear() -> None:
    near, _, far = receivers(scenario())
    assert near.exchange_s(17) == pytest.approx(1e-9 * near.frames.opening_ns[16])
    middle = (near.frames.opening_ns[16] + near.frames.opening_ns[17]) / 2
    assert near.exchange_s(17.5) == pytest.approx(1e-9 * middle)
    assert far.exchange_s(3) == pytest.approx(1e-9 * far.frames.opening_ns[2])


def test_shares_by_hand() -> None:
    # With equal loads, PPDUs of 10 packets last 1 ms and PPDUs of 2 packets last 4 ms.
    packets, ppdu_s = [10.0, 2.0], [1e-3, 4e-3]
    fifo = exchange_shares("fifo", [1, 1], packets, ppdu_s)
    assert fifo == pytest.approx([1 / 6, 5 / 6])
    rounds = exchange_shares("rounds", [1, 1], packets, ppdu_s)
    fair = exchange_shares("airtime", [1, 1], packets, ppdu_s)
    assert (rounds, fair) == ([0.5, 0.5], pytest.approx([0.8, 0.2]))
    # The exchanges last 1.1 and 4.1 ms, and contention takes 0.2 ms.
    period = period_s(rounds, [1.1e-3, 4.1e-3], 2e-4)
    assert period == pytest.approx(2.8e-3)
    assert airtime_fractions(rounds, ppdu_s, period) == pytest.approx([5 / 28, 20 / 28])
    even = airtime_fractions(fair, ppdu_s, period)
    assert even[0] == pytest.approx(even[1])
    bps = goodputs_bps(rounds, [1000 * n for n in packets], period)
    assert bps == pytest.approx([8 * 10_000 / 5.6e-3, 8 * 2_000 / 5.6e-3])


def test_a_fifo_of_six_by_hand() -> None:
    """The packets of stations a and b alternate in the FIFO. An exchange contains three packets of
    a, or one packet of b.
    """
    fifo = Fifo(6, cycle([0, 1]), float("inf"))
    sent = []
    for _ in range(8):
        station = fifo.following()
        packets = min((3, 1)[station], fifo.available(station))
        sent.append("ab"[station] * packets)
        fifo.take(station, packets, 0)
        fifo.settle()
    # After the first exchange, the FIFO has three packets of b before the next packet of a. Each of
    # these three packets is sent in its own exchange. The next exchange of a contains all packets
    # of a that have arrived meanwhile.
    assert sent == ["aaa", "b", "b", "b", "aaa", "b", "b", "b"]


def test_the_closed_form_is_what_the_order_sends() -> None:
    known = scenario()
    own = receivers(known)
    access_s = 110.5e-6
    fifo = Fifo(ROOM, drawn([1, 1, 1]), float("inf"))
    for order, waiting in (("fifo", fifo), ("rounds", Rounds(3)), ("airtime", Airtime(3))):
        tally = serve(own, waiting, access_s, 6000, 4 * ROOM, 200 * ROOM)
        pairs = zip(tally.packets, tally.exchanges, strict=True)
        packets = [sent / often for sent, often in pairs]
        pairs = zip(tally.ppdu_ns, tally.exchanges, strict=True)
        ppdu_s = [1e-9 * air / often for air, often in pairs]
        parts = exchange_shares(order, [1, 1, 1], packets, ppdu_s)
        counted = [often / sum(tally.exchanges) for often in tally.exchanges]
        assert parts == pytest.approx(counted, rel=0.02)


def test_an_opportunity_continues_with_the_next_station() -> None:
    own = receivers(scenario(cell={"txop_limit": "2.528 ms"}))
    tally = serve(own, Rounds(3), 110.5e-6, 3000)
    # 26 packets to a near station fill a TXOP. One packet to the far station takes 1.8 ms, and then
    # a few packets to the next near station fit into the TXOP.
    assert tally.accesses < sum(tally.exchanges)
    longest = own[0].most_packets(2_528_000, opens=True)
    assert tally.packets[0] / tally.exchanges[0] < longest
    assert sum(tally.exchange_ns) / tally.accesses <= 2_528_000


def fifo_monte_carlo(rate_pps: float, exchanges: int) -> tuple[Counters, float]:
    """Simulate one FIFO event by event: Poisson arrivals, random backoffs, durations computed by
    hand.

    The simulation shares no code with the model.
    """
    draws = random.Random(7)
    queue: deque[int] = deque()
    most, rates = (42, 42, 3), (520, 520, 26)
    times = [
        [
            1e-6 * exchange_by_hand_us(n, rates[s], 2 if s < 2 else 1, 24 if s < 2 else 6)
            for n in range(1, most[s] + 1)
        ]
        for s in range(3)
    ]
    tally, now, due, held = Counters.empty(3), 0.0, draws.expovariate(3 * rate_pps), 0
    for _ in range(exchanges):
        ends = now + 43e-6 + 9e-6 * draws.randint(0, 15)
        while due < ends or not queue:
            if len(queue) < ROOM:
                queue.append(draws.randrange(3))
            ends, due = max(ends, due), due + draws.expovariate(3 * rate_pps)
        station = queue[0]
        held = min(queue.count(station), most[station])
        left = held
        rest: deque[int] = deque()
        for destination in queue:
            if destination == station and left:
                left -= 1
            else:
                rest.append(destination)
        air_s = times[station][held - 1]
        now = ends + air_s
        while due < now:
            if len(rest) + held < ROOM:
                rest.append(draws.randrange(3))
            due += draws.expovariate(3 * rate_pps)
        queue = rest
        tally.exchanges[station] += 1
        tally.packets[station] += held
        tally.exchange_ns[station] += round(1e9 * air_s)
    return tally, now


def test_a_fifo_agrees_with_a_monte_carlo() -> None:
    known = scenario(rate="20 Mbps")
    answer = predict(known, "airtime")
    tally, time_s = fifo_monte_carlo(20e6 / 8 / PAYLOAD, 6000)
    for number, station in enumerate(answer["stations"]):
        # SIFS and the BlockAck are not part of the station's air time.
        answers_ns = tally.exchanges[number] * (48_000 if number < 2 else 84_000)
        drawn = 1e-9 * (tally.exchange_ns[number] - answers_ns) / time_s
        assert station["airtime_fraction"]["mean"] == pytest.approx(drawn, abs=0.01)
        bps = 8 * PAYLOAD * tally.packets[number] / time_s
        assert station["goodput_bps"]["mean"] == pytest.approx(bps, rel=0.03)
        mpdus = tally.packets[number] / tally.exchanges[number]
        # Arrivals are random, so that the number of a station's packets in the queue differs from
        # the station's share of the queue.
        assert station["downlink_mpdus_per_ppdu"]["mean"] == pytest.approx(mpdus, rel=0.05)
    shares = [row["goodput_share"]["mean"] for row in answer["stations"]]
    assert shares == pytest.approx([1 / 3] * 3)
    assert room_of(known) == ROOM
