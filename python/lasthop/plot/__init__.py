"""Pictures of results. Nothing here is imported before a picture is asked for."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.plot.figure import Figure, Place
    from lasthop.result import Result

__all__ = ["ResultPlots"]


class ResultPlots:
    """Pictures of one result, as ``r.plot.goodput()``; each returns a matplotlib figure.

    Those of one panel draw into axes of yours if they are given ``ax``, those of several into a
    figure of yours, or a part of one, that is given as ``figure``; and return the whole figure.
    """

    def __init__(self, result: "Result") -> None:
        self._result = result

    def goodput(self, *, ax: "Axes | None" = None) -> "Figure":
        """Goodput of each station, with intervals. [Mb/s]"""
        from lasthop.plot.stations import goodput_figure

        return goodput_figure(self._result, ax)

    def queues(self, *, ax: "Axes | None" = None) -> "Figure":
        """Mean queue of the access point and each station, with intervals. [packets]"""
        from lasthop.plot.stations import queue_figure

        return queue_figure(self._result, ax)

    def conflicts(self, *, ax: "Axes | None" = None) -> "Figure":
        """The conflict graph of a network with `csma`: air time and throughput of each link."""
        from lasthop.errors import UserError
        from lasthop.models.reading import CsmaScenario
        from lasthop.plot.conflicts import conflict_axes, conflict_figure

        if not isinstance(self._result.scenario.typed, CsmaScenario):
            raise UserError("no conflict graph: the scenario has no `csma`")
        panel = (str(self._result.summary["scenario"]), self._result)
        return conflict_figure([panel]) if ax is None else conflict_axes(*panel, ax)

    def series(self, quantity: str, *, figure: "Place | None" = None) -> "Figure":
        """One quantity over time, a panel an item, in the first replication.

        Parameters
        ----------
        quantity : str
            One of those that were sampled: ``"cwnd_packets"``, see `Result.tracks`.
        figure : matplotlib Figure or SubFigure, optional
            Where to draw; by default a new one in house style.

        Raises
        ------
        UserError
            If it was not sampled, with the nearest of those that were.
        """
        from lasthop.plot.series import series_figure

        return series_figure(self._result, quantity, figure)
