"""Pictures of results, as methods of their attribute ``plot``. Drawing imports matplotlib."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lasthop.answers.kinds import kind_named
from lasthop.errors import UserError
from lasthop.extras import need
from lasthop.references import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.plot.figure import Figure, Place

__all__ = ["AnswerPlots", "Plots", "ResultPlots", "SweepPlots"]


class Plots:
    """Pictures of a result; ``a.plot()`` draws the main picture.

    Each method returns a matplotlib figure. Pictures with one panel are drawn into the axes ``ax``
    if they are given. Pictures with several panels are drawn into the figure or subfigure
    ``figure`` if it is given.
    """

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def __call__(self, *, figure: "Place | None" = None) -> "Figure":
        """Draw the main picture.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure, optional
            Figure to draw into; by default a new one in house style.
        """
        return self._draw(kind_named(self._answer.kind).figure, figure)

    def drawing(self, quantity: str | None, *, series: bool) -> "Callable[[], Figure]":
        """Return the function that draws the picture for the options of ``lasthop plot``.

        Raises
        ------
        UserError
            If the result has no picture of this quantity.
        """
        command = kind_named(self._answer.kind).command
        if series or quantity is not None:
            option = "--series" if series else f"--quantity {quantity}"
            raise UserError(
                f"{option}: the answer has one picture only, since it is a {command} answer",
                "omit the option",
            )
        return self

    def _draw(self, function: str, *arguments: Any) -> "Figure":
        need("pictures")
        drawn: Figure = named(function)(self._answer, *arguments)
        return drawn


class AnswerPlots(Plots):
    """Pictures of one result: ``a.plot()`` draws the main picture, ``a.plot.goodput()`` the
    goodputs.

    The main picture shows goodputs, utilisation of links, and queues, and also delays if the
    scenario has delay-sensitive traffic. Stations with equal settings share one row, which shows
    mean, minimum and maximum. A station that sends and receives has a row for each direction. The
    main picture of a conflict graph is the graph.
    """

    def goodput(self, *, ax: "Axes | None" = None) -> "Figure":
        """Draw the goodput of each station or table of stations, with intervals. [Mb/s]"""
        return self._draw("plot.stations:goodput_figure", ax)

    def shares(self, *, ax: "Axes | None" = None) -> "Figure":
        """Draw the goodput share of each station or table of stations, and a line for equal shares.
        [%]
        """
        return self._draw("plot.stations:share_figure", ax)

    def queues(self, *, ax: "Axes | None" = None) -> "Figure":
        """Draw the mean queue of the access point and of each station or table of stations.
        [packets]
        """
        return self._draw("plot.stations:queue_figure", ax)

    def conflicts(self, *, ax: "Axes | None" = None) -> "Figure":
        """Draw the conflict graph of a `csma` network: air time and throughput of each link."""
        return self._draw("plot.conflicts:answer_figure", ax)


class ResultPlots(AnswerPlots):
    """Pictures of a simulation: those of every result, and pictures of time series and frames."""

    def drawing(self, quantity: str | None, *, series: bool) -> "Callable[[], Figure]":
        """Return the function that draws the time series if `series`, else the main picture."""
        if series or quantity is not None:
            return lambda: self.series(quantity)
        return self

    def series(self, quantity: str | None = None, *, figure: "Place | None" = None) -> "Figure":
        """Draw the time series of the first replication.

        Parameters
        ----------
        quantity : str, optional
            Sampled quantity, drawn with one panel per item: ``"cwnd_packets"``, see
            `Result.tracks`. By default there is one panel per quantity, with all items.
        figure : matplotlib Figure or SubFigure, optional
            Figure to draw into; by default a new one in house style.

        Raises
        ------
        UserError
            If the quantity was not sampled; the message lists the most similar quantities.
        """
        if quantity is None:
            return self._draw("plot.series:multiples_figure", figure)
        return self._draw("plot.series:series_figure", quantity, figure)

    def air(self, from_s: float, to_s: float, *, ax: "Axes | None" = None) -> "Figure":
        """Draw the frames on the air in the first replication, one row per sender, with backoffs.

        Parameters
        ----------
        from_s, to_s : float
            Interval of time, some tens of milliseconds. [s]
        ax : matplotlib Axes, optional
            Axes to draw into; by default the axes of a new figure of two columns.

        Raises
        ------
        UserError
            If no frames were recorded (``simulate(..., frames=100000)``), if the interval has no
            frame, or if it has too many frames for a picture.
        """
        return self._draw("plot.air:air_figure", from_s, to_s, ax)


class SweepPlots(Plots):
    """Picture of a sweep, as ``s.plot()`` or ``s.plot("jain")``."""

    def __call__(self, quantity: str | None = None, *, figure: "Place | None" = None) -> "Figure":
        """Draw a quantity over the swept values: lines with intervals, or a map over two paths.

        Parameters
        ----------
        quantity : str, optional
            Quantity to draw, optionally preceded by its list and a dot: ``"jain"`` or
            ``"queues.sojourn_s"``. By default, delays and losses if there is delay-sensitive
            traffic; and goodput shares of a cell's stations, or goodput and losses of a router.
        figure : matplotlib Figure or SubFigure, optional
            Figure to draw into; by default a new one in house style.

        Raises
        ------
        UserError
            If no point has the quantity, or if there are more lines than a picture can distinguish.
        """
        return self._draw(kind_named(self._answer.kind).figure, quantity, figure)

    def drawing(self, quantity: str | None, *, series: bool) -> "Callable[[], Figure]":
        """Return the function that draws a quantity over the swept settings."""
        if series:
            return super().drawing(quantity, series=series)
        return lambda: self(quantity)
