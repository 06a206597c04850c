"""Paper 000: the model of section IV, compared with the simulation of the same cell.

The cell has two classes of five downloads. Data frames of the second class have channel errors.
Every run has ten replications of 400 s and a fixed seed. Half widths of the 95 % intervals of a
class's goodput are up to 1 %. Therefore a model that is exact to 1 % agrees within 2 %.
"""

from functools import cache
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.models.vbs import PAPER, predict
from lasthop.simulation.simulate import replaced

EXAMPLE = Path(__file__).parents[2] / "examples" / "snr-classes.toml"
WIRE = {"wire.delay": "35 ms"}


def settings(attempts, error, **more):
    """Return settings that replace those of the example file. TCP handshakes are off, because all
    connections of the paper's model are always open.
    """
    change = {"cell.attempts_short": attempts, "station.low.error_down": error}
    return {**change, "tcp.handshake": False, **more}


@cache
def simulated(attempts, error, wire=False):
    changes = settings(attempts, error) | (WIRE if wire else {})
    return lh.simulate(EXAMPLE, replications=10, settings=changes)


def by_class(result, quantity):
    """Return the mean of a quantity over the connections of each class."""
    column = result.flows[quantity]
    return [column[column.index.str.startswith(name)].mean() for name in ("high", "low")]


POINTS = [(attempts, error) for attempts in (8, 4) for error in (0.0, 0.1, 0.2, 0.3)]


@pytest.mark.smoke(1)
@pytest.mark.parametrize(("attempts", "error"), POINTS)
def test_goodput_of_both_classes_within_two_per_cent(attempts, error):
    """The goodput of the model is within 2 % of the simulated goodput. Claim vbs-7 requires only
    3 % with eight attempts, and 6 % with four attempts.
    """
    model = lh.predict(EXAMPLE, model="vbs", settings=settings(attempts, error))
    seen = by_class(simulated(attempts, error), "goodput_bps")
    assert by_class(model, "goodput_bps") == pytest.approx(seen, rel=0.02)


@pytest.mark.smoke(1)
@pytest.mark.parametrize(("attempts", "error"), POINTS)
def test_failures_discards_windows_and_drops_agree_with_the_model(attempts, error):
    model = lh.predict(EXAMPLE, model="vbs", settings=settings(attempts, error))
    run = simulated(attempts, error)
    seen, predicted = run.aps.iloc[0], model.aps.iloc[0]
    assert predicted.frame_failure_rate == pytest.approx(seen.frame_failure_rate, rel=0.05)
    assert predicted.discard_probability == pytest.approx(
        seen.discard_probability, rel=0.1, abs=2e-5
    )
    assert by_class(model, "cwnd_packets") == pytest.approx(by_class(run, "cwnd_packets"), rel=0.04)
    # Flows lose packets in bursts, which are a little too long in the model.
    # Therefore the drop probability of the model is up to 20 % too large.
    drops = [result.queues["drop_probability"]["ap"] for result in (model, run)]
    assert 1.0 < drops[0] / drops[1] < 1.2


@pytest.mark.parametrize(
    ("attempts", "error", "within"),
    [
        pytest.param(8, 0.1, 0.03, marks=pytest.mark.slow),
        pytest.param(8, 0.3, 0.03, marks=pytest.mark.slow),
        (4, 0.2, 0.03),
        pytest.param(4, 0.3, 0.08, marks=pytest.mark.slow),
    ],
)
def test_the_papers_chain_is_within_eight_per_cent(attempts, error, within):
    """Compare the paper's version of the model with the simulation. It consists of the corrected
    Eqs. (3) to (19). Every loss halves the window, and all classes have equal loss probabilities.
    """
    changed = replaced(EXAMPLE, settings(attempts, error))
    model = lh.Prediction(predict(changed.typed, PAPER), changed)
    seen = by_class(simulated(attempts, error), "goodput_bps")
    predicted = by_class(model, "goodput_bps")
    assert predicted == pytest.approx(seen, rel=within)
    assert predicted[1] / predicted[0] > seen[1] / seen[0]


@pytest.mark.slow
@pytest.mark.parametrize(("attempts", "error"), [(8, 0.2), (8, 0.3), (4, 0.3)])
def test_with_seventy_milliseconds_of_wire_the_poor_channel_loses_less_at_the_queue(
    attempts, error
):
    """With a long wire, the class with channel errors loses fewer packets at the queue.

    A frame of this class that is repeated takes a long time. The ACK of the frame requests another
    packet, which reaches the queue one wire delay later, after an equally long gap without
    arrivals. During this gap the queue becomes shorter, so that the packet more
    often finds room.
    """
    run = simulated(attempts, error, wire=True)
    model = lh.predict(EXAMPLE, model="vbs", settings=settings(attempts, error) | WIRE)
    seen, predicted = by_class(run, "goodput_bps"), by_class(model, "goodput_bps")
    assert predicted == pytest.approx(seen, rel=0.05)
    if attempts == 8:
        assert seen[1] > 1.05 * seen[0]
        assert predicted[1] > 1.05 * predicted[0]
