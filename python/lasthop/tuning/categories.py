"""Access categories: which one a search tunes, and where the parameters of each stand."""

from collections.abc import Mapping
from typing import Any

from lasthop.errors import UserError

__all__ = [
    "BEST_EFFORT",
    "CATEGORIES",
    "access",
    "categories_in_use",
    "category_asked",
    "cell_flows",
    "delay_quantity",
    "queue_name",
    "table_of",
]

BEST_EFFORT = "best-effort"

CATEGORIES = ("voice", "video", BEST_EFFORT, "background")
"""Access categories of IEEE 802.11e, the highest first."""


def cell_flows(scenario: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Flows of stations; others run between wired nodes."""
    return [flow for flow in scenario["flows"] if flow["station"] is not None]


def categories_in_use(scenario: Mapping[str, Any]) -> list[str]:
    """Categories of the stations' flows, the highest first."""
    used = {flow["category"] for flow in cell_flows(scenario)}
    return [category for category in CATEGORIES if category in used]


def category_asked(scenario: Mapping[str, Any], category: str | None) -> str:
    """The category to tune: by default the one of most TCP connections.

    Between two with as many, and where there are none, best effort comes first, then the higher.

    Raises
    ------
    UserError
        No flow is in `category`.
    """
    used = categories_in_use(scenario)
    if category is not None:
        if category not in used:
            raise UserError(
                f'category="{category}": no flow is in it', f"categories in use: {', '.join(used)}"
            )
        return category
    counted = [flow["category"] for flow in cell_flows(scenario) if "tcp" in flow]
    ordered = sorted(used, key=lambda each: each != BEST_EFFORT)
    return max(ordered, key=counted.count)


def access(node: Mapping[str, Any], category: str) -> Mapping[str, Any]:
    """Access parameters of a category at the AP or a station."""
    found: Mapping[str, Any] = node if category == BEST_EFFORT else node[category]
    return found


def table_of(node: str, category: str) -> str:
    """Key path of a category's table: ``cell.ap.voice``; best effort's keys are the node's own."""
    return node if category == BEST_EFFORT else f"{node}.{category}"


def queue_name(node: str, category: str) -> str:
    """Name of a category's queue in results: ``ap/voice``."""
    return node if category == BEST_EFFORT else f"{node}/{category}"


def delay_quantity(category: str) -> str:
    """Name in `lasthop.tuning.measures.Samples` of the time that a category's packets wait."""
    return f"{category.replace('-', '_')}_delay_s"
