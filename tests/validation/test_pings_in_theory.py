"""Round-trip times of pings against queueing theory: a full drop-tail queue, an M/D/1 queue, and an
idle path. Pings are 84 B long, and arrive at times that are nearly independent of the queue.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import lasthop as lh

RATE_BPS = 10e6
DELAY_S = 0.01
PACKET_BYTES, PAYLOAD_BYTES, PING_BYTES = 1500, 1472, 84
SERVICE_S = 8 * PACKET_BYTES / RATE_BPS
IDLE_S = 2 * (DELAY_S + 8 * PING_BYTES / RATE_BPS)
"""Round-trip time of a ping without other traffic: propagation and transmission, there and back."""

Tree = dict[str, Any]


def link(load: float, queue: int, **ping: object) -> Tree:
    """Return a link that carries pings in addition to Poisson datagrams of 1500 B with this
    load."""
    rate_bps = load * RATE_BPS * PAYLOAD_BYTES / PACKET_BYTES
    ends = {"from": "a", "to": "b", "start_spread": "0 s"}
    flows: Tree = {"probe": ends | {"ping": {"every": "21 ms"} | ping}}
    if load:
        source = {"rate": f"{rate_bps:.0f} bps", "arrivals": "poisson", "packet": "1472 B"}
        flows["load"] = ends | {"udp": source}
    return {
        "duration": "210 s",
        "warmup": "10 s",
        "replications": 6,
        "seed": 3,
        "link": {
            "l": {
                "from": "a",
                "to": "b",
                "rate": f"{RATE_BPS:.0f} bps",
                "delay": f"{DELAY_S} s",
                "queue": queue,
            }
        },
        "flow": flows,
    }


def test_on_an_idle_path_a_ping_takes_propagation_and_transmission() -> None:
    probe = lh.simulate(link(0.0, 100), settings={"replications": 1}).flows.loc["probe"]
    for quantity in ("rtt_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s"):
        assert probe[quantity] == pytest.approx(IDLE_S, abs=2e-9)
    assert probe["loss_probability"] == 0.0
    larger = lh.simulate(link(0.0, 100, size="1000 B"), settings={"replications": 1})
    longer_s = 2 * 8 * (1000 - 56) / RATE_BPS
    assert larger.flows.loc["probe", "rtt_s"] == pytest.approx(IDLE_S + longer_s, abs=2e-9)


@pytest.mark.parametrize("load", [0.5, 0.9])
def test_a_ping_waits_as_long_as_an_arrival_at_an_m_d_1_queue(load: float) -> None:
    """Pollaczek-Khinchine: an arrival waits W = sum(lambda_i E[S_i^2]) / (2 (1 - rho)).

    The sum is over the datagrams and the pings. Pings have equal gaps, but their load is 0.3 %.
    """
    result = lh.simulate(link(load, 100_000))
    probe = result.flows.loc["probe"]
    ping_service_s, every_s = 8 * PING_BYTES / RATE_BPS, 0.021
    total = load + ping_service_s / every_s
    wait_s = (load * SERVICE_S + ping_service_s**2 / every_s) / (2 * (1 - total))
    measured_s = probe["rtt_s"] - IDLE_S
    assert probe["rtt_s"] == pytest.approx(wait_s + IDLE_S, rel=0.02)
    assert measured_s == pytest.approx(wait_s, rel=0.05, abs=2 * probe["rtt_s_ci95"])
    # The queue's own sojourn time is that of all packets: the same wait, and their own service.
    # Only its forward direction has load.
    packets = load / SERVICE_S, 1 / every_s
    mean_service_s = (load + ping_service_s / every_s) / sum(packets)
    sojourn_s = result.queues.loc["l", "sojourn_s"]
    assert sojourn_s == pytest.approx(measured_s + mean_service_s, rel=0.05)


def test_a_ping_through_a_full_fifo_takes_the_time_to_drain_the_queue() -> None:
    """With three times the load that the link carries, a place in the queue of B packets is taken
    soon after it becomes free. A ping that gets in thus waits for B - 1 packets and most of the
    packet in service. Pings take places, too: with few pings, nearly all places have 1500 B.
    """
    limit = 60
    probe = lh.simulate(link(3.0, limit, every="101 ms")).flows.loc["probe"]
    full_s = limit * SERVICE_S + IDLE_S
    assert probe["rtt_s"] == pytest.approx(full_s, rel=0.02)
    assert probe["rtt_p50_s"] == pytest.approx(full_s, rel=0.02)
    # Two thirds of all packets do not get in; pings are no exception.
    assert probe["loss_probability"] == pytest.approx(2 / 3, abs=0.03)


def test_a_ping_under_a_full_window_takes_the_round_trip_time_of_tcp() -> None:
    """With a window of W segments and a queue with room for it, the link is always busy. A ping
    then waits for the segments of the window that are not in flight elsewhere."""
    tree = link(0.0, 1000) | {"tcp": {"congestion": "newreno", "window": 100, "sack": False}}
    tree["flow"]["bulk"] = {"from": "a", "to": "b", "delayed_ack": False}
    result = lh.simulate(tree, settings={"replications": 2})
    # a segment of 1460 B + 40 B; its ACK of 40 B
    back_s = 8 * 40 / RATE_BPS
    rtt_s = result.flows.loc["bulk", "rtt_s"]
    assert rtt_s == pytest.approx(100 * SERVICE_S, rel=0.01)
    # the ping does not wait for its own service, and its reply is longer than an ACK
    ping_s = 8 * PING_BYTES / RATE_BPS
    expected_s = rtt_s - SERVICE_S + 2 * ping_s - back_s + SERVICE_S / 2
    assert result.flows.loc["probe", "rtt_s"] == pytest.approx(expected_s, rel=0.02)


def test_loss_counts_both_directions_and_the_deadline() -> None:
    tree = link(0.0, 100)
    tree["link"]["l"]["loss"] = 0.1
    probe = lh.simulate(tree).flows.loc["probe"]
    error = 2 * probe["loss_probability_ci95"]
    assert probe["loss_probability"] == pytest.approx(1 - 0.9**2, abs=error)
    late = lh.simulate(link(0.0, 100, deadline="20 ms"), settings={"replications": 1})
    assert late.flows.loc["probe", "loss_probability"] == 1.0
    assert np.isnan(late.flows.loc["probe"].get("rtt_s", np.nan))


def test_rtt_grows_with_the_load() -> None:
    means = [
        lh.simulate(link(load, 100), settings={"replications": 2}).flows.loc["probe", "rtt_s"]
        for load in (0.0, 0.5, 0.9, 1.0)
    ]
    assert all(lower < higher for lower, higher in pairwise(means))
