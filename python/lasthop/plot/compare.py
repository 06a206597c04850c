"""Picture of a comparison: predicted and simulated values side by side."""

from textwrap import fill, shorten
from typing import TYPE_CHECKING

from lasthop.plot.cell import cell_figure
from lasthop.plot.conflicts import OF_LINKS, conflict_figure
from lasthop.plot.figure import Figure, Place, headline
from lasthop.plot.network import network_figure
from lasthop.plot.side_by_side import SideBySide
from lasthop.scenario.typed import CsmaScenario

if TYPE_CHECKING:
    from lasthop.answers.answer import Answer
    from lasthop.comparison.compare import Comparison


def comparison_figure(comparison: "Comparison", place: Place | None = None) -> Figure:
    """Draw panels with a row for each station or table of stations: goodput share, goodput, mean
    queue.

    Without a cell, the panels show goodput per class of flows, utilisation of links, and mean
    queue. For a conflict graph, the picture shows the predicted and the simulated graph.
    """
    if isinstance(comparison.scenario.typed, CsmaScenario):
        return graph_figure(comparison, place)
    others = SideBySide.of(
        comparison.simulation,
        comparison.prediction,
        comparison.emulation,
        measured=comparison.measured,
    )
    name, note = comparison.scenario.typed.name, message_of(comparison)
    if "stations" not in comparison.simulation.contents:
        return network_figure(others, name, place, oscillation=comparison.oscillation, note=note)
    return cell_figure(others, name, place, note=note)


def graph_figure(comparison: "Comparison", place: Place | None = None) -> Figure:
    """Draw the conflict graph twice: with predicted and with simulated air times and
    throughputs.
    """
    panels: list[tuple[str, Answer]] = []
    if comparison.prediction is not None:
        panels.append((f"model {comparison.prediction.model}: {OF_LINKS}", comparison.prediction))
    panels.append((f"simulation: {'the same' if panels else OF_LINKS}", comparison.simulation))
    figure = conflict_figure(panels, place)
    about = SideBySide.of(comparison.simulation).about()
    lines = [about, *comparison.beyond_stated]
    headline(figure, comparison.scenario.typed.name, "; ".join(filter(None, lines)))
    return figure


def message_of(comparison: "Comparison") -> str | None:
    """Return a note on why there is no prediction, or on errors that exceed the documented
    errors.
    """
    if comparison.refusal is not None:
        text = shorten(f"No prediction: the scenario {comparison.refusal}", 300)
        return fill(text, 66)
    # Prevent a line break before a percent sign.
    lines = (line.replace(" %", "\u00a0%") for line in comparison.beyond_stated)
    return "\n".join(fill(line, 66) for line in lines) or None
