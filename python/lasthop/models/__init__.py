"""Analytical models: what theory predicts for a scenario, without simulating it.

Each subject is a package; a model reads the normalised scenario and answers in the same shape
as a simulation. No model calls the engine.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeAlias

from lasthop.models.errors import ConvergenceError, ModelError

__all__ = ["MODELS", "ConvergenceError", "ModelError", "choose", "predict"]

Model: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]


def _of(subject: str) -> Model:
    """The model of a subject's package, which is imported when it is first asked."""

    def ask(scenario: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = import_module(f"lasthop.models.{subject}").predict(scenario)
        return found

    return ask


MODELS: Mapping[str, Model] = {
    subject: _of(subject) for subject in ("acsma", "edca", "hotspot", "red", "vbs")
}
"""Models by name. Each takes a normalised scenario and returns a prediction."""


def choose(scenario: Mapping[str, Any]) -> str:
    """Name of the model that suits a scenario.

    ``red`` for networks of wires: flows over a router's queue as a fluid. Of a cell,
    ``edca`` where it holds without reservation: one long-lived connection per station, immediate
    ACKs, equal windows, queues with room for all of them, nothing lost, no wire to speak of. Then
    it knows rates and collisions, and the hot-spot model would say only that all share alike.
    ``vbs`` where frames are lost to the channel, connections run Compound or classes share the AP's
    queue, none of which the others know, if the rest is within its assumptions. ``acsma`` for a
    network by its conflict graph. Everything else is ``hotspot``'s, which says what in a scenario
    it cannot answer.
    """
    from lasthop.models.edca import applies as edca_applies
    from lasthop.models.vbs import applies as vbs_applies

    if scenario.get("csma"):
        return "acsma"

    if scenario["cell"] is None:
        return "red"
    if _beyond_a_cell(scenario):
        return "hotspot"
    if edca_applies(scenario):
        return "edca"
    return "vbs" if vbs_applies(scenario) else "hotspot"


def _beyond_a_cell(scenario: Mapping[str, Any]) -> str | None:
    """What of a scenario no model of a cell and its wire knows, if anything."""
    if scenario.get("vsb"):
        return "a virtual shared bottleneck shares out the cell"
    if scenario.get("csma"):
        return "links of `csma` hear only some of each other"
    for flow in scenario["flows"]:
        if flow["station"] is None:
            return f"flow {flow['name']} runs between wired nodes"
        if flow["forward"] or flow["back"]:
            return f"flow {flow['name']} runs over links beyond the cell's wire"
    return None


def predict(scenario: Mapping[str, Any], model: str = "hotspot") -> dict[str, Any]:
    """Predict a scenario with a model.

    Parameters
    ----------
    scenario : Mapping
        Normalised scenario.
    model : str
        Name of the model, a key of :data:`MODELS`.

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
    """
    if model not in ("acsma", "red") and (beyond := _beyond_a_cell(scenario)):
        raise ModelError("cell", f"{beyond}; the model is of a WLAN cell and its wire alone")
    return MODELS[model](scenario)
