"""Main picture of one result: goodputs and queues."""

from typing import TYPE_CHECKING

from lasthop.plot.cell import cell_figure
from lasthop.plot.conflicts import OF_LINKS, conflict_figure
from lasthop.plot.figure import Figure, Place, headline
from lasthop.plot.network import network_figure
from lasthop.plot.side_by_side import SideBySide
from lasthop.scenario.typed import CsmaScenario

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer


def overview_figure(answer: "Answer", place: Place | None = None) -> Figure:
    """Draw the main picture: goodputs and queues, or the conflict graph."""
    others, name = SideBySide.of(answer), answer.heading.scenario
    if answer.has_scenario and isinstance(answer.scenario.typed, CsmaScenario):
        how = "simulation: " if answer.heading.kind == "simulation" else ""
        figure = conflict_figure([(f"{how}{OF_LINKS}", answer)], place)
        headline(figure, name, others.about())
        return figure
    if "stations" in answer.contents:
        return cell_figure(others, name, place, shares=False)
    return network_figure(others, name, place)
