"""Poisson datagrams of 1500 bytes through a drop-tail queue before a wire of 10 Mb/s. The queue is
compared with the formulas for M/D/1 and M/D/1/K.

The radio hop after the wire (54 Mb/s, one station) is never saturated. There are eight replications
of 200 s. The tolerance is the half width of the simulated 95 % interval plus one per cent of the
theoretical value.
"""

import pytest

import lasthop as lh
from lasthop.models.dcf import drop_tail

RATE_BPS = 10e6
SERVICE_S = 1500 * 8 / RATE_BPS


def down_queue(load, limit):
    """Return the queue of the wire towards the access point, and the arrival rate [1/s]."""
    payload_bps = round(load / SERVICE_S * 1472 * 8)
    result = lh.simulate(
        {
            "name": "Poisson datagrams on a wire",
            "duration": "200 s",
            "warmup": "10 s",
            "replications": 8,
            "seed": 1,
            "cell": {"phy": "802.11g", "rate": "54 Mbps", "ap_queue": 1000},
            "wire": {"rate": "10 Mbps", "queue": limit},
            "station": {"s": {"udp_down": {"rate": f"{payload_bps} bps", "arrivals": "poisson"}}},
        }
    )
    return result.queues.loc["wire/down"], payload_bps / (8 * 1472)


def close(queue, quantity, expected, floor=0.0):
    half_width = queue[f"{quantity}_ci95"]
    assert half_width < 0.05 * expected + floor, f"{quantity} known to {half_width} only"
    assert queue[quantity] == pytest.approx(expected, abs=half_width + 0.01 * expected + floor)


@pytest.mark.parametrize("load", [0.3, 0.5, 0.8])
def test_delay_of_a_long_queue_is_pollaczek_khinchines(load):
    queue, arrival_rate = down_queue(load, 1000)
    close(queue, "sojourn_s", drop_tail.md1_sojourn_s(arrival_rate, SERVICE_S))
    assert queue["drop_probability"] == 0


ALWAYS = {(0.5, 3), (0.95, 20), (1.2, 1), (1.2, 3)}
"""Loads and limits that `make test` simulates. `make test-long` simulates all combinations."""


@pytest.mark.parametrize(
    ("load", "limit"),
    [
        pytest.param(load, limit, marks=() if (load, limit) in ALWAYS else pytest.mark.slow)
        for load in (0.5, 0.95, 1.2)
        for limit in (1, 3, 20)
    ],
)
def test_a_short_queue_delays_fills_and_drops_as_md1k(load, limit):
    queue, arrival_rate = down_queue(load, limit)
    theory = drop_tail.md1k(arrival_rate, SERVICE_S, limit)
    close(queue, "sojourn_s", theory.sojourn_s)
    close(queue, "occupancy_packets", theory.occupancy_packets)
    # Rare drops occur in bursts, so that their interval is uncertain: the tolerance is >= 0.0005.
    close(queue, "drop_probability", theory.loss_prob, floor=0.0005)
