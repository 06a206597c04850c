"""Access categories: which category a search tunes, and the keys of each category's parameters."""

from lasthop.errors import UserError
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import BEST_EFFORT, CellScenario, Flow, PingFlow

CATEGORIES = ("voice", "video", BEST_EFFORT, "background")
"""Access categories of IEEE 802.11e, highest first."""


def cell_scenario(scenario: Scenario) -> CellScenario:
    """Return the typed values of a scenario with a cell. `tune` has already checked that the
    scenario has a cell.
    """
    known = scenario.typed
    assert isinstance(known, CellScenario), "only a cell has access parameters"
    return known


def cell_flows(scenario: Scenario) -> list[Flow]:
    """Return the flows of stations, without pings and without flows between wired nodes."""
    flows = scenario.typed.flows
    return [flow for flow in flows if flow.station and not isinstance(flow, PingFlow)]


def categories_in_use(scenario: Scenario) -> list[str]:
    """Return the access categories of the stations' flows, highest first."""
    used = {flow.category for flow in cell_flows(scenario)}
    return [category for category in CATEGORIES if category in used]


def categories_above(scenario: Scenario, category: str) -> list[str]:
    """Return the categories with flows that are higher than `category`, highest first."""
    above = CATEGORIES[: CATEGORIES.index(category)]
    return [each for each in categories_in_use(scenario) if each in above]


def category_asked(scenario: Scenario, category: str | None) -> str:
    """Return the category to tune: by default the category with the most TCP connections.

    If categories have equal numbers of connections, or if there are no connections, best effort is
    preferred, then the higher category.

    Raises
    ------
    UserError
        If no flow is in `category`.
    """
    used = categories_in_use(scenario)
    if category is not None:
        if category not in used:
            raise UserError(
                f'category="{category}": no flow uses this category: expected {" or ".join(used)}'
            )
        return category
    counted = [flow.category for flow in scenario.typed.tcp_flows if flow.station]
    ordered = sorted(used, key=lambda each: each != BEST_EFFORT)
    return max(ordered, key=counted.count)


def table_of(node: str, category: str) -> str:
    """Return the key path of the table of a category, such as ``cell.ap.voice``. For best effort,
    the path is that of the node's own table.
    """
    return node if category == BEST_EFFORT else f"{node}.{category}"


def queue_name(node: str, category: str) -> str:
    """Return the name of the queue of a category in results, such as ``ap/voice``."""
    return node if category == BEST_EFFORT else f"{node}/{category}"


def delay_quantity(category: str) -> str:
    """Return the name of the queueing delay of a category's packets in
    `lasthop.tuning.measures.Samples`.
    """
    return f"{category.replace('-', '_')}_delay_s"
