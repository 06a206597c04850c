"""Estimated cost of computing characteristic roots.

The collocation matrices are small. The time for their eigenvalues therefore grows with the square
of their size, not with the cube. Roots to the right of a vertical line in the complex plane are
counted with points on this line. The number of these points is estimated from a few points. Times
were measured on one core of an Intel Xeon server with numpy 2, for cases of one to seven states and
lines of 50 to 400,000 points. The measured times were 0.2 to 1 times the estimates, and less if no
roots are found.
"""

import numpy as np

from lasthop.progress.cost_limits import need
from lasthop.stability.case import Linear
from lasthop.stability.winding import FIRST, MAX_POINTS, pieces_of

ENTRY_S = 0.2e-6
"""Computation time of the eigenvalues of a matrix, divided by the square of its size. [s]"""

SYSTEM_S = 5e-3
"""Computation time to verify the rightmost root of a system, divided by the number of states. The
time for the points on vertical lines is not included; see `POINT_S`. [s]
"""

POINT_S, POINT_BYTES = 1.2e-6, 150.0
"""Cost of a point on a vertical line in the complex plane: its computation time divided by the
number of states, and its memory divided by the square of this number. [s, bytes]
"""

EASY = 2000
"""Limit for the number of points on a vertical line in the complex plane (see the module). If the
roots to the right of a line can be counted with at most this number of points, no further lines are
expected. [-]
"""

LINES, HARD_LINES = 40, 100
"""Expected number of vertical lines in the complex plane (see the module) in a search for roots.
The second value applies if counting the roots to the right of a line would need more than
`MAX_POINTS` points.
"""

LOOKED_AT = 200
"""Largest number of systems from which the cost of all systems is estimated. [-]"""


def check_cost(what: str, linear: Linear, resolved: np.ndarray, copies: float = 1.0) -> None:
    """Raise an error if the computation of rightmost roots would exceed the limits of time or
    memory.

    Parameters
    ----------
    what : str
        Name of the computation, as the subject of a sentence.
    linear : Linear
        Linearised systems, along a leading axis.
    resolved : ndarray of int
        Number of Chebyshev points that resolve the roots of each system; 0 if the roots must be
        verified individually.
    copies : float
        Number of systems that each of the given systems represents. [-]

    Raises
    ------
    TooCostlyError
        If the computation would exceed the limits of time or memory.
    """
    states = linear.now.shape[-1]
    delayed = np.any(linear.lagged != 0.0, axis=(-3, -2)).sum(axis=-1)
    size = states + delayed * resolved
    time_s = float(np.sum(ENTRY_S * size**2 * (resolved > 0)))
    hard = np.flatnonzero(resolved == 0)
    some = (
        hard[np.unique(np.linspace(0, len(hard) - 1, LOOKED_AT).astype(int))] if len(hard) else ()
    )
    points = [pieces_of(linear[k]) + FIRST for k in some]
    if points:
        each = [SYSTEM_S * states + _lines(count) * POINT_S * states for count in points]
        time_s += len(hard) * float(np.mean(each))
    most = min(max(points, default=0.0), MAX_POINTS)
    need(what, time_s=copies * time_s, memory_bytes=most * POINT_BYTES * states**2)


def _lines(points: float) -> float:
    """Return the estimated number of points on all vertical lines for a system, computed from the
    number of points on one line.
    """
    if points <= EASY:
        return points
    return LINES * points if points <= MAX_POINTS else HARD_LINES * float(MAX_POINTS)
