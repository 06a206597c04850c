"""A fluid's prediction over the trace of a simulated queue."""

import json

import numpy as np
import pytest

import lasthop as lh
from lasthop.swing import cycle_of, period_of, sampled

ROUTER = """\
name = "router"
duration = "30 s"
warmup = "6 s"
replications = 2
queue = { limit = 300, red = { min_th = 20, max_th = 60, mean_packet = "1500 B" } }
dumbbell = { flows = 20, access = "50 Mbps", bottleneck = "30 Mbps", rtt = "150 ms" }
tcp = { congestion = "compound", window = 1000, delayed_ack = false }
"""


@pytest.fixture(scope="module")
def comparison() -> lh.Comparison:
    return lh.compare(ROUTER)


def test_trace_is_the_simulated_queue_after_the_warm_up(comparison: lh.Comparison) -> None:
    swing = comparison.swing
    assert swing is not None
    assert swing.times_s[0] > 6.0
    assert swing.times_s[-1] == pytest.approx(30.0)
    # Read at instants, the mean is that of the first replication up to their spacing.
    mean = comparison.simulation.samples.query(
        "list == 'queues' and name == 'bottleneck' and quantity == 'occupancy_packets' "
        "and replication == 0"
    )["value"].item()
    assert swing.packets.mean() == pytest.approx(mean, rel=0.02)


def test_rest_and_period_are_the_models(comparison: lh.Comparison) -> None:
    swing, prediction = comparison.swing, comparison.prediction
    assert swing is not None
    assert prediction is not None
    assert swing.rest_packets == prediction.queues.loc["bottleneck", "occupancy_packets"]
    assert swing.predicted_s == prediction.stability.loc["bottleneck", "period_s"]
    assert swing.stable is False
    assert prediction.stability.loc["bottleneck", "rightmost_root"].real > 0.0


def test_unstable_fluid_comes_with_its_cycle(comparison: lh.Comparison) -> None:
    swing = comparison.swing
    assert swing is not None
    assert swing.cycle is not None
    times, queue = swing.cycle
    assert times[0] == 0.0
    assert queue.min() == queue[0] == 0.0
    assert queue.max() > swing.rest_packets
    assert cycle_of(lh.Scenario(ROUTER, {"dumbbell.rtt": "10 ms"}).to_dict()) is None


def test_rows_have_the_period_and_json_the_prediction(comparison: lh.Comparison) -> None:
    [row] = [row for row in comparison.rows if row.list == "stability"]
    assert (row.name, row.quantity) == ("bottleneck", "period_s")
    assert row.predicted is not None
    tree = json.loads(comparison.to_json())
    [item] = tree["prediction"]["stability"]
    assert item["stable"] is False
    assert set(item["rightmost_root"]) == {"real", "imag"}
    assert item["period_s"]["mean"] == row.predicted


def test_samples_change_no_number(comparison: lh.Comparison) -> None:
    assert comparison.simulation.to_json() == lh.simulate(ROUTER).to_json()


def test_samples_that_the_scenario_asks_for_are_kept() -> None:
    own = lh.Scenario(ROUTER, {"record.series_interval": "100 ms"})
    assert sampled(own, lh.predict(own)) is own
    assert sampled(lh.Scenario(ROUTER), None) == lh.Scenario(ROUTER)


def test_picture_has_the_trace_on_top(comparison: lh.Comparison) -> None:
    axes = comparison.figure().axes
    titles = [each.get_title(loc="left") for each in axes]
    assert titles[0] == "How the queue moves"
    assert [line.get_label() for line in axes[0].lines] == [
        "simulation",
        "at rest, unstable",
        "fluid's cycle",
    ]


TIMES = np.arange(0.0, 60.0, 0.01)


@pytest.mark.parametrize("period", [0.31, 1.0, 4.7])
def test_period_of_a_noisy_wave_is_found(period: float) -> None:
    noise = np.random.default_rng(1).normal(0.0, 0.5, len(TIMES))
    wave = 40.0 + 10.0 * np.sin(2.0 * np.pi * TIMES / period)
    assert period_of(TIMES, np.maximum(0.0, wave + 10.0 * noise)) == pytest.approx(period, rel=0.03)


def test_pulses_have_the_period_of_their_repetition() -> None:
    pulses = np.where(TIMES % 3.0 < 0.4, 200.0, 1.0)
    assert period_of(TIMES, pulses) == pytest.approx(3.0, abs=0.02)


def test_what_does_not_repeat_has_no_period() -> None:
    rng = np.random.default_rng(2)
    assert period_of(TIMES, rng.normal(size=len(TIMES))) is None
    assert period_of(TIMES, np.full(len(TIMES), 7.0)) is None
    assert period_of(TIMES, TIMES) is None
    smooth = np.convolve(rng.normal(size=len(TIMES)), np.exp(-np.arange(200) / 40.0), "same")
    assert period_of(TIMES, smooth) is None
    assert period_of(TIMES[:3], TIMES[:3]) is None
