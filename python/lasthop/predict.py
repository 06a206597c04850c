"""One scenario predicted: a model chosen by name, its answer wrapped."""

from lasthop.errors import UserError
from lasthop.result import Prediction
from lasthop.scenario import ScenarioLike, check

__all__ = ["DEFAULT_MODEL", "predict"]

DEFAULT_MODEL = "hotspot"


def predict(scenario: ScenarioLike, *, model: str = DEFAULT_MODEL) -> Prediction:
    """Predict a scenario by an analytical model.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    model : str
        Name of the model, by default that of the hot-spot paper.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    lasthop.models.ModelError
        If the scenario breaks an assumption of the model.
    """
    from lasthop import models

    if model not in models.MODELS:
        raise UserError(f'there is no model "{model}"', f"models: {', '.join(models.MODELS)}")
    checked = check(scenario)
    return Prediction(models.predict(checked.to_dict(), model), checked)
