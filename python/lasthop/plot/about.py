"""Texts below the headline of a picture: changed settings of the scenario, and the model."""

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from lasthop.models import MODELS

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer
    from lasthop.prediction.prediction import Prediction
    from lasthop.scenario.scenario import Scenario

LONGEST = 40
"""Maximum length of a setting's value in a headline. [characters]"""

OF_NO_EFFECT = ("name", "record")
"""Key paths of settings that do not affect the simulation, including all keys inside these
tables.
"""


def changes(scenario: "Scenario") -> dict[str, str]:
    """Return the settings that override the scenario file and affect the simulation, by path."""
    return {
        path: value
        for path, value in scenario.settings
        if path.partition(".")[0] not in OF_NO_EFFECT
    }


def about(*answers: "Answer") -> str:
    """Return text on the changed settings of the results' scenario, and on the model of a
    prediction.
    """
    return ", ".join(_parts(answers))


def changes_text(changed: dict[str, str]) -> str:
    """Return changed settings as text for a headline."""
    return ", ".join(f"{path}={cut(value)}" for path, value in changed.items())


def cut(value: str) -> str:
    """Return a value, shortened if it is too long: the end of text, or the contents of a table, is
    omitted.
    """
    if value.startswith("{") and len(value) > LONGEST // 2:
        return "{…}"
    return value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…"


def _parts(answers: tuple["Answer", ...]) -> Iterator[str]:
    with_scenario = next((each for each in answers if each.has_scenario), None)
    if with_scenario is not None and (changed := changes(with_scenario.scenario)):
        yield changes_text(changed)
    for each in answers:
        if each.heading.kind == "prediction":
            yield f"model {each.contents['model']}"
            yield from (f"{name} {value}" for name, value in options(each).items())


def options(prediction: "Answer | Prediction") -> dict[str, str]:
    """Return the options of a prediction's model that differ from their defaults."""
    given = prediction.contents.get("options") or {}
    if prediction.heading.model not in MODELS:
        return {}
    package = import_module(f"lasthop.models.{prediction.contents['model']}")
    usual = package.Options().to_dict() if hasattr(package, "Options") else {}
    return {name: str(value) for name, value in given.items() if value != usual.get(name)}
