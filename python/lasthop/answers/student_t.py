"""Quantiles of Student's t distribution, for 95 % confidence intervals."""

from functools import cache
from importlib import resources

from lasthop.extras import need_packages

__all__ = ["student_t_975"]

FILE = "student_t.txt"
"""File with one quantile per line, for 1, 2, 3, ... degrees of freedom. The numbers are those of
``scipy.special.stdtrit`` in scipy 1.17, so that intervals of few values need no scipy.
"""


def student_t_975(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t distribution. [-]

    Parameters
    ----------
    degrees : int
        Degrees of freedom, from 1. [-]

    Raises
    ------
    UserError
        If the degrees of freedom exceed the table, and scipy is not installed.
    """
    if degrees <= len(_table()):
        return _table()[degrees - 1]
    need_packages(f"the interval of a mean of {degrees + 1} values", "scipy")
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.975))


@cache
def _table() -> tuple[float, ...]:
    text = resources.files("lasthop.answers").joinpath(FILE).read_text(encoding="ascii")
    return tuple(map(float, text.split()))
