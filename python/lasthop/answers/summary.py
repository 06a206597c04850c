"""Summary of a simulation as a dictionary, whose lists are created when they are first read.

The lists of a large network have a dictionary for each flow and for each of its quantities. The
engine stores the same values as arrays, in a tenth of the memory.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from lasthop.answers.estimates import Estimate, estimates_of

__all__ = ["Summary", "SummaryArrays", "estimates_in"]


class SummaryArrays(Protocol):
    """Interface to a summary that is stored as arrays; `_core.SimulationOutput` implements it."""

    @property
    def head_json(self) -> str:
        """Entries of the summary other than lists, as JSON."""

    @property
    def lists(self) -> list[str]:
        """Names of the lists of the summary, in order."""

    def items(self, list_name: str) -> list[dict[str, Any]]:
        """Return the items of a list as new dictionaries."""

    def estimates(self, list_name: str, quantity: str) -> list[tuple[str, float, float | None]]:
        """Return name, mean and half width of a quantity for each item that has a mean."""


class Summary(dict[str, Any]):
    """Summary of a simulation.

    `summary[key]` and `get` create a list at its first access. Methods that read all values or
    change the dictionary first create all lists.
    """

    __slots__ = ("_arrays", "_unread")

    def __init__(self, arrays: SummaryArrays) -> None:
        super().__init__(json.loads(arrays.head_json) | dict.fromkeys(arrays.lists))
        self._arrays = arrays
        self._unread = set(arrays.lists)

    def __getitem__(self, key: str) -> Any:
        if key in self._unread:
            super().__setitem__(key, self._arrays.items(key))
            self._unread.discard(key)  # only now: an interrupt must not leave the list unread
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key; `default` if there is no such key."""
        return self[key] if key in self._unread else super().get(key, default)

    def __iter__(self) -> Iterator[str]:
        # With this method, `dict(summary)` reads each value by `__getitem__`.
        return super().__iter__()

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)

    def read_all(self) -> None:
        """Create all lists."""
        for key in tuple(self._unread):
            self.get(key)

    def estimates(self, list_name: str, quantity: str) -> dict[str, Estimate]:
        """Return the estimates of a quantity by item name, as `estimates_of` does."""
        if list_name in self._unread:
            rows = self._arrays.estimates(list_name, quantity)
            return {name: Estimate(mean, ci95) for name, mean, ci95 in rows}
        return estimates_of(self.get(list_name, ()), quantity)


def _after_read_all(name: str) -> Callable[..., Any]:
    """Return a method of `dict` that first creates all lists of its arguments."""
    method = getattr(dict, name)

    def reading(self: Summary, *args: Any, **keywords: Any) -> Any:
        for summary in (self, *args):
            if isinstance(summary, Summary):
                summary.read_all()
        return method(self, *args, **keywords)

    return reading


for _name in (
    *("__eq__", "__ne__", "__repr__", "__or__", "__ror__", "__ior__", "__setitem__", "__delitem__"),
    *("copy", "items", "values", "pop", "popitem", "setdefault", "update", "clear"),
):
    setattr(Summary, _name, _after_read_all(_name))


def estimates_in(summary: Mapping[str, Any], list_name: str, quantity: str) -> dict[str, Estimate]:
    """Return the estimates of a quantity in a list of a summary, by item name. Items without the
    quantity are left out.
    """
    if isinstance(summary, Summary):
        return summary.estimates(list_name, quantity)
    return estimates_of(summary.get(list_name, ()), quantity)
