"""Random numbers from one seed, and the types of TOML tables."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")


#: Any TOML value.
Value = Any
Table = dict[str, Any]


class Dice:
    """Random numbers that depend only on the seed."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)

    def whole(self, low: int, high: int) -> int:
        """Return a random integer from `low` to `high`."""
        return low + int(self.random.random() * (high + 1 - low))

    def number(self, low: float, high: float) -> float:
        """Return a random number from `low` to `high` with few digits."""
        return round(low + self.random.random() * (high - low), 4)

    def one(self, values: Sequence[T]) -> T:
        """Return one of the values."""
        return values[self.whole(0, len(values) - 1)]

    def chance(self, part: float) -> bool:
        """Return true with probability `part`."""
        return self.random.random() < part

    def flag(self) -> bool:
        """Return true with probability 1/2."""
        return self.chance(0.5)

    def some(self, part: float, makers: dict[str, Callable[[], Value]]) -> Table:
        """Return a table that contains each key with probability `part`."""
        return {key: make() for key, make in makers.items() if self.chance(part)}


def ms(dice: Dice, low: float, high: float) -> str:
    """Return a random time as text, in milliseconds."""
    return f"{dice.number(low, high):g} ms"
