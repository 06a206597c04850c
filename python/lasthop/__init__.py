"""Who gets what on a WiFi hot-spot, and why: predicted, and simulated packet by packet.

>>> import lasthop as lh
>>> r = lh.simulate("hotspot.toml", replications=10)
>>> r.stations["goodput_bps"]
>>> r.plot.goodput().savefig("goodput.png")
"""

from lasthop._core import VERSION as __version__
from lasthop.compare import Comparison, compare
from lasthop.errors import (
    ConvergenceError,
    EngineError,
    ModelError,
    Problem,
    ScenarioError,
    TooCostlyError,
    UserError,
)
from lasthop.predict import fluid, predict
from lasthop.result import Prediction, Result
from lasthop.run import simulate
from lasthop.scenario import Scenario, check, schema
from lasthop.sweep import Sweep, sweep
from lasthop.tune import Tuning, tune

__all__ = [
    "Comparison",
    "ConvergenceError",
    "EngineError",
    "ModelError",
    "Prediction",
    "Problem",
    "Result",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "TooCostlyError",
    "Tuning",
    "UserError",
    "__version__",
    "check",
    "compare",
    "fluid",
    "predict",
    "schema",
    "simulate",
    "sweep",
    "tune",
]
