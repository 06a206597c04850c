"""The prediction of a fluid model, drawn together with the trace of a simulated queue."""

import json
from dataclasses import replace

import numpy as np
import pytest

import lasthop as lh
from lasthop.answers.digits import plain
from lasthop.comparison.oscillation import cycle_of, period_of, sampled
from lasthop.plot.network import period_text

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
    oscillation = comparison.oscillation
    assert oscillation is not None
    assert oscillation.times_s[0] > 6.0
    assert oscillation.times_s[-1] == pytest.approx(30.0)
    # The trace is from the first replication, so that its mean is the mean of this replication.
    # The two means differ only because the trace is sampled.
    mean = comparison.simulation.samples.query(
        "list == 'queues' and name == 'bottleneck' and quantity == 'occupancy_packets' "
        "and replication == 0"
    )["value"].item()
    assert oscillation.packets.mean() == pytest.approx(mean, rel=0.02)


def test_equilibrium_and_period_are_those_of_the_model(comparison: lh.Comparison) -> None:
    oscillation, prediction = comparison.oscillation, comparison.prediction
    assert oscillation is not None
    assert prediction is not None
    assert oscillation.rest_packets == prediction.queues.loc["bottleneck", "occupancy_packets"]
    assert oscillation.predicted_s == prediction.stability.loc["bottleneck", "period_s"]
    assert oscillation.stable is False
    assert prediction.stability.loc["bottleneck", "rightmost_root"].real > 0.0


def test_an_unstable_fluid_model_has_its_cycle(comparison: lh.Comparison) -> None:
    oscillation = comparison.oscillation
    assert oscillation is not None
    assert oscillation.cycle is not None
    times, queue = oscillation.cycle
    assert times[0] == 0.0
    assert queue.min() == queue[0] == 0.0
    assert queue.max() > oscillation.rest_packets
    short = lh.Scenario(ROUTER, {"dumbbell.rtt": "20 ms"}).typed
    assert cycle_of(short) == (None, None)


def test_rows_have_the_period_and_json_the_prediction(comparison: lh.Comparison) -> None:
    [row] = [row for row in comparison.rows if row.list == "stability"]
    assert (row.name, row.quantity) == ("bottleneck", "period_s")
    assert comparison.oscillation is not None
    assert comparison.oscillation.cycle is not None
    # The compared period is that of the model's limit cycle, not that of the first oscillation.
    assert row.predicted == comparison.oscillation.cycle_s
    assert row.predicted == pytest.approx(sum(comparison.oscillation.cycle[0][[1, -1]]))
    tree = json.loads(comparison.to_json())
    [item] = tree["prediction"]["stability"]
    assert item["stable"] is False
    assert set(item["rightmost_root"]) == {"real", "imag"}
    assert item["period_s"]["mean"] == comparison.oscillation.predicted_s != row.predicted


def test_samples_change_no_number(comparison: lh.Comparison) -> None:
    assert comparison.simulation.to_json() == lh.simulate(ROUTER).to_json()


def test_samples_that_the_scenario_requests_stay() -> None:
    own = lh.Scenario(ROUTER, {"record.series_interval": "100 ms"})
    assert sampled(own, lh.predict(own)) is own
    cell = lh.Scenario("examples/hotspot.toml")
    assert sampled(cell, None) is cell


def test_the_period_is_reported_without_a_fluid_model() -> None:
    """No model supports CUBIC with this RED, but the trace of the queue is shown."""
    comparison = lh.compare(ROUTER, settings={"tcp.congestion": "cubic", "replications": 1})
    assert comparison.refusal is not None
    assert comparison.oscillation is not None
    assert comparison.oscillation.rest_packets is None
    [row] = [row for row in comparison.rows if row.list == "stability"]
    assert (row.name, row.predicted) == ("bottleneck", None)
    axes = comparison.figure().axes
    assert [line.get_label() for line in axes[0].lines] == ["simulated queue"]


def test_every_full_link_of_a_parking_lot_has_its_trace() -> None:
    lot = """\
duration = "10 s"
warmup = "2 s"
queue.red = { min_th = 5, max_th = 50 }
parking_lot = { hops = 2, flows = 4, cross = 4, bottleneck = "10 Mbps", rtt = "50 ms" }
tcp = { window = 1000 }
"""
    comparison = lh.compare(lot)
    assert {oscillation.queue for oscillation in comparison.oscillations} == {
        "bottleneck-1",
        "bottleneck-2",
    }


def test_picture_has_the_trace_on_top(comparison: lh.Comparison) -> None:
    axes = comparison.figure().axes
    titles = [each.get_title(loc="left") for each in axes]
    assert titles[0] == "Queue over time: bottleneck"
    assert [line.get_label() for line in axes[0].lines] == [
        "simulated queue",
        "fluid model: unstable equilibrium",
        "fluid model: cycle",
    ]


def test_a_trace_without_a_period_names_the_longest_period_searched(
    comparison: lh.Comparison,
) -> None:
    assert comparison.oscillation is not None
    assert period_text(comparison.oscillation).startswith("time [s]\nsimulation: period ")
    without = replace(comparison.oscillation, period_s=None, cycle_s=None)
    to = plain(without.longest_s)  # printed as in the table: "none up to 2.999"
    expected = f"time [s]\nsimulation: no steady period up to {to} s, 1/8 of the trace"
    assert period_text(without) == expected
    assert period_text(replace(without, cycle_s=2.0)) == f"{expected}\nfluid model: cycle 2.000 s"


TIMES = np.arange(0.0, 60.0, 0.01)


@pytest.mark.parametrize("period", [0.31, 1.0, 4.7])
def test_period_of_a_noisy_wave_is_found(period: float) -> None:
    noise = np.random.default_rng(1).normal(0.0, 0.5, len(TIMES))
    wave = 40.0 + 10.0 * np.sin(2.0 * np.pi * TIMES / period)
    assert period_of(TIMES, np.maximum(0.0, wave + 10.0 * noise)) == pytest.approx(period, rel=0.03)


def test_packets_that_return_after_a_round_trip_are_not_an_oscillation() -> None:
    """A trace that repeats only after a round-trip time has no period. A trace with a slow wave has
    a period.
    """
    rng = np.random.default_rng(3)
    bursts = np.tile(rng.normal(0.0, 5.0, 20), 300) + rng.normal(0.0, 1.0, 6000)
    echo = 20.0 + bursts
    assert period_of(TIMES, echo) == pytest.approx(0.2, abs=0.01)
    assert period_of(TIMES, echo, [0.2]) is None
    oscillation = echo + 8.0 * np.sin(2.0 * np.pi * TIMES / 1.5)
    assert period_of(TIMES, oscillation, [0.2]) == pytest.approx(1.5, rel=0.03)
    # The bursts are larger than this wave, so that no oscillation of the queue is reported.
    small = echo + 1.0 * np.sin(2.0 * np.pi * TIMES / 1.5)
    assert period_of(TIMES, small, [0.2]) is None


def test_pulses_have_the_period_of_their_repetition() -> None:
    pulses = np.where(TIMES % 3.0 < 0.4, 200.0, 1.0)
    assert period_of(TIMES, pulses) == pytest.approx(3.0, abs=0.02)


def test_a_trace_that_does_not_repeat_has_no_period() -> None:
    rng = np.random.default_rng(2)
    assert period_of(TIMES, rng.normal(size=len(TIMES))) is None
    assert period_of(TIMES, np.full(len(TIMES), 7.0)) is None
    assert period_of(TIMES, TIMES) is None
    smooth = np.convolve(rng.normal(size=len(TIMES)), np.exp(-np.arange(200) / 40.0), "same")
    assert period_of(TIMES, smooth) is None
    assert period_of(TIMES[:3], TIMES[:3]) is None
