"""Contents of a study's picture: lines on axes, read from the runs when it is drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lasthop.studies.study import Quantity, Runs

__all__ = ["Abscissa", "Line", "Panel", "evenly"]


def evenly(values: Sequence[Any]) -> Callable[[Any], float]:
    """Return places at equal distances, in the order of `values`."""
    return lambda value: float(values.index(value))


@dataclass(frozen=True)
class Abscissa:
    """The abscissa that the panels of a picture share.

    Parameters
    ----------
    label : str
        Quantity and unit.
    places : callable
        Place of a value on the axis.
    ticks : sequence or mapping
        Values that are labelled, perhaps with words of their own; by default round numbers.
    offset : float
        Distance at which points of different labels stand side by side where labels have colours;
        by default they stand on one another. [places]
    """

    label: str
    places: Callable[[Any], float] = float
    ticks: Sequence[Any] | Mapping[Any, str] = ()
    offset: float = 0.0

    def labels(self) -> dict[float, str]:
        """Return the places of the ticks with what is written there."""
        words = self.ticks if isinstance(self.ticks, Mapping) else {x: x for x in self.ticks}
        return {
            self.places(x): f"{word:g}" if isinstance(word, float) else str(word)
            for x, word in words.items()
        }


@dataclass(frozen=True)
class Line:
    """One curve: points with intervals, and the model's line where it has one.

    Parameters
    ----------
    label : str
        Its entry in the legend; lines of several panels with one label have one colour.
    x : sequence
        Values of the abscissa at its points.
    read : callable
        From the runs to what was measured and predicted there.
    variant : str
        Difference from a line of the same label, which is drawn hollow and dashed.
    """

    label: str
    x: Sequence[Any]
    read: Callable[[Runs], Sequence[Quantity]]
    variant: str = ""


@dataclass(frozen=True)
class Panel:
    """One pair of axes with its lines.

    Parameters
    ----------
    y_label : str
        Quantity and unit.
    lines : sequence of Line
        Lines of the panel.
    title : str
        A short line over the axes.
    from_zero : bool
        Whether the ordinate starts at 0.
    log_from : float, optional
        Where a logarithmic ordinate starts, in pictures whose labels have colours; by default it is
        linear.
    levels : mapping, optional
        Horizontal lines, by their labels.
    stated : sequence of tuples
        Values of the paper: abscissa, then a value, or the lowest and the highest value.
    x_label : str
        Quantity and unit of an abscissa of its own; by default the panel shares the common one.
    """

    y_label: str
    lines: Sequence[Line]
    title: str = ""
    from_zero: bool = True
    log_from: float | None = None
    levels: Mapping[str, float] | None = None
    stated: Sequence[tuple[Any, float] | tuple[Any, float, float]] = ()
    x_label: str = ""
