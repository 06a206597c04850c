"""Base class for the packet-level figures of paper 004, with full and quick runs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lasthop.studies.picture import Abscissa, Picture
from lasthop.studies.red import router
from lasthop.studies.red.router import FULL, QUICK, Budget, Tree
from lasthop.studies.study import Quantity, Runs, Study

OVER_RTT = Abscissa("round-trip time [ms]")
"""Abscissa of the figures over the round-trip time."""


@dataclass(frozen=True)
class Experiment(ABC):
    """One figure of the packet-level simulations.

    Parameters
    ----------
    effort : Budget
        Lengths and replications.
    mixed : bool
        Whether other traffic joins the Compound flows, as in section V-B.
    """

    effort: Budget
    mixed: bool = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the study, the prefix of its values."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Title of the figure."""

    @abstractmethod
    def points(self) -> dict[str, Tree]:
        """Return the scenarios of all runs, by name."""

    @abstractmethod
    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return the values that claims use."""

    def shown(self, runs: Runs) -> dict[str, Quantity]:
        """Return the values that only tables show, and that no claim uses."""
        del runs
        return {}

    def findings(self, runs: Runs) -> dict[str, str]:
        """Return texts on the causes of results, by claim."""
        del runs
        return {}

    @abstractmethod
    def picture(self) -> Picture:
        """Return the picture of the figure."""

    def dumbbell(self, rtt_ms: float | Sequence[float], queue: Tree, **more: Any) -> dict[str, Any]:
        """Return the scenario of one bottleneck, with the lengths, replications and traffic of the
        experiment.
        """
        return router.dumbbell(rtt_ms, queue, effort=self.effort, mixed=self.mixed, **more)

    def parking_lot(self, rtt_ms: float, queue: Tree, **more: Any) -> dict[str, Any]:
        """Return the scenario of two bottlenecks, with the lengths, replications and traffic of the
        experiment.
        """
        return router.parking_lot(rtt_ms, queue, effort=self.effort, mixed=self.mixed, **more)

    def study(self) -> Study:
        """Return the study with the lengths and replications of the experiment."""
        return Study(
            key=f"red-{self.name}",
            title=self.title,
            points=self.points(),
            measure=self.measure,
            shown=self.shown,
            findings=self.findings,
            draw=self.picture().draw,
        )


def study(experiment: Callable[[Budget], Experiment]) -> Study:
    """Return the study of an experiment with full runs, which includes the study with quick
    runs.
    """
    full, quick = experiment(FULL).study(), experiment(QUICK).study()
    return replace(full, quick=replace(quick, title=quick.title + QUICK.words))
