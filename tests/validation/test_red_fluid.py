"""The fluid model of a router with RED, compared with packets: sixty flows over 100 Mb/s, in runs
of 60 s.

At equal mean windows, the simulated loss is three quarters of the loss in the fluid model. The loss
depends on the square of the window, of which the fluid model uses the mean. Real windows are
saw-teeth, whose mean square is 4/3 of the square of the mean.
"""

import pytest

import lasthop as lh
from lasthop.comparison.oscillation import period_of
from lasthop.models.red import fluid
from lasthop.models.red.router import dropped
from lasthop.models.red.timeouts import reno_loss


def router(rtt_ms: float, max_th: float, **red: object) -> lh.Comparison:
    red = {"min_th": 50, "max_th": max_th, "mean_packet": "1500 B", **red}
    return lh.compare(
        {
            "duration": "60 s",
            "warmup": "20 s",
            "replications": 3,
            "queue": {"limit": 2084, "red": red},
            "dumbbell": {
                "flows": 60,
                "access": "20 Mbps",
                "access_spread": 0.01,
                "bottleneck": "100 Mbps",
                "rtt": f"{rtt_ms} ms",
            },
            "tcp": {"congestion": "compound", "window": 1000, "delayed_ack": False},
        }
    )


def small_buffer(rtt_ms: float) -> dict[str, object]:
    """Return sixty flows through a drop-tail queue of 15 packets."""
    return {
        "duration": "60 s",
        "warmup": "20 s",
        "replications": 2,
        "queue": 15,
        "dumbbell": {
            "flows": 60,
            "access": "20 Mbps",
            "access_spread": 0.01,
            "bottleneck": "100 Mbps",
            "rtt": f"{rtt_ms} ms",
        },
        "tcp": {"congestion": "compound", "window": 1000, "delayed_ack": False},
    }


@pytest.mark.parametrize(
    ("red", "wait", "behind"),
    [
        ({}, True, 1.0),
        pytest.param({"wait": False}, False, 1.0, marks=pytest.mark.slow),
        ({"form": "published"}, False, 0.0),
    ],
)
def test_part_dropped_is_that_of_the_fluids_law(
    red: dict[str, object], wait: bool, behind: float
) -> None:
    """In a steady queue, the simulated loss is within 4 % of RED's drop probability at the mean
    queue length. The drop probability includes the spacing of drops.

    `behind` is 1 if RED's queue length excludes the packet in service, as in ns-2.
    """
    queue = router(50, 1000, **red).simulation.queues.loc["bottleneck"]
    base = 0.1 * (queue["occupancy_packets"] - behind - 50.0) / 950.0
    assert queue["drop_probability"] == pytest.approx(dropped(base, wait=wait), rel=0.04)


def test_saw_teeth_lose_three_quarters() -> None:
    compared = router(50, 1000)
    simulated = compared.simulation.queues.loc["bottleneck"]
    window = compared.simulation.table("classes").loc["flow", "cwnd_packets"]
    # Windows are below 16 packets and grow like Reno's.
    # The loss is 2 / w^2 in the fluid model, and 1.5 / w^2 with saw-teeth of mean w.
    assert simulated["drop_probability"] * window**2 == pytest.approx(1.5, rel=0.12)
    assert compared.prediction is not None
    predicted = compared.prediction.queues.loc["bottleneck"]
    ratio = simulated["drop_probability"] / predicted["drop_probability"]
    assert ratio == pytest.approx(0.75, abs=0.06)
    assert compared.simulation.links.loc["bottleneck", "utilisation"] == pytest.approx(
        1.0, abs=1e-3
    )


@pytest.mark.parametrize(("abe", "reduction"), [(False, 0.5), (True, 0.2)])
def test_marks_reduce_the_window_by_the_factor_of_the_model(abe: bool, reduction: float) -> None:
    """The windows are saw-teeth between W and (1 - d) W. They grow by one packet per round trip,
    and do not grow in the round trip after a mark. One packet of d W + 1 round trips is marked.
    The simulated marks are within 8 % of this, and the predicted window within 7 %.
    """
    compared = lh.compare(
        {
            **small_buffer(50),
            "duration": "30 s",
            "warmup": "10 s",
            "replications": 1,
            "queue": {
                "limit": 2084,
                "red": {"min_th": 50, "max_th": 1000, "mean_packet": "1500 B", "ecn": True},
            },
            "tcp": {
                "congestion": "newreno",
                "window": 1000,
                "delayed_ack": False,
                "ecn": True,
                "abe": abe,
            },
        }
    )
    marked = compared.simulation.queues.loc["bottleneck", "mark_probability"]
    window = compared.simulation.table("classes").loc["flow", "cwnd_packets"]
    round_trips = reduction * window / (1.0 - reduction / 2.0) + 1.0
    assert marked == pytest.approx(1.0 / (window * round_trips), rel=0.08)
    assert compared.prediction is not None
    predicted = compared.prediction.table("classes").loc["flow", "cwnd_packets"]
    assert predicted == pytest.approx(window, rel=0.07)


@pytest.mark.parametrize("rtt_ms", [10, 40])
def test_loss_with_timeouts_is_what_the_warning_says(rtt_ms: float) -> None:
    """With small windows, many losses cause timeouts. The loss in the fluid model is 2.5 times the
    simulated loss with windows of 4 packets, and 1.7 times with windows of 7 packets. The loss by
    Reno's formula, which a warning prints, is accurate to 15 %.
    """
    compared = router(rtt_ms, 100)
    known = compared.scenario.typed
    about = reno_loss(fluid(known), known.tcp_flows[0].tcp)
    simulated = compared.simulation.queues.loc["bottleneck", "drop_probability"]
    assert compared.prediction is not None
    predicted = compared.prediction.queues.loc["bottleneck", "drop_probability"]
    assert predicted > 1.5 * simulated
    assert about == pytest.approx(simulated, rel=0.15)


@pytest.mark.parametrize("rtt_ms", [40, 80])
def test_small_buffer_loses_between_poisson_and_smooth(rtt_ms: float) -> None:
    """With a drop-tail queue of 15 packets, the loss is between two predictions: Poisson arrivals
    in the fluid model, and smooth arrivals. The windows at equilibrium are 5 and 9 packets.
    """
    compared = lh.compare(small_buffer(rtt_ms))
    known = compared.scenario.typed
    smooth = reno_loss(fluid(known), known.tcp_flows[0].tcp)
    simulated = compared.simulation.queues.loc["bottleneck", "drop_probability"]
    assert compared.prediction is not None
    predicted = compared.prediction.queues.loc["bottleneck", "drop_probability"]
    assert smooth is not None
    assert smooth < simulated < predicted


def test_steady_small_buffer_has_no_period() -> None:
    """At 200 ms, the queue is correlated within a round trip, but does not oscillate."""
    oscillation = lh.compare(small_buffer(200)).oscillation
    assert oscillation is not None
    assert oscillation.stable
    assert oscillation.period_s is None
    assert period_of(oscillation.times_s, oscillation.packets) == pytest.approx(0.2, rel=0.1)


@pytest.mark.slow
def test_queue_oscillates_where_the_fluid_is_unstable() -> None:
    """The ratio of standard deviation to mean is small if the fluid model is clearly stable, and
    large if it is unstable.
    """
    shares = {}
    for rtt, max_th in ((20, 100), (50, 1000), (100, 100), (200, 100)):
        compared = router(rtt, max_th)
        assert compared.oscillation is not None
        queue = compared.simulation.queues.loc["bottleneck"]
        share = queue["occupancy_sd_packets"] / queue["occupancy_packets"]
        shares.setdefault(compared.oscillation.stable, []).append(share)
    assert sorted(map(len, shares.values())) == [2, 2]
    assert max(shares[True]) < 0.25
    assert min(shares[False]) > 0.9


def test_period_not_far_beyond_the_edge_is_the_predicted_one() -> None:
    """At 100 ms the fluid model is unstable. Its critical round-trip time is 53 ms."""
    oscillation = router(100, 100).oscillation
    assert oscillation is not None
    assert oscillation.period_s == pytest.approx(oscillation.predicted_s, rel=0.15)


@pytest.mark.slow
def test_far_beyond_the_edge_the_fluids_cycle_has_the_height_and_not_the_period() -> None:
    """At 200 ms the peaks agree within 20 %. After the queue was empty, packets begin to fill it
    earlier than in the fluid model.
    """
    oscillation = router(200, 100).oscillation
    assert oscillation is not None
    assert oscillation.cycle is not None
    times, queue = oscillation.cycle
    assert oscillation.packets.max() == pytest.approx(queue.max(), rel=0.2)
    assert oscillation.predicted_s < oscillation.period_s < times[-1]
