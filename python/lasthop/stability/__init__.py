"""Fluid models of TCP over queues: find out whether a queue oscillates, and how.

>>> from lasthop.stability import Case, hopf_points, roots
>>> case = Case.of("red", gamma=0.03, rtt="150 ms")
>>> roots(case).stable
True
>>> [round(point.value, 4) for point in hopf_points(case, "rtt", 0.01, 1.0)]
[0.1709]
"""

from lasthop.stability.axis import Axis
from lasthop.stability.branch import Branch, branch
from lasthop.stability.case import Case, Linear
from lasthop.stability.chart import Chart, chart
from lasthop.stability.conditions import Condition, conditions
from lasthop.stability.curve import HopfCurve, hopf_curves
from lasthop.stability.cycle import Cycle
from lasthop.stability.errors import ConvergenceError, NoEquilibriumError, ParameterError
from lasthop.stability.hopf import HopfPoint, Jump, edges, hopf_points
from lasthop.stability.integrate import Trajectory, integrate, mode
from lasthop.stability.loop import Loop, designed, loop
from lasthop.stability.models import MODELS, Model
from lasthop.stability.normal_form import NormalForm, normal_form
from lasthop.stability.presets import PRESETS, named
from lasthop.stability.series import exp, larger, log
from lasthop.stability.settling import Settled, Sweep, manner, settled, sweep
from lasthop.stability.spectrum import Roots, roots
from lasthop.stability.windows import RULES, WindowRule

__all__ = [
    "MODELS",
    "PRESETS",
    "RULES",
    "Axis",
    "Branch",
    "Case",
    "Chart",
    "Condition",
    "ConvergenceError",
    "Cycle",
    "HopfCurve",
    "HopfPoint",
    "Jump",
    "Linear",
    "Loop",
    "Model",
    "NoEquilibriumError",
    "NormalForm",
    "ParameterError",
    "Roots",
    "Settled",
    "Sweep",
    "Trajectory",
    "WindowRule",
    "branch",
    "chart",
    "conditions",
    "designed",
    "edges",
    "exp",
    "hopf_curves",
    "hopf_points",
    "integrate",
    "larger",
    "log",
    "loop",
    "manner",
    "mode",
    "named",
    "normal_form",
    "roots",
    "settled",
    "sweep",
]
