"""Items of the lists of a summary, such as a flow or a station."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lasthop.answers.estimates import Estimate

__all__ = ["SummaryItem", "names_in", "summary_items"]


@dataclass(frozen=True)
class SummaryItem:
    """Item of a list of a summary."""

    values: Mapping[str, Any]
    """Quantities and other entries of the item, by name."""

    @property
    def name(self) -> str:
        """Name of the item, unique in its list."""
        return str(self.values["name"])

    @property
    def station(self) -> str:
        """Station of a flow or of a queue; empty for an item without a station."""
        return str(self.values.get("station") or "")

    @property
    def direction(self) -> str:
        """Direction of a flow of a station, ``up`` or ``down``; empty for other items."""
        return str(self.values.get("direction") or "")

    def __contains__(self, quantity: str) -> bool:
        return quantity in self.values

    def estimate(self, quantity: str) -> Estimate | None:
        """Return the value of a quantity; None if the item has no value."""
        return Estimate.read(self.values.get(quantity))


def summary_items(summary: Mapping[str, Any], list_name: str) -> list[SummaryItem]:
    """Return the items of a list; an absent list is empty."""
    return [SummaryItem(item) for item in summary.get(list_name, ())]


def names_in(summary: Mapping[str, Any], list_name: str) -> list[str]:
    """Return the names of the items of a list; an absent list is empty."""
    return [item.name for item in summary_items(summary, list_name)]
