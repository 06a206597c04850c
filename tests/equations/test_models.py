"""Properties of all models: selection of a model, and the common format of the predictions."""

from pathlib import Path

import pytest

from lasthop import Scenario, _core
from lasthop.models import MODELS, ModelError, choose, predict

EXAMPLES = Path(__file__).parents[2] / "examples"
ENVELOPE = [
    "kind",
    "model",
    "scenario",
    "seed",
    "replications",
    "version",
    "format",
    "duration_s",
    "warmup_s",
]
OWN = {
    "hotspot": "hotspot",
    "seven-downloads": "edca",
    "snr-classes": "vbs",
    "vbs": "vbs",
    "dumbbell": "red",
    "csma": "acsma",
    "saturated-aggregates": "aggregates",
    "one-slow": "airtime",
}


@pytest.mark.parametrize(("example", "model"), OWN.items())
def test_the_model_that_suits_answers_in_the_envelope_of_all(example: str, model: str) -> None:
    scenario = Scenario(EXAMPLES / f"{example}.toml").typed
    assert choose(scenario) == model
    answer = predict(scenario, model)
    assert list(answer)[: len(ENVELOPE)] == ENVELOPE
    assert list(answer)[-2:] == ["assumptions", "warnings"]
    assert (answer["kind"], answer["model"]) == ("prediction", model)
    assert answer["format"] == _core.FORMAT
    values = [value for item in answer["flows"] for value in item.values()]
    estimates = [value for value in values if isinstance(value, dict)]
    assert estimates
    assert all(set(each) == {"mean", "ci95"} and each["ci95"] is None for each in estimates)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_scenario_suits_the_model_that_is_chosen(path: Path) -> None:
    scenario = Scenario(path).typed
    suited = [name for name, model in MODELS.items() if model.suits(scenario)]
    assert suited[0] == choose(scenario)


@pytest.mark.parametrize(
    ("example", "model"),
    [
        ("dumbbell", "aggregates"),
        ("aggregates", "edca"),
        ("dumbbell", "hotspot"),
        ("dumbbell", "vbs"),
        ("csma", "edca"),
        ("csma", "red"),
    ],
)
def test_a_model_refuses_another_kind_of_scenario(example: str, model: str) -> None:
    scenario = Scenario(EXAMPLES / f"{example}.toml").typed
    assert not MODELS[model].suits(scenario)
    with pytest.raises(ModelError):
        predict(scenario, model)


def test_no_model_of_a_cell_supports_sleep() -> None:
    example = EXAMPLES / "seven-downloads.toml"
    assert choose(Scenario(example).typed) == "edca"
    group = next(each.group for each in Scenario(example).typed.stations)
    asleep = Scenario(example, settings={f"station.{group}.power_save": "100 ms"}).typed
    assert choose(asleep) == "hotspot"
    for model in ("edca", "vbs", "hotspot"):
        with pytest.raises(ModelError, match=f"`station.{group}.power_save` keeps packets back"):
            predict(asleep, model)
