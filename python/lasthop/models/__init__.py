"""Analytical models, which predict a scenario without simulating it.

Each model is a package with two functions. ``suits`` decides whether the model suits a scenario.
``predict`` reads the checked scenario as typed values and returns a result in the form of a
simulation's result (`answer`). No model calls the engine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from lasthop.errors import UserError
from lasthop.extras import name_missing_package
from lasthop.models.answer import Quantities
from lasthop.models.assumptions import BY_MODEL
from lasthop.models.errors import ConvergenceError, ModelError, in_words
from lasthop.models.pings import left_out
from lasthop.scenario.typed import Readable, Scenario, read

__all__ = ["MODELS", "ConvergenceError", "Model", "ModelError", "choose", "predict"]


@dataclass(frozen=True)
class Model:
    """A model, with the name of its package, which is imported at the first use of the model."""

    name: str

    def suits(self, scenario: Scenario) -> bool:
        """Return whether the model suits a scenario."""
        return bool(import_module(f"lasthop.models.{self.name}").suits(scenario))

    def predict(self, scenario: Scenario, options: Mapping[str, object]) -> Quantities:
        """Return the prediction; raise `ModelError` if the scenario breaks an assumption."""
        package = import_module(f"lasthop.models.{self.name}")
        results: Quantities
        with in_words(self.name, BY_MODEL[self.name]), name_missing_package(f"model {self.name}"):
            if hasattr(package, "Options"):
                results = package.predict(scenario, package.Options.of(options, self.name))
            elif options:
                raise UserError(f'option "{next(iter(options))}": model {self.name} has no options')
            else:
                results = package.predict(scenario)
        return results


MODELS: Mapping[str, Model] = {
    name: Model(name)
    for name in (
        "bottleneck",
        "airtime",
        "aggregates",
        "dcf",
        "edca",
        "vbs",
        "hotspot",
        "red",
        "acsma",
    )
}
"""Models by name, in the order in which `choose` tries them."""


def choose(scenario: Readable) -> str:
    """Return the name of the model that suits a scenario.

    ``bottleneck`` is for a cell downstream of a virtual shared bottleneck.

    ``airtime`` is for cells of 802.11n, ac and ax with mac80211's queue. ``airtime`` is also for
    cells of these standards in which the access point is the only sender and sends datagrams to
    several stations. ``aggregates`` is for all other cells of 802.11n, ac and ax.

    ``red`` is for wired networks: it models the flows through a router's queue as a fluid.
    ``acsma`` is for a network of CSMA links that a conflict graph describes.

    ``edca`` is for a cell that meets all assumptions of this model. The model assumes that every
    station has one long-lived connection with immediate ACKs, and that all windows are equal. It
    also assumes queues with room for these windows, no lost packets, and a negligible delay of the
    wired link. For such a cell ``edca`` predicts rates and collisions; ``hotspot`` would only
    predict equal shares.

    ``vbs`` is for a cell with channel errors, Compound TCP, or classes that share the AP's queue,
    if the scenario meets its other assumptions. ``hotspot`` is for all other cells; its error
    message names the settings of a scenario that it does not support.
    """
    known, _ = left_out(read(scenario))
    return next(name for name, model in MODELS.items() if model.suits(known))


def predict(
    scenario: Readable, model: str = "hotspot", options: Mapping[str, object] | None = None
) -> Quantities:
    """Predict a scenario with a model. Pings are left out, with a warning.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, as a `Scenario` or a mapping.
    model : str
        Name of the model, a key of :data:`MODELS`.
    options : mapping, optional
        Options of the model by name, see its ``Options``.

    Returns
    -------
    dict
        A result of kind ``"prediction"``, without quantities that the model does not predict.

    Raises
    ------
    ModelError
        The scenario breaks an assumption of the model.
    KeyError
        There is no such model.
    UserError
        The model has no such option, or an option no such value.
    """
    if not isinstance(options, Mapping | None):
        raise UserError(f"options: {type(options).__name__} is no mapping from names to values")
    known, warnings = left_out(read(scenario))
    results = dict(MODELS[model].predict(known, options or {}))
    results["warnings"] = [*warnings, *results["warnings"]]
    return results
