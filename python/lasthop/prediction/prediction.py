"""Result of a model, and its reading from JSON."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lasthop.answers.answer import Answer
from lasthop.answers.reading import SUMMARY_ONLY, summary_of


class Prediction(Answer):
    """Prediction of a scenario by an analytical model."""

    kind = "prediction"
    intervals = False

    @property
    def model(self) -> str:
        """Name of the model that computed the prediction."""
        return str(self.contents["model"])

    @property
    def warnings(self) -> list[str]:
        """Assumptions that the scenario nearly breaks; check them before you trust the result."""
        return [str(warning) for warning in self.contents.get("warnings", ())]


def read_prediction(file: Path, text: str, tree: Mapping[str, Any]) -> Prediction:
    """Return the prediction in a file. The file contains only the summary of a result."""
    return Prediction(summary_of(file, tree), None, origin=str(file), why=SUMMARY_ONLY)
