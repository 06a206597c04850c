"""Predict and simulate how much of the Wi-Fi each device gets, and why.

>>> import lasthop as lh
>>> r = lh.simulate("hotspot.toml", replications=10)
>>> r.stations["goodput_bps"]
>>> r.plot.goodput().savefig("goodput.png")
"""

import sys

_COMMAND = getattr(sys, "argv", [""])[:1]
if _COMMAND and (
    _COMMAND[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe") == "lasthop"
    or (_COMMAND[0] == "-m" and "lasthop" in sys.orig_argv)
):
    # The command line imports this package first. After this import, Ctrl-C prints one line instead
    # of a traceback.
    from lasthop.progress import interruption

    interruption.exit_quietly()

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lasthop import models as models
    from lasthop import relay
    from lasthop import stability as stability
    from lasthop import studies as studies
    from lasthop._core import VERSION as __version__
    from lasthop.answers.load import load
    from lasthop.comparison.compare import Comparison, compare
    from lasthop.doctor import Diagnosis, doctor
    from lasthop.emulated.emulation import Emulation
    from lasthop.emulation.emulate import emulate
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
    from lasthop.explanation import Explanation, explain
    from lasthop.prediction.predict import fluid, predict
    from lasthop.prediction.prediction import Prediction
    from lasthop.report import write_report
    from lasthop.scenario.scenario import Scenario, check, schema
    from lasthop.simulation.many import (
        ArrayResult,
        SimulateManyInterrupted,
        SimulateManyProgress,
        simulate_many,
    )
    from lasthop.simulation.result import Result
    from lasthop.simulation.session import Session
    from lasthop.simulation.simulate import simulate
    from lasthop.studies.reproduction import Reproduction, reproduce
    from lasthop.sweep.sweep import Sweep, sweep
    from lasthop.tuning.tune import Tuning, tune
    from lasthop.whatif.what_if import WhatIf, what_if

__all__ = [
    "ArrayResult",
    "Comparison",
    "ConvergenceError",
    "Diagnosis",
    "Emulation",
    "EngineError",
    "Explanation",
    "ModelError",
    "Prediction",
    "Problem",
    "Reproduction",
    "Result",
    "Scenario",
    "ScenarioError",
    "Session",
    "SimulateManyInterrupted",
    "SimulateManyProgress",
    "Stopped",
    "Sweep",
    "TooCostlyError",
    "Tuning",
    "UserError",
    "WhatIf",
    "__version__",
    "check",
    "compare",
    "doctor",
    "emulate",
    "explain",
    "fluid",
    "load",
    "predict",
    "relay",
    "reproduce",
    "schema",
    "simulate",
    "simulate_many",
    "sweep",
    "tune",
    "what_if",
    "write_report",
]

PACKAGES = {
    "allowance": "progress.cost_limits",
    "models": "models",
    "relay": "relay",
    "stability": "stability",
    "studies": "studies",
}
"""Import paths of the public subpackages and modules, by public name."""

MODULES = {
    "ArrayResult": "simulation.many",
    "Comparison": "comparison.compare",
    "ConvergenceError": "errors",
    "Diagnosis": "doctor",
    "Emulation": "emulated.emulation",
    "EngineError": "errors",
    "Explanation": "explanation",
    "ModelError": "errors",
    "Prediction": "prediction.prediction",
    "Problem": "errors",
    "Reproduction": "studies.reproduction",
    "Result": "simulation.result",
    "Scenario": "scenario.scenario",
    "ScenarioError": "errors",
    "Session": "simulation.session",
    "SimulateManyInterrupted": "simulation.many",
    "SimulateManyProgress": "simulation.many",
    "Stopped": "errors",
    "Sweep": "sweep",
    "TooCostlyError": "errors",
    "Tuning": "tuning.tune",
    "UserError": "errors",
    "WhatIf": "whatif.what_if",
    "check": "scenario.scenario",
    "compare": "comparison.compare",
    "doctor": "doctor",
    "emulate": "emulation",
    "explain": "explanation",
    "fluid": "prediction.predict",
    "load": "answers.load",
    "predict": "prediction.predict",
    "reproduce": "studies.reproduction",
    "schema": "scenario.scenario",
    "simulate": "simulation.simulate",
    "simulate_many": "simulation.many",
    "sweep": "sweep",
    "tune": "tuning.tune",
    "what_if": "whatif.what_if",
    "write_report": "report",
}
"""Modules that define the public names. A module is imported when one of its names is first
used.
"""


class _Package(type(sys)):  # type: ignore[misc]
    """Class of the package object. A function of the package stays available under its name after a
    module with the same name was imported.

    Importing ``lasthop.compare`` sets the attribute ``compare`` of the package to the module. This
    class sets the attribute to the function.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, type(sys)) and MODULES.get(name) == name:
            value = getattr(value, name, value)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> "Any":
    """Import a public name, or a module of the package, when it is first used (PEP 562).

    The object is looked up in its module at each access, so that a test can replace the object
    there. A name that needs Linux gives, on other systems, an object that refuses each use. Raises
    `AttributeError` for unknown names.
    """
    from importlib import import_module
    from importlib.util import find_spec

    if name == "__version__":
        from lasthop._core import VERSION

        return VERSION
    module = MODULES.get(name) or PACKAGES.get(name, name)
    if name in __all__:
        from lasthop.linux_only import LinuxOnly, is_linux, is_linux_only

        if is_linux_only(module) and not is_linux():
            return LinuxOnly(f"lasthop.{name}")
    if name in MODULES:
        return getattr(import_module(f"lasthop.{module}"), name)
    if not name.startswith("__") and find_spec(f"lasthop.{module}") is not None:
        return import_module(f"lasthop.{module}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names. Other modules are available by ``import lasthop.NAME``."""
    return sorted({*__all__, *PACKAGES, *(name for name in globals() if name.startswith("__"))})
