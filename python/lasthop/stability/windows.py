"""Window rules: growth of a TCP window with each ACK, and reduction with each loss (paper 004,
table I).

The arguments of every function are the window w [packets] and the parameters of the case. The
functions accept numbers, arrays and `Series`. To add a rule, create a `WindowRule` from two such
functions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from math import log as ln
from typing import Any

import numpy as np

from lasthop.stability.errors import ParameterError
from lasthop.stability.series import Series, larger, log

Function = Callable[[Any, Mapping[str, Any]], Any]


@dataclass(frozen=True)
class WindowRule:
    """Window rule: growth and reduction of a congestion window.

    Parameters
    ----------
    name : str
        Name of the rule.
    increase : callable
        Function of window and parameters that returns the growth with each ACK, :math:`i(w)`.
        [packets]
    decrease : callable
        Function of window and parameters that returns the reduction with each loss, :math:`d(w)`.
        [packets]
    valid_from : float
        Smallest window for which the two formulas hold. [packets]
    valid_to : float
        Largest window for which the two formulas hold. [packets]
    """

    name: str
    increase: Function
    decrease: Function
    valid_from: float = 0.0
    valid_to: float = inf

    def corner(self, p: Mapping[str, Any]) -> Any:
        r"""Return the window w at which the rule has a corner (its derivative jumps), or infinity.
        [packets]

        .. math:: \alpha w^k = 1

        Above this window Compound TCP, as implemented in senders, grows faster than Reno.
        """
        if self.name.startswith("compound-reno") and np.all(np.asarray(p["k"]) > 0.0):
            return (1.0 / np.asarray(p["alpha"])) ** (1.0 / np.asarray(p["k"]))
        return np.inf

    def need_series(self) -> None:
        """Raise an error if a function of the rule does not accept `Series`. Derivatives are
        computed with `Series`.

        Raises
        ------
        ParameterError
            If one of the functions does not accept `Series`.
        """
        p = {"alpha": 0.125, "k": 0.75, "beta": 0.5}
        line = Series.line(np.array([50.0, 60.0]), np.array([1.0, 1.0]), order=1)
        for name, function in (("increase", self.increase), ("decrease", self.decrease)):
            try:
                function(line, p)
            except KeyError:  # the rule reads a parameter for which this test has no value
                continue
            except (TypeError, ValueError, AttributeError) as error:
                raise ParameterError(
                    f'window rule "{self.name}": `{name}` does not work on a Series: {error}',
                    "it may use + - * / **, and log, exp and larger of lasthop.stability",
                ) from None

    def balance(self, w: Any, p: Mapping[str, Any]) -> Any:
        r"""Return the loss probability at which a window w neither grows nor shrinks on average.
        [-]

        .. math:: p^* = i(w^*) / (i(w^*) + d(w^*))

        Notes
        -----
        The formula is the first part of Manjunath & Raina, Eq. (10).
        """
        return self.increase(w, p) / (self.increase(w, p) + self.decrease(w, p))


def compound_increase(w: Any, p: Mapping[str, Any]) -> Any:
    r"""Return the increase per ACK of Compound TCP, :math:`i(w) = \alpha w^{k-1}`. [packets]"""
    return p["alpha"] * w ** (p["k"] - 1.0)


def compound_reno_increase(w: Any, p: Mapping[str, Any]) -> Any:
    r"""Return the increase per ACK of Compound TCP in senders, :math:`\max(1, \alpha w^k) / w`.
    [packets]

    Notes
    -----
    In Tan et al. (INFOCOM 2006), the delay window adds :math:`(\alpha w^k - 1)^+` to Reno's growth
    of one packet per round trip. Below 16 packets Compound therefore equals Reno. Eq. (2) of
    Manjunath & Raina has no such lower limit.
    """
    return larger(p["alpha"] * w ** p["k"], 1.0) / w


def compound_decrease(w: Any, p: Mapping[str, Any]) -> Any:
    r"""Return the decrease per loss of Compound TCP, :math:`d(w) = \beta w`. [packets]"""
    return p["beta"] * w


def reno_increase(w: Any, _: Mapping[str, Any]) -> Any:
    """Return the increase per ACK of TCP Reno, :math:`i(w) = 1/w`. [packets]"""
    return 1.0 / w


def reno_decrease(w: Any, _: Mapping[str, Any]) -> Any:
    """Return the decrease per loss of TCP Reno, :math:`d(w) = w/2`. [packets]"""
    return 0.5 * w


def illinois_increase(w: Any, _: Mapping[str, Any]) -> Any:
    r"""Return the increase per ACK of TCP Illinois without queueing delay, :math:`\alpha_{max} /
    w`. [packets]
    """
    return 10.0 / w


def illinois_decrease(w: Any, _: Mapping[str, Any]) -> Any:
    r"""Return the decrease per loss of TCP Illinois without queueing delay, :math:`\beta_{min} w`.
    [packets]
    """
    return 0.125 * w


def africa_share(w: Any) -> Any:
    r"""Return the fraction by which TCP Africa reduces the window with each loss, :math:`b(w)`. [-]

    .. math:: b(w) = -0.4 \frac{\ln w - \ln 38}{\ln 83000 - \ln 38} + 0.5
    """
    return -0.4 * (log(w) - ln(38.0)) / (ln(83000.0) - ln(38.0)) + 0.5


def africa_increase(w: Any, _: Mapping[str, Any]) -> Any:
    r"""Return the increase per ACK of TCP Africa, :math:`a(w)/w` with :math:`a(w) = 0.156 w^{0.8}
    b(w) / (2 - b(w))`. [packets]
    """
    b = africa_share(w)
    return 0.156 * w**-0.2 * b / (2.0 - b)


def africa_decrease(w: Any, _: Mapping[str, Any]) -> Any:
    """Return the decrease per loss of TCP Africa, :math:`w b(w)`. [packets]"""
    return w * africa_share(w)


RULES: Mapping[str, WindowRule] = {
    rule.name: rule
    for rule in (
        WindowRule("compound", compound_increase, compound_decrease),
        WindowRule("compound-reno", compound_reno_increase, compound_decrease),
        WindowRule("reno", reno_increase, reno_decrease),
        WindowRule("illinois", illinois_increase, illinois_decrease),
        # Below 38 packets TCP Africa equals Reno, so that the formulas do not apply.
        WindowRule("africa", africa_increase, africa_decrease, valid_from=38.0, valid_to=83000.0),
    )
}
"""Window rules by name."""
