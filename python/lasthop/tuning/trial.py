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
        Names of the settings.
    why : str
        Reason; if the scenario is invalid, the message of the error.
    """

    what: str
    why: str


@dataclass(frozen=True)
class Measured:
    """Results of a simulation of a setting.

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
        Scenario with the setting applied.
    predicted : mapping or None
        Values that the model predicts; None if the model refuses the scenario, for the reason in
        `refusal`.
    screened : mapping or None
        Means of the quantities in a short simulation; None if there was no short simulation.
    screened_parts : mapping
        Values of the quantities of single flows and stations in the short simulation, one per
        replication.
    result : Result or None
        Result of the full simulation, which confirms the setting; None if there was no full
        simulation.
    samples : mapping
        Values of the quantities in the full simulation, one per replication.
    parts : mapping
        Values of the quantities of single flows and stations in the full simulation, one per
        replication.
    checked : Measured or None
        Simulation with fresh seeds; None except for the present setting and the checked settings.
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
    """Check of a setting: comparison with the present setting by simulations with fresh seeds.

    Attributes
    ----------
    trial : Trial
    change : Estimate or None
        Mean of the paired differences of the objective: checked setting minus present setting.
    objection : str or None
        Reason why the setting is ruled out by the measurements with fresh seeds; None if the
        setting is not ruled out.
    improves : bool
        Whether the setting improves the objective by more than the interval of `change`.
    """

    trial: Trial
    change: Estimate | None
    objection: str | None
    improves: bool
