"""Contents of a summary that is stored as arrays, for the code that prints and draws results.

The lists of a large network have a dictionary for each flow and for each of its quantities. The
engine stores the same values as arrays, in a tenth of the memory.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from lasthop.answers.estimates import Estimate, estimates_of

__all__ = ["ArrayContents", "SummaryArrays", "estimates_in", "items_in"]

Item = dict[str, Any]


class SummaryArrays(Protocol):
    """Interface to a summary that is stored as arrays; `_core.SimulationOutput` implements it."""

    @property
    def head_json(self) -> str:
        """Entries of the summary other than lists, as JSON."""

    @property
    def lists(self) -> list[str]:
        """Names of the lists of the summary, in order."""

    def items(self, list_name: str) -> list[Item]:
        """Return the items of a list as new dictionaries."""

    def estimates(self, list_name: str, quantity: str) -> list[tuple[str, float, float | None]]:
        """Return name, mean and half width of a quantity for each item that has a mean."""


class ArrayContents(Mapping[str, Any]):
    """Read-only mapping of a summary that is stored as arrays. A list is created when the list is
    first read.
    """

    def __init__(self, arrays: SummaryArrays) -> None:
        self._arrays = arrays
        self._lists = arrays.lists
        self._values: dict[str, Any] = json.loads(arrays.head_json)
        self._keys = dict.fromkeys((*self._values, *self._lists))

    def __getitem__(self, key: str) -> Any:
        if key not in self._values and key in self._keys:
            self._values[key] = self._arrays.items(key)
        return self._values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def tree(self) -> dict[str, Any]:
        """Return the whole summary as a new dictionary of new lists."""
        tree: dict[str, Any] = json.loads(self._arrays.head_json)
        return tree | {name: self._arrays.items(name) for name in self._lists}

    def items_of(self, list_name: str) -> list[Item]:
        """Return the items of a list, which are not stored; an absent list is empty."""
        return self._arrays.items(list_name) if list_name in self._lists else []

    def estimates(self, list_name: str, quantity: str) -> dict[str, Estimate]:
        """Return the estimates of a quantity by item name, as `estimates_of` does."""
        rows = self._arrays.estimates(list_name, quantity)
        return {name: Estimate(mean, ci95) for name, mean, ci95 in rows}


def estimates_in(contents: Mapping[str, Any], list_name: str, quantity: str) -> dict[str, Estimate]:
    """Return the estimates of a quantity in a list of a summary, by item name. Items without the
    quantity are left out.
    """
    if isinstance(contents, ArrayContents):
        return contents.estimates(list_name, quantity)
    return estimates_of(contents.get(list_name, ()), quantity)


def items_in(contents: Mapping[str, Any], list_name: str) -> list[Item]:
    """Return the items of a list of a summary for a single use; an absent list is empty."""
    if isinstance(contents, ArrayContents):
        return contents.items_of(list_name)
    items: list[Item] = contents.get(list_name, [])
    return items
