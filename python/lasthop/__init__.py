"""Who gets what on a WiFi hot-spot, and why: predicted, and simulated packet by packet.

>>> import lasthop as lh
>>> r = lh.simulate("hotspot.toml", replications=10)
>>> r.stations["goodput_bps"]
>>> r.plot.goodput().savefig("goodput.png")
"""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from lasthop import relay
    from lasthop.emulation import Emulation, emulate
    from lasthop.studies.reproduction import Reproduction, reproduce

__all__ = [
    "Comparison",
    "ConvergenceError",
    "Emulation",
    "EngineError",
    "ModelError",
    "Prediction",
    "Problem",
    "Reproduction",
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
    "emulate",
    "fluid",
    "predict",
    "relay",
    "reproduce",
    "schema",
    "simulate",
    "sweep",
    "tune",
]


def __getattr__(name: str) -> Any:
    """Import what is not needed for every use: Linux's sockets, the studies of all papers."""
    if name in ("Emulation", "emulate"):
        from lasthop import emulation

        return getattr(emulation, name)
    if name == "relay":
        import lasthop.relay

        return lasthop.relay
    if name in ("Reproduction", "reproduce"):
        from lasthop.studies import reproduction

        return getattr(reproduction, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Names, those too that are imported when they are asked for."""
    return sorted({*globals(), *__all__})
