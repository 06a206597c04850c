"""One scenario predicted: a model chosen by name, its answer wrapped."""

from lasthop.errors import UserError
from lasthop.result import Prediction
from lasthop.scenario import ScenarioLike, check

__all__ = ["predict"]


def predict(scenario: ScenarioLike, *, model: str | None = None) -> Prediction:
    """Predict a scenario by an analytical model.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    model : str, optional
        Name of the model; by default the one that suits the scenario, see
        `lasthop.models.choose`.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    lasthop.models.ModelError
        If the scenario breaks an assumption of the model.
    """
    from lasthop import models

    if model is not None and model not in models.MODELS:
        raise UserError(f'there is no model "{model}"', f"models: {', '.join(models.MODELS)}")
    checked = check(scenario)
    tree = checked.to_dict()
    return Prediction(models.predict(tree, model or models.choose(tree)), checked)
