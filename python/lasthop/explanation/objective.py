"""Objective of `explain`: a number per replication to improve, and the quantities that are printed
with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lasthop.simulation.result import Result

__all__ = ["Column", "Objective", "PrintedQuantity", "Values", "columns", "worst"]

Column: TypeAlias = list[float]

Values: TypeAlias = Callable[[Result], Column]


@dataclass(frozen=True)
class PrintedQuantity:
    """A quantity that is printed together with an objective."""

    title: str
    """Text before the value; it may be empty."""
    unit: str
    """Unit or other text after the value."""
    scale: float
    """Factor from the value to the printed unit. [-]"""
    values: Callable[[Result], Column]
    """Function that returns the values of the quantity, one per replication."""
    direction: int | None = None
    """-1 if a smaller value is better, 1 if a larger value is better; None for the direction of the
    objective. [-]
    """
    is_noticed: bool = False
    """Whether a user notices a change of this quantity, and not only of the number of the
    objective.
    """


@dataclass(frozen=True)
class Objective:
    """Objective of `explain`: a number per replication that changes should increase or decrease."""

    name: str
    target: str | None
    direction: int
    """-1 if a smaller number is better, 1 if a larger number is better. [-]"""
    values: Callable[[Result], Column]
    """Function that returns the number of the objective in each replication."""
    quantities: tuple[PrintedQuantity, ...]
    """Printed quantities; the first corresponds to the number of the objective."""
    is_met: Callable[[Result], bool]
    """Function that returns whether a result meets the objective. If the objective is met, changes
    are not compared.
    """
    met: str
    """Description of the condition in `is_met`."""
    harms: Callable[[Result, Result], bool] = lambda base, case: False
    """Function that returns whether a remedy is rejected although it improves the number.

    For ``throughput``, a remedy is rejected if a flow loses more than half of its goodput. For
    ``fairness``, a remedy is rejected if all flows together lose more than half of their goodput,
    or if the smallest share falls by more than a tenth.
    """


def columns(result: Result, names: Sequence[str], quantity: str, missing: float) -> list[Column]:
    """Return the values of a quantity, one column per flow. `missing` replaces a missing value."""
    results = []
    for name in names:
        values = result.sampled("flows", name, quantity) or [None] * result.replications
        results.append([missing if value is None else value for value in values])
    return results


def worst(result: Sequence[Column], count: int) -> Column:
    """Return the largest value per replication; 0 if there are no columns."""
    return [max(row) for row in zip(*result, strict=True)] if result else [0.0] * count
