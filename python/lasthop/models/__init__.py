"""Analytical models: what theory predicts for a scenario, without simulating it.

Each subject is a package; a model reads the normalised scenario and answers in the same shape
as a simulation. No model calls the engine.
"""

from collections.abc import Callable, Mapping
from typing import Any

from lasthop.models.errors import ConvergenceError, ModelError
from lasthop.models.hotspot import predict as predict_hotspot

__all__ = ["MODELS", "ConvergenceError", "ModelError", "predict"]

MODELS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {"hotspot": predict_hotspot}
"""Models by name. Each takes a normalised scenario and returns a prediction."""


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
    return MODELS[model](scenario)
