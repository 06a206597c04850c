"""Contents of a study's picture: lines on axes, read from the runs when it is drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lasthop.studies.study import Quantity, Runs

__all__ = ["Abscissa", "Line", "Panel", "evenly"]


def evenly(values: Sequence[Any]) -> Callable[[Any], float]:
    """Return a function from a value to its position on an axis, on which successive values have
    equal distances.
    """
    return lambda value: float(values.index(value))


@dataclass(frozen=True)
class Abscissa:
    """The abscissa that the panels of a picture share.

    Parameters
    ----------
    label : str
        Quantity and unit.
    places : callable
        Function that returns the position of a value on the axis.
    ticks : sequence or mapping
        Values that are labelled on the axis. A mapping also has the text of each label. By default
        round numbers are labelled.
    offset : float
        Horizontal shift between the points of successive labels, so that points at the same value
        of the abscissa do not overlap. It is used only if each label has its own colour. By default
        the points overlap. [positions]
    """

    label: str
    places: Callable[[Any], float] = float
    ticks: Sequence[Any] | Mapping[Any, str] = ()
    offset: float = 0.0

    def labels(self) -> dict[float, str]:
        """Return the positions of the ticks with their labels."""
        words = self.ticks if isinstance(self.ticks, Mapping) else {x: x for x in self.ticks}
        return {
            self.places(x): f"{word:g}" if isinstance(word, float) else str(word)
            for x, word in words.items()
        }


@dataclass(frozen=True)
class Line:
    """One curve: points with intervals, and a line for the model's predictions.

    Parameters
    ----------
    label : str
        Entry in the legend; lines of several panels with one label have one colour.
    x : sequence
        Values of the abscissa at the points.
    read : callable
        Function from the runs to the quantities at the points.
    variant : str
        Difference from another line of the same label. A line with a variant is drawn hollow and
        dashed.
    """

    label: str
    x: Sequence[Any]
    read: Callable[[Runs], Sequence[Quantity]]
    variant: str = ""


@dataclass(frozen=True)
class Panel:
    """A panel with its lines.

    Parameters
    ----------
    y_label : str
        Quantity and unit.
    lines : sequence of Line
        Lines of the panel.
    title : str
        Title above the axes.
    from_zero : bool
        Whether the ordinate starts at 0.
    log_from : float, optional
        Smallest value of a logarithmic ordinate. It is used only if each label has its own colour.
        By default the ordinate is linear.
    levels : mapping, optional
        Values of horizontal lines, by label; by default there are none.
    stated : sequence of tuples
        Values of the paper. Each tuple has the abscissa, and then one value, or the lowest and the
        highest value.
    x_label : str
        Quantity and unit of a separate abscissa; by default the panel uses the common abscissa.
    """

    y_label: str
    lines: Sequence[Line]
    title: str = ""
    from_zero: bool = True
    log_from: float | None = None
    levels: Mapping[str, float] | None = None
    stated: Sequence[tuple[Any, float] | tuple[Any, float, float]] = ()
    x_label: str = ""
