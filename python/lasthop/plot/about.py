"""What a picture is of, beside its name: what was changed of the scenario, which model."""

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from lasthop.models import MODELS

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer
    from lasthop.prediction.prediction import Prediction
    from lasthop.scenario.scenario import Scenario

LONGEST = 40
"""Characters of a value that a title shows."""

OF_NO_EFFECT = ("name", "record")
"""Settings at and below these paths change nothing of what is simulated."""


def changes(scenario: "Scenario") -> dict[str, str]:
    """Values set over the scenario's text, by path: those that change what is simulated."""
    return {
        path: value
        for path, value in scenario.settings
        if path.partition(".")[0] not in OF_NO_EFFECT
    }


def about(*answers: "Answer") -> str:
    """What was changed of the scenario of some answers, and which model one of them is."""
    return ", ".join(_parts(answers))


def changes_text(changed: dict[str, str]) -> str:
    """Changed values as a title has them."""
    return ", ".join(f"{path}={cut(value)}" for path, value in changed.items())


def cut(value: str) -> str:
    """A value, its end left out where it is long; a long table without what is in it."""
    if value.startswith("{") and len(value) > LONGEST // 2:
        return "{…}"
    return value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…"


def _parts(answers: tuple["Answer", ...]) -> Iterator[str]:
    with_scenario = next((each for each in answers if each.has_scenario), None)
    if with_scenario is not None and (changed := changes(with_scenario.scenario)):
        yield changes_text(changed)
    for each in answers:
        if each.heading.kind == "prediction":
            yield f"model {each.summary['model']}"
            yield from (f"{name} {value}" for name, value in options(each).items())


def options(prediction: "Answer | Prediction") -> dict[str, str]:
    """Options of a model that are not the usual ones."""
    given = prediction.summary.get("options") or {}
    if prediction.heading.model not in MODELS:
        return {}
    package = import_module(f"lasthop.models.{prediction.summary['model']}")
    usual = package.Options().to_dict() if hasattr(package, "Options") else {}
    return {name: str(value) for name, value in given.items() if value != usual.get(name)}
