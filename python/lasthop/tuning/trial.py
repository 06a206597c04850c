"""A setting that a search tries, with its results."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lasthop.answers.estimates import Estimate
from lasthop.scenario.scenario import Scenario
from lasthop.simulation.result import Result
from lasthop.tuning.candidates import Candidate
from lasthop.tuning.measures import Samples, Values
from lasthop.tuning.parts import Parts
from lasthop.tuning.settings import Setting


@dataclass(frozen=True)
class LeftOut:
    """Settings that were not tried, or that gave no result.

    Attributes
    ----------
    what : str
        Name of the settings.
    why : str
        Reason; in the engine's words if the scenario is refused.
    """

    what: str
    why: str


@dataclass(frozen=True)
class Measured:
    """A simulation of a setting.

    Attributes
    ----------
    result : Result
    samples : mapping
        Values of the compared quantities, one per replication.
    parts : mapping
        Values of the quantities of single flows and stations, one per replication.
    """

    result: Result
    samples: Samples
    parts: Parts


@dataclass(eq=False)
class Trial:
    """A setting with its results.

    Attributes
    ----------
    candidate : Candidate or None
        Candidate of the setting; None for the present setting of the scenario.
    scenario : Scenario
        The scenario with the setting applied.
    predicted : mapping or None
        Values that the model predicts; None if it refuses, then `refusal` has the reason.
    screened : mapping or None
        Means that a short simulation measured.
    screened_parts : mapping
        Values of single flows and stations in each replication of the short simulation.
    result : Result or None
        Result of the confirming simulation.
    samples : mapping
        Values of that simulation, one per replication.
    parts : mapping
        Single flows and stations in each replication of that simulation.
    checked : Measured or None
        Simulation with fresh seeds, of the present setting and of the checked settings.
    """

    candidate: Candidate | None
    scenario: Scenario
    written: Sequence[Setting] = ()
    predicted: Values | None = None
    refusal: str | None = None
    screened: Values | None = None
    screened_parts: Parts = field(default_factory=dict)
    result: Result | None = None
    samples: Samples = field(default_factory=dict)
    parts: Parts = field(default_factory=dict)
    checked: Measured | None = None

    @property
    def name(self) -> str:
        """Name of the candidate."""
        return "as it is" if self.candidate is None else self.candidate.name


@dataclass(frozen=True)
class Check:
    """Comparison of a setting with the present setting, simulated with fresh seeds.

    Attributes
    ----------
    trial : Trial
    change : Estimate or None
        Mean of the paired differences of the objective, setting less present setting.
    objection : str or None
        Reason why the setting is ruled out, by the measurements with these seeds.
    improves : bool
        Whether the setting serves the objective better, beyond the interval of `change`.
    """

    trial: Trial
    change: Estimate | None
    objection: str | None
    improves: bool
