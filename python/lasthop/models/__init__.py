"""Analytical models: what theory predicts for a scenario, without simulating it.

Each subject is a package with two functions, ``suits`` and ``predict``, and with ``ASSUMPTIONS``: a
model says itself whether a scenario is what it is for, reads the checked scenario as typed values
(`reading`) and answers in the shape of a simulation's result (`answer`). No model calls the engine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from lasthop.errors import UserError
from lasthop.models.answer import Quantities
from lasthop.models.errors import ConvergenceError, ModelError, in_words
from lasthop.models.reading import Readable, Scenario, read

__all__ = ["MODELS", "ConvergenceError", "Model", "ModelError", "choose", "predict"]


@dataclass(frozen=True)
class Model:
    """The model of a subject's package, which is imported when it is first asked."""

    name: str

    def suits(self, scenario: Scenario) -> bool:
        """Whether a scenario is what the model is for."""
        return bool(import_module(f"lasthop.models.{self.name}").suits(scenario))

    def predict(self, scenario: Scenario, options: Mapping[str, object]) -> Quantities:
        """The model's prediction; `ModelError` if the scenario breaks an assumption."""
        package = import_module(f"lasthop.models.{self.name}")
        found: Quantities
        with in_words(self.name, package.ASSUMPTIONS):
            if hasattr(package, "Options"):
                found = package.predict(scenario, package.Options.of(options, self.name))
            elif options:
                raise UserError(f'option "{next(iter(options))}": model {self.name} has none')
            else:
                found = package.predict(scenario)
        return found


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
"""Models by name, in the order in which they are asked whether a scenario suits them."""


def choose(scenario: Readable) -> str:
    """Name of the model that suits a scenario.

    For a cell behind a virtual shared bottleneck it is ``bottleneck``.
    For cells of 802.11n, ac and ax, which no other model knows, ``airtime`` behind mac80211's
    queue, and where the access point alone sends, datagrams to several stations, else
    ``aggregates``.
    ``red`` for networks of wires: flows over a router's queue as a fluid. For a cell,
    ``edca`` where it holds without reservation: one long-lived connection per station, immediate
    ACKs, equal windows, queues with room for all of them, nothing lost, no wire to speak of. Then
    it knows rates and collisions, and the hot-spot model would say only that all share alike.
    ``vbs`` where frames are lost to the channel, connections run Compound or classes share the AP's
    queue, none of which the others know, if the rest is within its assumptions. ``acsma`` for a
    network by its conflict graph. Everything else is ``hotspot``'s, which says what in a scenario
    it cannot answer.
    """
    known = read(scenario)
    return next(name for name, model in MODELS.items() if model.suits(known))


def predict(
    scenario: Readable, model: str = "hotspot", options: Mapping[str, object] | None = None
) -> Quantities:
    """Predict a scenario with a model.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, read or to be read.
    model : str
        Name of the model, a key of :data:`MODELS`.
    options : mapping, optional
        Options of the model by name, see its ``Options``.

    Returns
    -------
    dict
        A result of kind ``"prediction"``; what the model cannot know is absent.

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
    return MODELS[model].predict(read(scenario), options or {})
