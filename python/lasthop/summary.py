"""Summary of a simulation: the goodput of each station."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.answers.answer import Shown
from lasthop.answers.reading import WRONG_SHAPE, base_of
from lasthop.errors import UserError
from lasthop.scenario.origin import origin_of
from lasthop.scenario.scenario import Scenario
from lasthop.simulation.result import Result

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure, Place

__all__ = ["Summary", "read_summary", "summary_figure", "summary_text"]


class Summary(Shown):
    """Goodput of each station of a simulation."""

    kind = "summary"

    def __init__(self, scenario: Scenario, goodputs: Mapping[str, float]) -> None:
        self.scenario = scenario
        self.goodputs = dict(goodputs)
        """Goodput of each station. [bit/s]"""

    @classmethod
    def of(cls, result: Result) -> "Summary":
        """Return the summary of a simulation."""
        stations = result.summary["stations"]
        return cls(
            result.scenario, {each["name"]: each["goodput_bps"]["mean"] for each in stations}
        )

    def to_json(self) -> str:
        """Return the text that ``lasthop summary --json`` prints."""
        tree = {
            "kind": self.kind,
            "scenario": self.scenario["name"],
            "version": _core.VERSION,
            "format": _core.FORMAT,
            "goodputs_bps": self.goodputs,
            "origin": origin_of(self.scenario),
        }
        return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def summary_text(summary: Summary) -> str:
    """Return a line per station, below the name of the scenario."""
    lines = [f"{name}: {value / 1e6:.3g} Mb/s" for name, value in summary.goodputs.items()]
    return "\n  ".join([f"Summary({summary.scenario['name']!r})", *lines])


def summary_figure(summary: Summary, place: "Place | None" = None) -> "Figure":
    """Draw a bar per station. [Mb/s]"""
    from lasthop.plot.figure import house_style

    with house_style(60.0, 1, place) as figure:
        axes = figure.subplots()
        axes.barh(list(summary.goodputs), [value / 1e6 for value in summary.goodputs.values()])
        axes.set_xlabel("goodput [Mb/s]")
        return figure


def read_summary(file: Path, text: str, tree: Mapping[str, Any]) -> Summary:
    """Return the summary of a file."""
    scenario = base_of(file, tree)
    try:
        return Summary(scenario, {str(k): float(v) for k, v in tree["goodputs_bps"].items()})
    except WRONG_SHAPE:
        raise UserError(f"{file}: a damaged summary") from None
