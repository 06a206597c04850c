"""Heading of a result: its kind, its scenario and its runs."""

from typing import Annotated

from lasthop.scenario.from_json import Table

__all__ = ["Heading"]


def time_s(value: float | None) -> float:
    """Return a duration from a summary; 0 for a prediction, whose summary has none. [s]"""
    return float(value or 0.0)


class Heading(Table):
    """Scenario and runs of a result. The heading of a prediction has a model and no runs."""

    kind: str
    scenario: str
    """Name of the scenario."""
    model: str = ""
    seed: int = 0
    replications: int = 1
    duration_s: Annotated[float, time_s] = 0.0
    warmup_s: Annotated[float, time_s] = 0.0
