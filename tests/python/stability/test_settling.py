"""Limit cycles with constraints: the queue is never negative and never exceeds the buffer. Some
cycles reach these limits, and others do not.
"""

import numpy as np
import pytest

from lasthop.stability import (
    Case,
    ConvergenceError,
    branch,
    hopf_points,
    integrate,
    manner,
    named,
    settled,
    sweep,
)
from lasthop.stability.axis import Axis
from lasthop.stability.settling import (
    ACCURATE,
    CYCLE,
    DECAYING,
    GROWING,
    REST,
    RETURNS,
    SAME,
    Settled,
    _distance,
)


@pytest.mark.parametrize(
    ("rtt", "until", "how"),
    [(0.16, 40.0, DECAYING), (0.2, 40.0, GROWING), (0.2, 400.0, CYCLE)],
)
def test_motions_end_in_their_reported_way(rtt: float, until: float, how: str) -> None:
    """The equilibrium is stable below a round-trip time of 0.171 s, so that a solution decays.
    Above 0.171 s a solution first grows, and later becomes a limit cycle.
    """
    trajectory = integrate(Case.of("red", gamma=0.03, rtt=rtt), until, start=None)
    assert manner(trajectory) == how


def test_a_motion_at_the_equilibrium_stays_there() -> None:
    case = Case.of("threshold", q_th=15.0)
    rest = float(case.equilibrium[0])
    assert manner(integrate(case, 20.0, start={"window": rest})) == REST
    assert manner(integrate(case, 300.0)) == REST


def test_without_constraints_it_is_the_cycle_of_collocation() -> None:
    [point] = hopf_points(Case.of("threshold"), "q_th", 30.0, 60.0)
    result = branch(point, 30.0, 60.0, cycles=6, intervals=20)
    value, cycle = float(result.values[-1]), result.cycles[-1]
    ended = settled(Case.of("threshold", q_th=value))
    assert ended.amplitude == pytest.approx(cycle.amplitude, rel=3e-4)
    assert ended.period == pytest.approx(cycle.period, rel=1e-4)


@pytest.mark.slow
def test_period_is_that_of_the_motion_followed_for_long() -> None:
    """The queue of this cycle is empty during a fraction of each period."""
    from lasthop.stability import integrate

    case = named("red-dumbbell")
    ended = settled(case)
    trajectory = integrate(case, 300.0, tolerance=1e-9)
    assert ended.period == pytest.approx(trajectory.period(0.5), rel=1e-4)
    assert ended.amplitude == pytest.approx(trajectory.amplitude(0.5), rel=1e-3)
    queue = trajectory.at(np.linspace(300.0 - 5.0 * trajectory.period(0.5), 300.0, 40001))[1]
    assert ended.part_at("queue", 0.0) == pytest.approx(np.mean(queue == 0.0), abs=0.01)


def test_full_buffer_bounds_the_cycle() -> None:
    ended = settled(named("red-dumbbell", {"buffer": 80.0}))
    queue = 60.0 * ended.states()[1]
    assert queue.max() == pytest.approx(80.0, abs=1e-9)
    assert ended.part_at("queue", 80.0 / 60.0) > 0.02
    assert ended.amplitude < 0.8 * settled(named("red-dumbbell")).amplitude


def test_a_stable_equilibrium_is_reported() -> None:
    ended = settled(named("red-dumbbell", {"rtt": 0.02}))
    assert ended.period is None
    assert ended.amplitude == 0.0
    assert ended.states()[0] == pytest.approx(ended.case.equilibrium[0], rel=1e-3)


@pytest.mark.slow
def test_equilibrium_and_cycle_coexist_before_a_subcritical_point() -> None:
    """The Hopf point is at 90.93 ms. Below this value, a large limit cycle with constraints already
    exists.
    """
    result = sweep(Case.of("red", gamma=0.002), Axis("rtt", 0.088, 0.092), 3)
    up = [end.amplitude for end in result.up if end is not None]
    down = [end.amplitude for end in result.down if end is not None]
    assert up[1] == 0.0 < 6.0 < down[1]
    assert up[2] == pytest.approx(down[2], rel=1e-3)
    assert result.differ == [pytest.approx(0.09)]


@pytest.mark.parametrize(
    ("moved", "arrived"),
    [
        ([9.0e-5, 8.9e-5, 8.8e-5], False),
        ([9.0e-5, 9.01e-5, 9.02e-5], False),
        ([1e-5, 1e-4, 1e-3], True),
        ([1e-3, 1e-2, 1e-1], False),
    ],
)
def test_slow_growth_is_not_mistaken_for_a_cycle(moved: list[float], arrived: bool) -> None:
    assert (_distance(np.array(moved), RETURNS) <= SAME) is arrived


def test_motion_that_neither_rests_nor_repeats_is_not_returned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lasthop.stability.settling.MAX_CHUNKS", 2)
    case = Case.of(
        "red-instant", rtt=0.2719
    )  # Just beyond the Hopf point, oscillations grow very slowly.
    with pytest.raises(ConvergenceError, match="neither at rest nor periodic"):
        settled(case)


def test_cycle_is_followed_until_its_digits_hold() -> None:
    """The integration continues until the amplitude and the period of the cycle are accurate. With
    an error of 1e-7 per step, consecutive periods of this cycle would differ by 1e-5.
    """
    ended = settled(named("red-dumbbell", {"rtt": 0.175}))
    assert 0.0 < ended.error <= ACCURATE
    trajectory = integrate(ended.case, 6.0 * ended.period, start=ended.history(), tolerance=1e-11)
    again = Settled(ended.case, trajectory, ended.period)
    assert again.amplitude == pytest.approx(ended.amplitude, rel=ACCURATE)
    assert trajectory.period(0.9) == pytest.approx(ended.period, rel=ACCURATE)
    assert again.part_at("queue", 0.0) == pytest.approx(ended.part_at("queue", 0.0), abs=1e-5)
