"""Draws from one seed, and what tables are made of."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")


#: Whatever TOML has.
Value = Any
Table = dict[str, Any]


class Dice:
    """Draws; everything follows from one seed."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)

    def whole(self, low: int, high: int) -> int:
        """From low to high."""
        return low + int(self.random.random() * (high + 1 - low))

    def number(self, low: float, high: float) -> float:
        """From low to high, with few digits."""
        return round(low + self.random.random() * (high - low), 4)

    def one(self, values: Sequence[T]) -> T:
        """One of some."""
        return values[self.whole(0, len(values) - 1)]

    def chance(self, part: float) -> bool:
        """True with this probability."""
        return self.random.random() < part

    def flag(self) -> bool:
        """True half of the time."""
        return self.chance(0.5)

    def some(self, part: float, makers: dict[str, Callable[[], Value]]) -> Table:
        """Each key with a probability."""
        return {key: make() for key, make in makers.items() if self.chance(part)}


def ms(dice: Dice, low: float, high: float) -> str:
    """A time."""
    return f"{dice.number(low, high):g} ms"
