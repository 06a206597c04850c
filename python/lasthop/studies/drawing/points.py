"""Points of a line: simulated and predicted values, and their positions on the abscissa."""

from dataclasses import dataclass

from lasthop.studies.panel import Abscissa, Line
from lasthop.studies.rules import Measured
from lasthop.studies.study import Runs


@dataclass(frozen=True)
class Points:
    """A line with its values.

    Parameters
    ----------
    line : Line
        Description of the line.
    measured : tuple
        Position and values of each point.
    """

    line: Line
    measured: tuple[tuple[float, Measured], ...]

    @classmethod
    def of(cls, line: Line, abscissa: Abscissa, runs: Runs) -> "Points":
        """Return the values of a line, read from the runs."""
        values = (each.measured() for each in line.read(runs))
        return cls(line, tuple(zip(map(abscissa.places, line.x), values, strict=True)))

    def model(self) -> tuple[list[float], list[float]]:
        """Return the positions and values of the model's predictions."""
        some = [(x, item.predicted) for x, item in self.measured if item.predicted is not None]
        return [x for x, _ in some], [y for _, y in some]

    def simulation(self) -> tuple[list[float], list[float], list[float]]:
        """Return positions, means and half widths of the simulated values."""
        some = [(x, item) for x, item in self.measured if item.simulated is not None]
        means = [item.simulated for _, item in some if item.simulated is not None]
        return [x for x, _ in some], means, [item.ci95 or 0.0 for _, item in some]
