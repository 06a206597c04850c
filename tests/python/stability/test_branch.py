"""Branches of limit cycles: comparison with time integration, multipliers, folds and sub-critical
branches.
"""

import sys

import numpy as np
import pytest

from lasthop.stability import Case, ConvergenceError, ParameterError, branch, hopf_points, integrate
from lasthop.stability.branch import Branch
from lasthop.stability.cycle import Mesh, corrected


def traced(model: str, name: str, low: float, high: float, cycles: int, **values: object) -> Branch:
    [point] = hopf_points(Case.of(model, values), name, low, high)
    return branch(point, low, high, cycles=cycles, intervals=16)


def test_cycles_of_the_threshold_policy_are_those_of_integration() -> None:
    result = traced("threshold", "q_th", 30.0, 60.0, 6)
    assert all(cycle.stable for cycle in result.cycles)
    value, cycle = float(result.values[-1]), result.cycles[-1]
    trajectory = integrate(
        Case.of("threshold", q_th=value), 400.0, constrained=False, tolerance=1e-9
    )
    assert trajectory.amplitude(0.1) == pytest.approx(cycle.amplitude, rel=1e-4)
    assert trajectory.period(0.1) == pytest.approx(cycle.period, rel=1e-4)


def test_the_amplitude_grows_beyond_the_hopf_point() -> None:
    result = traced("threshold", "q_th", 30.0, 60.0, 6)
    assert np.all(np.diff(result.values) > 0.0)
    assert np.all(np.diff([cycle.amplitude for cycle in result.cycles]) > 0.0)


@pytest.mark.slow
def test_one_multiplier_equals_1() -> None:
    result = traced("red", "rtt", 0.01, 1.0, 4, gamma=0.03)
    assert all(cycle.trivial_error < 1e-5 for cycle in result.cycles)


@pytest.mark.slow
def test_branch_without_averaging_folds_back() -> None:
    """The branch is super-critical at 0.27175 s and has a fold just beyond this point. There the
    oscillation jumps to a large cycle.
    """
    result = traced("red-instant", "rtt", 0.2, 0.4, 12)
    assert result.form.supercritical
    assert result.folds
    fold = result.folds[0]
    assert 0.27178 < result.values[fold] < 0.27183
    assert result.cycles[fold - 1].stable
    assert not result.cycles[-1].stable
    assert result.values[-1] < result.form.point.value


def test_a_subcritical_cycle_is_before_the_point_and_bounds_decaying_motions() -> None:
    result = traced("red", "rtt", 0.05, 0.2, 5, gamma=0.002)
    assert not result.form.supercritical
    assert np.all(result.values < result.form.point.value)
    assert not any(cycle.stable for cycle in result.cycles)
    cycle = result.cycles[-1]
    rest = cycle.case.equilibrium
    phase = np.linspace(-1.0, 0.0, 4001)

    def scaled(factor: float):
        def history(time: float) -> list[float]:
            state = cycle.at(np.array([time / cycle.period]))[:, 0]
            return list(rest + factor * (state - rest))

        return history

    swings = []
    for factor in (0.9, 1.1):
        trajectory = integrate(
            cycle.case, 6.0 * cycle.period, start=scaled(factor), constrained=False, tolerance=1e-8
        )
        late = trajectory.at(trajectory.starts[-1] + phase * cycle.period)[0]
        swings.append(float(np.ptp(late)) / 2.0 / cycle.amplitude)
    assert swings[0] < 0.9
    assert swings[1] > 1.1


def test_mesh_differentiates_polynomials_exactly() -> None:
    mesh = Mesh(np.array([0.0, 0.1, 0.4, 1.0]))
    values = np.sin(2 * np.pi * mesh.points[:-1])
    fine = Mesh.even(40)
    smooth = fine.matrix(fine.gauss, derivative=True) @ np.sin(2 * np.pi * fine.points[:-1])
    assert np.allclose(smooth, 2 * np.pi * np.cos(2 * np.pi * fine.gauss), atol=1e-4)
    assert np.allclose(mesh.matrix(mesh.points[:-1]), np.eye(len(values)), atol=1e-12)
    assert np.allclose(mesh.matrix(mesh.gauss).sum(axis=1), 1.0)


def test_no_cycle_is_returned_if_none_exists() -> None:
    case = Case.of("threshold", q_th=30.0)  # stable; the bifurcation is super-critical
    mesh = Mesh.even(12)
    wave = np.sin(2 * np.pi * mesh.points[:-1])
    with pytest.raises(ConvergenceError, match="no limit cycle"):
        corrected(case, mesh, (case.equilibrium[0] + 0.3 * wave)[None], 4.0)


def test_range_must_hold_the_hopf_point() -> None:
    [point] = hopf_points(Case.of("threshold"), "q_th", 5.0, 100.0)
    with pytest.raises(ParameterError, match="is not in 50"):
        branch(point, 50.0, 60.0)


@pytest.mark.slow
def test_mesh_is_refined_until_the_trivial_multiplier_is_1() -> None:
    """Compare multipliers at three round-trip times with a direct integration of the linearised
    equations. The integration gives 0.560, 0.444 and 0.24 to 0.27.
    """
    [point] = hopf_points(Case.of("red-instant"), "rtt", 0.1, 5.0)
    result = branch(point, 0.1, 5.0, cycles=40)
    assert all(cycle.trivial_error < 1e-3 for cycle in result.cycles)
    beyond = np.array([cycle.amplitude > 140.0 for cycle in result.cycles])
    values = result.values[beyond]
    largest = [abs(c.others[0]) for c, late in zip(result.cycles, beyond, strict=True) if late]
    assert np.all(np.diff(largest) < 0.0)
    at = np.interp([0.2348, 0.2377, 0.2479], values, largest)
    assert at[0] == pytest.approx(0.560, abs=0.01)
    assert at[1] == pytest.approx(0.444, abs=0.01)
    assert 0.22 < at[2] < 0.27
    assert all(c.stable for c, late in zip(result.cycles, beyond, strict=True) if late)


def test_stability_is_not_known_where_the_mesh_is_too_coarse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules["lasthop.stability.branch"], "FINEST", 0)
    [point] = hopf_points(Case.of("red-instant"), "rtt", 0.1, 5.0)
    result = branch(point, 0.1, 5.0, cycles=26)
    last = result.cycles[-1]
    assert last.trivial_error > 1e-3
    assert last.stable is None
    assert result.cycles[0].stable is True


@pytest.mark.slow
def test_small_amplitudes_are_within_their_error_bounds() -> None:
    """With a uniform mesh of 24 intervals, the amplitude of the first cycle would have an error of
    1.1 %. Therefore the mesh is refined.
    """
    [point] = hopf_points(Case.of("red", gamma=0.03), "rtt", 0.01, 1.0)
    [cycle] = branch(point, 0.01, 1.0, cycles=1).cycles
    assert cycle.accurate
    assert len(cycle.mesh.edges) > 2 * 24
    mesh = cycle.mesh.doubled()
    finer = corrected(cycle.case, mesh, cycle.at(mesh.points[:-1]), cycle.period)
    assert abs(finer.amplitude / cycle.amplitude - 1.0) < 1e-4
    assert abs(finer.period / cycle.period - 1.0) < 1e-7
    assert cycle.amplitude == pytest.approx(finer.amplitude, rel=5e-5)
