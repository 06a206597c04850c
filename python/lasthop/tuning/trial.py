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
    """Settings that were not tried, or came to nothing.

    Attributes
    ----------
    what : str
        The settings.
    why : str
        The reason, in the engine's words where the scenario is refused.
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
        Each replication of the quantities that are compared.
    parts : mapping
        Each replication of the quantities of single flows and stations.
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
        None for the scenario's present setting.
    scenario : Scenario
        The scenario with the setting applied.
    predicted : mapping or None
        Values that the model predicts; if there are none, `refusal` has the reason.
    screened : mapping or None
        Means that a short simulation measured.
    screened_parts : mapping
        Single flows and stations in each replication of the short simulation.
    result : Result or None
        The simulation that confirms it.
    samples : mapping
        Each replication of that simulation.
    parts : mapping
        Single flows and stations in each replication of that simulation.
    checked : Measured or None
        The simulation with fresh seeds, of the present setting and of those that were checked.
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
        """The candidate's name."""
        return "as it is" if self.candidate is None else self.candidate.name


@dataclass(frozen=True)
class Check:
    """A setting and the present one, simulated with fresh seeds.

    Attributes
    ----------
    trial : Trial
    change : Estimate or None
        Mean of the paired differences of the aim, setting less present setting.
    objection : str or None
        Why the setting is ruled out, by what was measured with these seeds.
    improves : bool
        Whether it serves the aim better, beyond the interval of `change`.
    """

    trial: Trial
    change: Estimate | None
    objection: str | None
    improves: bool
