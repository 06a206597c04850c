"""Predicted stability of queues, read from the summary of a prediction."""

from collections.abc import Mapping
from typing import Annotated, Any

from lasthop.answers.estimates import Estimate
from lasthop.scenario.from_json import Table, read_as

__all__ = ["Stability", "stabilities"]


class _Root(Table):
    """The rightmost characteristic root of a queue's linearised fluid model."""

    real: float


class Stability(Table):
    """Stability of a queue's equilibrium, predicted by a model."""

    name: str
    stable: bool
    rightmost_root: _Root
    period_s: Annotated[Estimate | None, Estimate.read] = None


def stabilities(summary: Mapping[str, Any]) -> list[Stability]:
    """Return the predicted stability of each queue; an empty list if the model predicts none."""
    return [read_as(Stability, item) for item in summary.get("stability", ())]
