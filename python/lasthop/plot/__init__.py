"""Pictures of results. Nothing here is imported before a picture is asked for."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure
    from lasthop.result import Result

__all__ = ["ResultPlots"]


class ResultPlots:
    """Pictures of one result, as ``r.plot.goodput()``; each returns a matplotlib figure."""

    def __init__(self, result: "Result") -> None:
        self._result = result

    def goodput(self) -> "Figure":
        """Goodput of each station, with intervals. [Mb/s]"""
        from lasthop.plot.stations import goodput_figure

        return goodput_figure(self._result)

    def queues(self) -> "Figure":
        """Mean queue of the access point and each station, with intervals. [packets]"""
        from lasthop.plot.stations import queue_figure

        return queue_figure(self._result)

    def conflicts(self) -> "Figure":
        """The conflict graph of a network with `csma`: air time and throughput of each link."""
        from lasthop.errors import UserError
        from lasthop.models.reading import CsmaScenario
        from lasthop.plot.conflicts import conflict_figure

        if not isinstance(self._result.scenario.typed, CsmaScenario):
            raise UserError("no conflict graph: the scenario has no `csma`")
        return conflict_figure([(str(self._result.summary["scenario"]), self._result)])

    def series(self, quantity: str) -> "Figure":
        """One quantity over time, a line an item, in the first replication."""
        from lasthop.plot.series import series_figure

        return series_figure(self._result, quantity)
