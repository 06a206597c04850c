"""Will this queue oscillate? Fluid models of TCP over queues, their stability and their cycles.

>>> from lasthop.stability import Case, hopf_points, roots
>>> case = Case.of("red", gamma=0.03, rtt="150 ms")
>>> roots(case).stable
True
>>> [round(point.value, 4) for point in hopf_points(case, "rtt", 0.01, 1.0)]
[0.1709]
"""

from lasthop.stability.case import Case, Linear
from lasthop.stability.chart import Chart, chart
from lasthop.stability.conditions import Condition, conditions
from lasthop.stability.curve import Axis, HopfCurve, hopf_curves
from lasthop.stability.errors import ConvergenceError, NoEquilibriumError, ParameterError
from lasthop.stability.hopf import HopfPoint, hopf_points
from lasthop.stability.models import MODELS, Model
from lasthop.stability.presets import PRESETS, named
from lasthop.stability.spectrum import Roots, roots
from lasthop.stability.windows import RULES, WindowRule

__all__ = [
    "MODELS",
    "PRESETS",
    "RULES",
    "Axis",
    "Case",
    "Chart",
    "Condition",
    "ConvergenceError",
    "HopfCurve",
    "HopfPoint",
    "Linear",
    "Model",
    "NoEquilibriumError",
    "ParameterError",
    "Roots",
    "WindowRule",
    "chart",
    "conditions",
    "hopf_curves",
    "hopf_points",
    "named",
    "roots",
]
