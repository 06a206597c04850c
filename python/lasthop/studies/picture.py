"""The picture of a study: panels over a common abscissa, defined before the simulations are run."""

from collections.abc import Sequence
from dataclasses import dataclass

from lasthop.studies.panel import Abscissa, Line, Panel, evenly
from lasthop.studies.study import Figure, Runs

__all__ = ["Abscissa", "Line", "Panel", "Picture", "evenly"]


@dataclass(frozen=True)
class Picture:
    """Panels one above the other over a common abscissa.

    Parameters
    ----------
    abscissa : Abscissa
        Common abscissa.
    panels : sequence of Panel
        Panels from top to bottom.
    panel_mm : float
        Height of a panel. [mm]
    beside_paper : bool
        Whether model and simulation have one colour each, with a band around the paper's values; by
        default every label has a colour.
    """

    abscissa: Abscissa
    panels: Sequence[Panel]
    panel_mm: float = 48.0
    beside_paper: bool = False

    def draw(self, runs: Runs) -> Figure:
        """Read the lines from the runs and draw them."""
        if self.beside_paper:
            from lasthop.studies.drawing.study import sweep_figure as figure
        else:
            from lasthop.studies.drawing.family import family_figure as figure

        return figure(self.abscissa, self.panels, runs, panel_mm=self.panel_mm)
