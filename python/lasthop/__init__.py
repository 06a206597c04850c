"""Who gets what on a WiFi hot-spot, and why: predicted, and simulated packet by packet.

>>> import lasthop as lh
>>> r = lh.simulate("hotspot.toml", replications=10)
>>> r.stations["goodput_bps"]
>>> r.plot.goodput().savefig("goodput.png")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lasthop._core import VERSION as __version__
from lasthop.compare import Comparison, compare
from lasthop.errors import (
    ConvergenceError,
    EngineError,
    ModelError,
    Problem,
    ScenarioError,
    Stopped,
    TooCostlyError,
    UserError,
)
from lasthop.load import load
from lasthop.predict import fluid, predict
from lasthop.result import Prediction, Result
from lasthop.run import simulate
from lasthop.scenario import Scenario, check, schema
from lasthop.sweep import Sweep, sweep
from lasthop.tune import Tuning, tune

if TYPE_CHECKING:
    from lasthop import models as models
    from lasthop import relay
    from lasthop import stability as stability
    from lasthop import studies as studies
    from lasthop.emulation import Emulation, emulate
    from lasthop.session import Session
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
    "Session",
    "Stopped",
    "Sweep",
    "TooCostlyError",
    "Tuning",
    "UserError",
    "__version__",
    "check",
    "compare",
    "emulate",
    "fluid",
    "load",
    "predict",
    "relay",
    "reproduce",
    "schema",
    "simulate",
    "sweep",
    "tune",
]

PACKAGES = ("models", "relay", "stability", "studies")
"""Packages that are public, imported when they are asked for."""

ELSEWHERE = {
    "Emulation": "emulation",
    "emulate": "emulation",
    "Reproduction": "studies.reproduction",
    "reproduce": "studies.reproduction",
    "Session": "session",
}
"""Names that are not needed for every use, and their modules."""


def __getattr__(name: str) -> Any:
    """Import what is not needed for every use: Linux's sockets, solvers, the studies of papers."""
    if name in PACKAGES:
        return import_module(f"lasthop.{name}")
    if name in ELSEWHERE:
        return getattr(import_module(f"lasthop.{ELSEWHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Public names; modules that are no part of them are found by ``import lasthop.NAME``."""
    return sorted({*__all__, *PACKAGES, *(name for name in globals() if name.startswith("__"))})
