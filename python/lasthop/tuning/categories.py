"""Access categories: which one a search tunes, and where the parameters of each stand."""

from lasthop.errors import UserError
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import BEST_EFFORT, CellScenario, Flow

CATEGORIES = ("voice", "video", BEST_EFFORT, "background")
"""Access categories of IEEE 802.11e, the highest first."""


def cell_scenario(scenario: Scenario) -> CellScenario:
    """Return the typed values of a scenario, which has a cell, as `tune` has checked."""
    known = scenario.typed
    assert isinstance(known, CellScenario), "only a cell has access parameters"
    return known


def cell_flows(scenario: Scenario) -> list[Flow]:
    """Return flows of stations; others run between wired nodes."""
    return [flow for flow in scenario.typed.flows if flow.station]


def categories_in_use(scenario: Scenario) -> list[str]:
    """Return categories of the stations' flows, the highest first."""
    used = {flow.category for flow in cell_flows(scenario)}
    return [category for category in CATEGORIES if category in used]


def categories_above(scenario: Scenario, category: str) -> list[str]:
    """Return categories in use that are higher than this one, the highest first."""
    above = CATEGORIES[: CATEGORIES.index(category)]
    return [each for each in categories_in_use(scenario) if each in above]


def category_asked(scenario: Scenario, category: str | None) -> str:
    """Return the category to tune: by default that of most TCP connections.

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
                f'category="{category}": no flow uses it', f"categories in use: {', '.join(used)}"
            )
        return category
    counted = [flow.category for flow in scenario.typed.tcp_flows if flow.station]
    ordered = sorted(used, key=lambda each: each != BEST_EFFORT)
    return max(ordered, key=counted.count)


def table_of(node: str, category: str) -> str:
    """Return the key path of a category's table: ``cell.ap.voice``; best effort's keys are the
    node's own.
    """
    return node if category == BEST_EFFORT else f"{node}.{category}"


def queue_name(node: str, category: str) -> str:
    """Return the name of a category's queue in results: ``ap/voice``."""
    return node if category == BEST_EFFORT else f"{node}/{category}"


def delay_quantity(category: str) -> str:
    """Return the name in `lasthop.tuning.measures.Samples` of the time that a category's packets
    wait.
    """
    return f"{category.replace('-', '_')}_delay_s"
