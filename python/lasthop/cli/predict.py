"""`lasthop predict`."""

import sys

import typer

from lasthop.cli.options import File, Json, Model, Settings, read_scenario
from lasthop.errors import UserError
from lasthop.predict import predict as ask
from lasthop.result import Prediction

__all__ = ["predict", "print_warnings"]

SIMULATE_HINT = "lasthop simulate needs none of the model's assumptions"


def predict(
    file: File, model: Model = None, settings: Settings = None, as_json: Json = False
) -> None:
    """Predict a scenario by an analytical model, without simulating it."""
    scenario = read_scenario(file, settings)
    from lasthop.models import ConvergenceError, ModelError, choose

    model = model or choose(scenario.to_dict())
    try:
        prediction = ask(scenario, model=model)
    except (ModelError, ConvergenceError) as error:
        raise UserError(f"{scenario.source}: model {model}: {error}", SIMULATE_HINT) from None
    if as_json:
        sys.stdout.write(prediction.to_json())
    else:
        from lasthop.cli.tables import print_answer

        typer.echo(f"{prediction.summary['scenario']}: predicted by model {model}\n")
        print_answer(prediction.summary)
    print_warnings(prediction)


def print_warnings(prediction: Prediction) -> None:
    """What is to be checked before the prediction is trusted, on standard error."""
    for warning in prediction.warnings:
        print(f"warning: {warning}", file=sys.stderr)
