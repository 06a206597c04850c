"""Hopf points: parameter values at which a pair of roots crosses the imaginary axis."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.stability.axis import Axis, axis_of
from lasthop.stability.case import Case, Linear
from lasthop.stability.cost import check_cost
from lasthop.stability.errors import ConvergenceError, NoEquilibriumError
from lasthop.stability.spectrum import leading, polished, resolved_by, rightmost

SCAN = 160
"""Number of parameter values at which a scan computes the rightmost root."""
REFINED = 3
"""Number of times that a scan is refined at values where the root approaches the imaginary axis and
then moves away.
"""
PIECES = 8
"""Number of parts into which a refinement divides an interval of the scan."""
ON_AXIS = 1e-9
"""A root is considered to be on the imaginary axis if its real part, divided by its modulus, is at
most this value. [-]
"""


@dataclass(frozen=True)
class HopfPoint:
    """A parameter value at which the rightmost pair of characteristic roots is imaginary.

    Parameters
    ----------
    case : Case
        Case at the Hopf point.
    parameter : str
        Name of the varied parameter.
    value : float
        Value of the parameter at the Hopf point.
    frequency : float
        Imaginary part of the roots, omega. [rad/s]
    speed : complex
        Derivative of the root by the parameter. Its real part must differ from 0 (transversality
        condition).
    """

    case: Case
    parameter: str
    value: float
    frequency: float
    speed: complex

    @property
    def period(self) -> float:
        """Period of the oscillation at the Hopf point. [s]"""
        return 2.0 * np.pi / self.frequency

    @property
    def unstable_above(self) -> bool:
        """Whether the equilibrium is unstable just above the value of the parameter, and stable
        just below.
        """
        return self.speed.real > 0.0


@dataclass(frozen=True)
class Jump:
    """A parameter value at which stability changes although no root crosses the imaginary axis.

    At this value the equilibrium reaches a corner of the equations, where their derivatives jump:
    RED's drop function has a corner at its upper threshold, and window rules may have corners. The
    linearised system, and therefore the roots, differ between both sides.

    Parameters
    ----------
    parameter : str
        Name of the varied parameter.
    value : float
        Value of the parameter at the jump.
    unstable_above : bool
        Whether the equilibrium is unstable just above the value of the parameter, and stable just
        below.
    """

    parameter: str
    value: float
    unstable_above: bool


@dataclass(frozen=True)
class Scan:
    """Rightmost root along a parameter, and the values at which stability changes.

    Parameters
    ----------
    case : Case
        Case that sets all other parameters.
    axis : Axis
        Parameter and its range.
    values : array of shape (n,)
        Values of the parameter, in ascending order.
    roots : array of shape (n,), complex
        Rightmost root at each value; NaN without an equilibrium. [1/s]
    edges : list of HopfPoint and Jump
        Values at which stability changes.
    """

    case: Case
    axis: Axis
    values: NDArray[np.float64]
    roots: NDArray[np.complex128]
    edges: list[HopfPoint | Jump]


def hopf_points(case: Case, parameter: str, low: float | str, high: float | str) -> list[HopfPoint]:
    """Return the Hopf points of the rightmost roots between two values of a parameter, without
    jumps.

    The parameters and errors are those of `edges`, which also returns jumps.
    """
    return hopf_points_on(case, axis_of(case, parameter, low, high))


def hopf_points_on(case: Case, axis: Axis) -> list[HopfPoint]:
    """Return the Hopf points of the rightmost roots on an axis; see `edges_on`."""
    return [each for each in edges_on(case, axis) if isinstance(each, HopfPoint)]


def edges(
    case: Case, parameter: str, low: float | str, high: float | str
) -> list[HopfPoint | Jump]:
    """Return the Hopf points and jumps at which stability changes between two parameter values.

    Parameters
    ----------
    case : Case
        Case that sets all other parameters.
    parameter : str
        Name of the parameter to vary.
    low, high : float or str
        Ends of the range; times may be given with their unit, ``"10 ms"``.

    Raises
    ------
    ParameterError
        If the range is invalid, or if the parameter changes nothing.
    NoEquilibriumError
        If there is no equilibrium in the range.
    ConvergenceError
        If a crossing in the scan cannot be located, or if a root of the scan is not certain.
    TooCostlyError
        If the scan would need more time or memory than its limits.
    """
    return edges_on(case, axis_of(case, parameter, low, high))


def edges_on(case: Case, axis: Axis) -> list[HopfPoint | Jump]:
    """Return the Hopf points and jumps at which stability changes on an axis; see `scan`."""
    return scan(case, axis).edges


def scan(case: Case, axis: Axis) -> Scan:
    """Return the rightmost root along an axis, and the values at which stability changes.

    Parameters
    ----------
    case : Case
        Case that sets all other parameters.
    axis : Axis
        Parameter with its range, and optionally its values.

    Raises
    ------
    NoEquilibriumError
        If there is no equilibrium in the range.
    ConvergenceError
        If a crossing in the scan cannot be located, or if a root of the scan is not certain.
    TooCostlyError
        If the scan takes more time or memory than the limit.

    Notes
    -----
    The rightmost root is computed at `SCAN` values unless the axis has its own values. Further
    values are added next to values at which the root is much closer to the imaginary axis than at a
    neighbouring value. Two changes of stability between neighbouring values may not be found.
    """
    parameter, places = axis.name, axis.places(SCAN)
    _check_cost(case, axis, places)
    scanned = _scanned(case, axis, places)
    if not np.isfinite(scanned).any():
        _ = case.with_(**{parameter: axis.low}).equilibrium  # raises NoEquilibriumError
        raise NoEquilibriumError(f"{case.model.name}: no equilibrium for any {parameter}")
    for _ in range(REFINED):
        more = _between(places, scanned)
        if len(more) == 0:
            break
        order = np.argsort(np.append(places, more))
        places = np.append(places, more)[order]
        scanned = np.append(scanned, _scanned(case, axis, more))[order]
    values = axis.value(places)
    results: list[HopfPoint | Jump] = []
    # The difference is NaN next to values without an equilibrium.
    change = np.diff(np.sign(scanned.real))
    for k in np.flatnonzero(np.isfinite(change) & (change != 0.0)):
        if scanned[k].imag == 0.0 and scanned[k + 1].imag == 0.0:
            continue  # a real root crosses: no Hopf point
        results.append(crossing(case, parameter, float(values[k]), float(values[k + 1])))
    return Scan(case, axis, values, scanned, results)


def _check_cost(case: Case, axis: Axis, places: NDArray[np.float64]) -> None:
    """Raise an error if a scan would exceed the cost limits. Locating the crossings takes about as
    long as the scan itself.
    """
    values = axis.value(places)
    rest, linear = case.over(**{axis.name: values})
    sound = linear[np.all(np.isfinite(rest), axis=0)]
    what = (
        f"{case.model.name}: {len(values)} values of {axis.name} from {axis.low:g} to {axis.high:g}"
    )
    check_cost(what, sound, resolved_by(sound), copies=2.0)


def _scanned(case: Case, axis: Axis, places: NDArray[np.float64]) -> NDArray[np.complex128]:
    """Return the rightmost root at relative positions on an axis; NaN without an equilibrium."""
    values = axis.value(places)
    rest, linear = case.over(**{axis.name: values})
    sound = np.all(np.isfinite(rest), axis=0)
    result = np.full(len(places), np.nan + 0j)
    if sound.any():
        result[sound] = leading(linear[sound])
    unsure = sound & np.isnan(result)
    if unsure.any():
        raise ConvergenceError(
            f"{case.model.name}: the rightmost root is not sure at "
            f"{axis.name} = {values[unsure][0]:g}"
        )
    return result


def _between(places: NDArray[np.float64], scanned: NDArray[np.complex128]) -> NDArray[np.float64]:
    """Return further positions between the positions of a scan. Near these positions, the root may
    cross the imaginary axis twice.

    Positions are added on both sides of each position at which the root is closer to the imaginary
    axis than at both neighbours.
    """
    height = scanned.real / (np.abs(scanned) + 1e-300)
    here, near = height[1:-1], np.stack([height[:-2], height[2:]])
    turns = np.all((np.sign(near) == np.sign(here)) & (np.abs(near) > np.abs(here)), axis=0)
    # The condition means: if the root continued to move with the same slope, it would cross the
    # axis.
    turns &= 2.0 * np.abs(here) <= np.abs(near).max(axis=0)
    cut = np.flatnonzero(turns)
    cut = np.unique(np.concatenate([cut, cut + 1]))
    parts = np.arange(1, PIECES) / PIECES
    return (places[cut, None] + (places[cut + 1] - places[cut])[:, None] * parts).ravel()


def crossing(case: Case, parameter: str, low: float, high: float) -> HopfPoint | Jump:
    """Return the Hopf point or the jump between two values of a parameter with different stability.

    Raises
    ------
    ConvergenceError
        If both values have the same stability.
    """
    roots = [rightmost(case.with_(**{parameter: end})) for end in (low, high)]
    if roots[0].real * roots[1].real > 0.0:
        raise ConvergenceError(
            f"{case.model.name}: the roots do not cross the imaginary axis between "
            f"{parameter} = {low:g} and {high:g}"
        )
    unstable_above = roots[0].real < 0.0
    for start in (roots[unstable_above], None):
        value = _where_zero(case, parameter, low, high, start)
        if value is None:
            continue
        present = case.with_(**{parameter: value})
        root = rightmost(present)
        if abs(root.real) <= ON_AXIS * abs(root):
            speed = transversality(present, parameter, root)
            return HopfPoint(present, parameter, value, root.imag, speed)
    # The real part of the rightmost root has a zero, since its signs at `low` and `high` differ.
    assert value is not None
    return Jump(parameter, value, unstable_above)


def _where_zero(
    case: Case, parameter: str, low: float, high: float, start: complex | None
) -> float | None:
    """Return the parameter value at which a root's real part is zero; None if there is no such
    value in the range.

    With `start`, Newton's method follows one root from there, which need not be the rightmost root.
    Without `start` the rightmost root is computed at each value, which takes much longer.
    """
    from scipy.optimize import brentq

    last = np.array([0.0 if start is None else start])

    def abscissa(value: float) -> float:
        nonlocal last
        here = case.with_(**{parameter: value})
        if start is None:
            return rightmost(here).real
        result = polished(here.linear[np.newaxis], last)
        last = np.where(np.isnan(result), last, result)
        return float(result[0].real)

    if start is not None and not abscissa(low) * abscissa(high) < 0.0:
        return None
    allowed = 1e-15 * max(abs(low), abs(high))
    try:
        return float(brentq(abscissa, low, high, xtol=allowed, rtol=1e-14))
    except ValueError:  # the root became NaN
        if start is None:
            raise
        return None


def transversality(case: Case, parameter: str, root: complex) -> complex:
    r"""Return the derivative of a characteristic root by a parameter, :math:`d\lambda/d\mu`.

    The derivative includes the effect of the parameter on the equilibrium. It is computed from
    central differences of the characteristic matrix, with Richardson's extrapolation.
    """
    value = case.values[parameter]

    def shift(step: float) -> complex:
        h = step * abs(value)
        ends = case.over(**{parameter: np.array([value + h, value - h])})[1]
        matrices = ends.characteristic(np.full(2, root))
        change = (matrices[0] - matrices[1]) / (2.0 * h)
        left, _, right = np.linalg.svd(case.linear.characteristic(root))
        u, v = left[:, -1].conj(), right[-1].conj()
        return complex(-(u @ change @ v) / (u @ case.linear.slope(root) @ v))

    return (4.0 * shift(5e-5) - shift(1e-4)) / 3.0


def crossing_gap(linear: Linear, frequency: Any) -> Any:
    r"""Return the crossing gap: the approximate complex distance of :math:`i\omega` from a root,
    which is 0 at a Hopf point. [1/s]
    """
    root = 1j * np.asarray(frequency)
    left, sigma, right = np.linalg.svd(linear.characteristic(root))
    u, v = left[..., :, -1].conj(), right[..., -1, :].conj()
    return sigma[..., -1] / np.einsum("...i,...ij,...j->...", u, linear.slope(root), v)


def direct(
    case: Case, parameter: str, value: float, frequency: float, tolerance: float = 1e-12
) -> tuple[float, float]:
    r"""Return the parameter and the frequency :math:`\omega` at which :math:`\det \Delta(i\omega) =
    0`, by Newton's method; :math:`\Delta` is the characteristic matrix.

    Raises
    ------
    ConvergenceError
        If Newton's method does not converge from the given start.
    """
    x = np.array([value, frequency])

    def gap(at: NDArray[np.float64]) -> complex:
        return complex(crossing_gap(case.with_(**{parameter: float(at[0])}).linear, at[1]))

    for _ in range(30):
        here = gap(x)
        columns = []
        for k in range(2):
            h = np.zeros(2)
            h[k] = 1e-6 * x[k]
            columns.append((gap(x + h) - gap(x - h)) / (2.0 * h[k]))
        matrix = np.array([[c.real for c in columns], [c.imag for c in columns]])
        step = np.linalg.solve(matrix, [here.real, here.imag])
        x = x - step
        if np.all(np.abs(step) <= tolerance * np.abs(x)):
            return float(x[0]), float(x[1])
    raise ConvergenceError(f"{case.model.name}: no Hopf point near {parameter} = {value:g}")
