"""The linear control loop of PI, compared with packets: sixty flows over 15 Mb/s, the example of
PI's paper.
"""

import pytest

import lasthop as lh
from lasthop.models.red import fluid
from lasthop.stability import loop


def queue(gain: float) -> tuple[float, float, float]:
    """Return mean and standard deviation of the queue [packets], and the gain margin of its control
    loop [-].
    """
    pi = {"target": 200, "ecn": True, "a": gain * 1.822e-5, "b": gain * 1.816e-5}
    scenario = lh.Scenario(
        {
            "duration": "80 s",
            "warmup": "40 s",
            "queue": {"limit": 800, "pi": pi},
            "dumbbell": {
                "flows": 60,
                "access": "20 Mbps",
                "access_spread": 0.01,
                "bottleneck": "15 Mbps",
                "rtt": "190 ms",
            },
            "tcp": {
                "congestion": "reno",
                "mss": "460 B",
                "window": 1000,
                "delayed_ack": False,
                "ecn": True,
            },
        }
    )
    row = lh.simulate(scenario).queues.loc["bottleneck"]
    margin = loop(fluid(scenario.typed).case).gain_margin
    assert margin is not None
    return row["occupancy_packets"], row["occupancy_sd_packets"], margin


def test_queue_stays_at_the_target_where_the_loop_is_stable() -> None:
    """The saw-teeth of the windows cause a standard deviation of 32 to 39 packets in six runs."""
    mean, deviation, margin = queue(1.0)
    assert margin > 8.0
    assert mean == pytest.approx(200.0, rel=0.04)
    assert deviation < 50.0


def test_queue_oscillates_and_runs_empty_far_beyond_the_edge() -> None:
    """With 30 times the gain, which is 3.4 times the critical gain, three runs have a mean of 62
    packets and a standard deviation of 36 packets.
    """
    mean, deviation, margin = queue(30.0)
    assert margin < 0.3
    assert mean < 100.0
    assert deviation > 0.4 * mean
