"""Two classes of five downloads, where class 2 has channel errors, in the engine and in a Monte
Carlo.

The Monte Carlo (`two_classes_monte_carlo.py`) was written from the standard and the RFCs.
`docs/reference/two-classes.md` compares the results of Linux, ns-2 and both programs.
"""

import sys
from pathlib import Path
from statistics import fmean

import pytest

import lasthop as lh
from lasthop.answers.estimates import Estimate
from lasthop.studies.vbs import cell

sys.path.append(str(Path(__file__).parent))

from two_classes_monte_carlo import AP, Cell, Run, simulate
from two_classes_tcp import NEVER, Rules, Segment

ENGINE = Rules(timer_at_retransmit=True, timeout_in_recovery="keep", samples="half")
"""TCP rules of the engine for the Monte Carlo. They are described in docs/concepts/tcp.md."""

UNKNOWN = 0.03
"""Allowed relative difference between the engine and the Monte Carlo, in addition to their
intervals. [-]

The compared value is the goodput ratio of the classes. Even with equal TCP rules, the engine's
ratio is 2 to 4 % above that of the Monte Carlo, with NewReno and with Compound. The cause has not
been found. Rules that matter have far larger effects. If the window that a loss halves includes the
segments of limited transmit, the ratio is 12 % lower. If a full queue drops a random packet, the
ratio is 10 % lower.
"""


def simulated(error: float, seconds: tuple[float, float], replications: int) -> lh.Result:
    """Return the result of the engine for the cell, with NewReno."""
    tree = cell.scenario("two classes of five", cell.classes(error), seconds=seconds)
    settings = {"tcp.congestion": "newreno"}
    return lh.simulate(tree, replications=replications, settings=settings, jobs=1)


def of_class(result: lh.Result, prefix: str, quantity: str, kind: str = "flows") -> list[float]:
    """Return, for each replication, the mean of a quantity over the flows or stations of a
    class.
    """
    items = result.sample_tree[kind].items()
    own = [values[quantity] for name, values in items if name.startswith(prefix)]
    return [fmean(each) for each in zip(*own, strict=True)]


class Counting(Run):
    """A Monte Carlo run that counts the segments that have arrived."""

    arrived = 0

    def deliver(self, number: int, now_s: float, out: list[Segment]) -> None:
        self.arrived += number == AP
        super().deliver(number, now_s, out)


def test_packets_of_the_monte_carlo_are_conserved() -> None:
    run = Counting(Cell(), Rules(), seed=1)
    run.run(NEVER, 20.0)
    offered = sum(counts.offered for counts in run.counts)
    lost = [counts.overflowed + counts.given_up for counts in run.counts]
    assert offered > 9000
    assert min(lost) > 0
    assert offered == run.arrived + sum(lost) + len(run.nodes[AP].queue)
    assert sum(counts.delivered for counts in run.counts) <= run.arrived


def test_without_errors_classes_are_equal_and_the_queue_loses_as_much_in_both() -> None:
    result = simulated(0.0, (5.0, 30.0), replications=10)
    runs = [simulate(Cell(error=0.0), ENGINE, seed, 5.0, 30.0) for seed in range(1, 3)]
    assert {run[f"given up % {own}"] for run in runs for own in "12"} == {0.0}
    # In 25 s with five flows per class, the goodput ratio has a standard deviation of 0.1.
    assert fmean(run["ratio"] for run in runs) == pytest.approx(1.0, abs=0.2)
    total = fmean(run["goodput 1"] + run["goodput 2"] for run in runs)
    # The medium is always busy.
    # Therefore the total goodput depends almost only on the durations of the frames.
    # Runs differ by 0.3 %.
    assert result.cells["goodput_bps"].iloc[0] / 1e6 == pytest.approx(total, rel=0.01)
    lost = fmean(run[f"buffer % {own}"] for run in runs for own in "12")
    engines = 100 * fmean(result.flows["loss_probability"])
    # About 250 packets are lost per run. The number varies by 4 % between runs.
    assert engines == pytest.approx(lost, rel=0.1)


@pytest.fixture(scope="module")
def engine() -> lh.Result:
    return simulated(0.3, (20.0, 200.0), replications=40)


@pytest.fixture(scope="module")
def monte_carlo() -> list[dict[str, float]]:
    return [simulate(Cell(), ENGINE, seed) for seed in range(1, 17)]


def ratio(values: list[float]) -> tuple[float, float]:
    """Return the mean of some goodput ratios, and the half width of its 95 % interval."""
    estimate = Estimate.of(values)
    assert estimate.ci95 is not None
    assert estimate.ci95 < 0.03 * estimate.mean
    return estimate.mean, estimate.ci95


@pytest.mark.slow
def test_ratio_of_the_classes_is_the_monte_carlos(
    engine: lh.Result, monte_carlo: list[dict[str, float]]
) -> None:
    classes = (of_class(engine, own, "goodput_bps") for own in ("high", "low"))
    mean, half = ratio([first / second for first, second in zip(*classes, strict=True)])
    expected, its_half = ratio([run["ratio"] for run in monte_carlo])
    assert mean == pytest.approx(expected, abs=half + its_half + UNKNOWN * expected)


@pytest.mark.slow
@pytest.mark.parametrize(("own", "prefix"), [("1", "high"), ("2", "low")])
def test_losses_at_the_queue_and_on_the_air_are_the_monte_carlos(
    engine: lh.Result, monte_carlo: list[dict[str, float]], own: str, prefix: str
) -> None:
    # The mean loss over sixteen runs is uncertain by 2 %.
    # The loss is inversely proportional to the square of the window.
    # Therefore the allowed difference of 3 % in the ratio is a difference of 5 % in the losses.
    given_up = fmean(of_class(engine, prefix, "downlink_discard_probability", "stations"))
    buffer = fmean(of_class(engine, prefix, "loss_probability")) - given_up
    assert 100 * buffer == pytest.approx(mean_of(monte_carlo, f"buffer % {own}"), rel=0.05)
    assert 100 * given_up == pytest.approx(
        mean_of(monte_carlo, f"given up % {own}"), rel=0.05, abs=0.01
    )


@pytest.mark.slow
def test_the_window_that_a_loss_halves_makes_a_tenth_of_the_gap(
    monte_carlo: list[dict[str, float]],
) -> None:
    counted = Rules(timer_at_retransmit=True, limited_transmit=True, limited_counts=True)
    fewer = [simulate(Cell(), counted, seed)["ratio"] for seed in range(1, 9)]
    mean, half = ratio(fewer)
    assert mean + half < 0.93 * mean_of(monte_carlo, "ratio")


def mean_of(runs: list[dict[str, float]], name: str) -> float:
    """Return the mean of a value over the runs of the Monte Carlo."""
    return fmean(run[name] for run in runs)
