"""Pictures of answers. This package is imported when the first picture is drawn."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.answers.answer import Answer
    from lasthop.comparison.compare import Comparison
    from lasthop.plot.figure import Figure, Place
    from lasthop.simulation.result import Result
    from lasthop.sweep import Sweep
    from lasthop.tuning.tuning import Tuning
    from lasthop.whatif import WhatIf

__all__ = [
    "AnswerPlots",
    "ComparisonPlots",
    "ResultPlots",
    "SweepPlots",
    "TuningPlots",
    "WhatIfPlots",
]


class AnswerPlots:
    """Pictures of one answer: the main one as ``a.plot()``, others as ``a.plot.goodput()``.

    Each method returns a matplotlib figure. Pictures with one panel are drawn into the axes ``ax``
    if they are given. Pictures with several panels are drawn into ``figure``, a figure or
    subfigure, if it is given.
    """

    def __init__(self, answer: "Answer") -> None:
        self._answer = answer

    def __call__(self, *, figure: "Place | None" = None) -> "Figure":
        """Draw the main picture: delays if they matter, goodputs, use of links, and queues.

        Alike stations are one row, with the mean and the least and most of them; a station that
        sends and receives has a row for each way. Of a conflict graph it is the graph.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure, optional
            Where to draw; by default a new one in house style.
        """
        from lasthop.plot.overview import overview_figure

        return overview_figure(self._answer, figure)

    def goodput(self, *, ax: "Axes | None" = None) -> "Figure":
        """Draw the goodput of each station or group, with intervals. [Mb/s]"""
        from lasthop.plot.stations import goodput_figure

        return goodput_figure(self._answer, ax)

    def shares(self, *, ax: "Axes | None" = None) -> "Figure":
        """Draw the share of the goodput of each station or group, and equal shares. [%]"""
        from lasthop.plot.stations import share_figure

        return share_figure(self._answer, ax)

    def queues(self, *, ax: "Axes | None" = None) -> "Figure":
        """Draw the mean queue of the access point and each station or group. [packets]"""
        from lasthop.plot.stations import queue_figure

        return queue_figure(self._answer, ax)

    def conflicts(self, *, ax: "Axes | None" = None) -> "Figure":
        """Draw the conflict graph of a `csma` network: air time and throughput of each link."""
        from lasthop.errors import UserError
        from lasthop.plot.conflicts import conflict_axes, conflict_figure
        from lasthop.scenario.typed import CsmaScenario

        if not isinstance(self._answer.scenario.typed, CsmaScenario):
            raise UserError("no conflict graph: the scenario has no `csma`")
        panel = (str(self._answer.summary["scenario"]), self._answer)
        return conflict_figure([panel]) if ax is None else conflict_axes(*panel, ax)


class ResultPlots(AnswerPlots):
    """Pictures of a simulation: those of every answer, and of records over time."""

    def __init__(self, result: "Result") -> None:
        super().__init__(result)
        self._result = result

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
        from lasthop.plot.series import multiples_figure, series_figure

        if quantity is None:
            return multiples_figure(self._result, figure)
        return series_figure(self._result, quantity, figure)

    def air(self, from_s: float, to_s: float, *, ax: "Axes | None" = None) -> "Figure":
        """Draw the frames on the air in the first replication, one row per sender, with backoffs.

        Parameters
        ----------
        from_s, to_s : float
            Interval of time, some tens of milliseconds. [s]
        ax : matplotlib Axes, optional
            Axes to draw into; by default those of a new figure of two columns.

        Raises
        ------
        UserError
            If no frames were recorded (``simulate(..., frames=100000)``), if the interval has no
            frame, or if it has too many frames for a picture.
        """
        from lasthop.plot.air import air_figure

        return air_figure(self._result, from_s, to_s, ax)


class ComparisonPlots:
    """Picture of a comparison, as ``c.plot()``."""

    def __init__(self, comparison: "Comparison") -> None:
        self._comparison = comparison

    def __call__(self, *, figure: "Place | None" = None) -> "Figure":
        """The same as `Comparison.figure`: shares, goodputs and queues, model beside simulation.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure, optional
            Where to draw; by default a new one in house style.
        """
        return self._comparison.figure(figure=figure)


class SweepPlots:
    """Picture of a sweep, as ``s.plot()`` or ``s.plot("jain")``."""

    def __init__(self, sweep: "Sweep") -> None:
        self._sweep = sweep

    def __call__(self, quantity: str | None = None, *, figure: "Place | None" = None) -> "Figure":
        """A quantity over the values that vary: lines with intervals, or a map over two paths.

        Parameters
        ----------
        quantity : str, optional
            What is drawn, perhaps with its list before a point: ``"jain"``, ``"queues.sojourn_s"``.
            By default delays and losses if they matter, then shares of a cell's stations and
            groups, or goodput and losses of a router.
        figure : matplotlib Figure or SubFigure, optional
            Where to draw; by default a new one in house style.

        Raises
        ------
        UserError
            If no point has the quantity, or if there are more lines than a picture can distinguish.
        """
        from lasthop.plot.sweep import sweep_figure

        return sweep_figure(self._sweep, quantity, figure)


class TuningPlots:
    """Picture of a search, as ``t.plot()``."""

    def __init__(self, tuning: "Tuning") -> None:
        self._tuning = tuning

    def __call__(self, *, figure: "Place | None" = None) -> "Figure":
        """The same as `Tuning.figure`: what each confirmed setting gives, the chosen one marked.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure, optional
            Where to draw; by default a new one in house style.
        """
        return self._tuning.figure(figure=figure)


class WhatIfPlots:
    """Picture of a what-if question, as ``w.plot()``."""

    def __init__(self, what_if: "WhatIf") -> None:
        self._what_if = what_if

    def __call__(self, *, figure: "Place | None" = None) -> "Figure":
        """Draw the value of each case, one panel per unit and bars side by side for items.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure, optional
            Figure to draw into; by default a new one in house style.
        """
        from lasthop.plot.what_if import what_if_figure

        return what_if_figure(self._what_if, figure)
