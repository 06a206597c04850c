"""`lasthop predict`."""

import sys
from collections.abc import Iterator
from math import ceil, log10
from typing import Any

import typer

from lasthop.answers.digits import plain
from lasthop.answers.estimates import Estimate
from lasthop.cli.boundary import print_error, print_warnings, warn
from lasthop.cli.model import MODEL
from lasthop.cli.options import (
    JSON,
    MAX_MEMORY,
    MAX_TIME,
    OPTIONS,
    SETTINGS,
    File,
    model_options,
    read_scenario,
)
from lasthop.cli.picture import PLOT_IN_OUT, changed, picture_path, save_picture
from lasthop.cli.tables import print_answer
from lasthop.display.delays import Delays
from lasthop.display.stability import stability_lines
from lasthop.errors import ConvergenceError, ModelError, TooCostlyError, UserError
from lasthop.prediction.predict import predict as ask
from lasthop.prediction.prediction import Prediction
from lasthop.scenario.from_json import Table, read_as
from lasthop.scenario.scenario import Scenario
from lasthop.warnings.settings import warnings_for


def predict(
    file: File,
    model: str | None = MODEL,
    options: list[str] | None = OPTIONS,
    settings: list[str] | None = SETTINGS,
    max_time: float = MAX_TIME,
    max_memory: float = MAX_MEMORY,
    plot: str | None = PLOT_IN_OUT,
    as_json: bool = JSON,
) -> None:
    """Predict a scenario by an analytical model, without simulating it.

    `lasthop explain TERM` explains an assumption of a model, such as a1.
    """
    scenario = read_scenario(file, settings)
    parts = changed(scenario, ("model", model), *model_options(options).items())
    picture = picture_path(plot, scenario, "predict", parts)
    from lasthop.models import choose

    model = choose(scenario.typed) if model is None else model
    try:
        prediction = ask(
            scenario,
            model=model,
            options=model_options(options),
            max_time_s=max_time,
            max_memory_bytes=max_memory,
        )
    except ModelError as error:
        warn(*dict.fromkeys(warnings_for(scenario.typed)))
        raise refused(scenario, model, error) from None
    except ConvergenceError as error:
        raise UserError(
            f"{scenario.source}: model {model}: no solution: {error}", error.hint
        ) from None
    except TooCostlyError as error:
        raise UserError(f"{scenario.source}: model {model}: {error}", error.hint) from None
    if as_json:
        sys.stdout.write(prediction.to_json())
    else:
        chosen = "".join(f", {name} {value}" for name, value in model_options(options).items())
        typer.echo(f"{prediction.heading.scenario}: predicted by model {model}{chosen}")
        delays = Delays.of(prediction)
        for line in (*delays.headlines(), *solution_lines(prediction)):
            typer.echo(line)
        typer.echo()
        print_answer(prediction, delays)
        for line in stability_lines(prediction.contents, with_time=True):
            typer.echo(line)
    save_picture(lambda: prediction.plot(), picture, as_json=as_json)
    print_warnings(prediction)


class Solution(Table):
    """Facts about the solver of a model, from the JSON of a prediction."""

    solver: str | None = None
    states: int = 0
    kkt_residual: float | None = None
    airtime_error: float | None = None
    cells: tuple[Any, ...] = ()


def solution_lines(prediction: Prediction) -> Iterator[str]:
    """Yield lines about the solver and the whole cell, in addition to the tables."""
    solution = read_as(Solution, prediction.contents)
    if solution.solver is not None:
        yield f"solver {solution.solver}, {solution.states} states"
    if solution.kkt_residual is not None:
        # The residual is rounded up to a power of ten, because its exact value is a rounding error
        # that depends on the machine.
        bound = 10.0 ** ceil(log10(max(solution.kkt_residual, 1e-9)))
        yield f"optimum with a KKT residual up to {bound:.0g}"
    if solution.airtime_error is not None:
        yield f"air times to within {solution.airtime_error:.1g}"
    for cell in solution.cells:
        active = Estimate.read(cell.get("active_stations"))
        if active is not None:
            yield f"active stations E[N_active] {plain(active.mean)}"


def refused(scenario: Scenario, model: str, error: ModelError) -> UserError:
    """Print why a model refuses the scenario, except for the last reason, which is returned as an
    error.
    """
    *others, last = error.folded
    for reason in others:
        print_error(f"{scenario.source}: model {model}: {reason}")
    hint = "run `lasthop simulate`, which makes no such assumption"
    if model == "aggregates" and has_shares(scenario):
        hint = (
            "add `--model hotspot --option beta=1` to predict goodput shares; beta is "
            "`mpdus_per_ppdu` of a backlogged station in a simulation, divided by that of the AP"
        )
    return UserError(f"{scenario.source}: model {model}: {last}", hint)


def has_shares(scenario: Scenario) -> bool:
    """Return whether model hotspot predicts goodput shares of the scenario with the option beta."""
    try:
        prediction = ask(scenario, model="hotspot", options={"beta": 1.0})
    except UserError:
        return False
    return any("goodput_share" in station for station in prediction.contents["stations"])
