"""Request for an emulation: the checked scenario and the options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lasthop.emulation.capture import capturing
from lasthop.emulation.limits import check, check_followed, check_gro, check_programs
from lasthop.emulation.places import Ways, place_named
from lasthop.emulation.programs import Program
from lasthop.errors import UserError
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import CsmaScenario
from lasthop.simulation.simulate import replaced

Progress = Callable[[float, float], object]
"""Function that is called with two times: the emulated time that has passed, and the duration of
the emulation. [s]"""


@dataclass(frozen=True)
class Request:
    """Scenario and options of one emulation; `lasthop.emulation.emulate` describes the options."""

    scenario: Scenario
    foreground: Program | None
    others: Sequence[Program]
    """Programs in addition to `foreground`. In the result of `checked`, the scenario's programs are
    included."""
    quiet: bool
    ways: Ways
    uplink: str | None
    pcapng: Path | None
    sysctl: Mapping[str, str]
    relays: bool
    follow: tuple[str, ...]
    gro: bool
    quick_acks: bool
    deadline_s: float
    """Time since the start of the emulation at which the foreground program is ended. [s]"""

    @property
    def programs(self) -> list[Program]:
        """All programs, the foreground program first."""
        return [*([] if self.foreground is None else [self.foreground]), *self.others]

    def checked(self) -> "Request":
        """Check the request. Return a request with the scenario that is actually emulated.

        Raises
        ------
        ScenarioError, UserError
            If the scenario or an option cannot be emulated.
        """
        scenario = self.scenario
        if self.pcapng is not None:
            name = "a link" if self.ways else str(scenario.source)
            scenario = replaced(scenario, capturing(scenario, name))
        if self.foreground is not None:
            warmup_s = scenario.typed.warmup_s
            lasting = {"warmup": f"{warmup_s} s", "duration": f"{self.deadline_s:g} s"}
            scenario = replaced(scenario, lasting)
        check(scenario)
        check_followed(self.follow)
        if self.gro:
            check_gro(scenario)
        if self.relays and not isinstance(scenario.typed, CsmaScenario):
            raise UserError(f"{scenario.source}: relays are for users of a conflict graph, `csma`")
        own = [
            Program.of_shell(program.place, command)
            for program in scenario.typed.programs
            for command in program.commands
        ]
        request = replace(self, scenario=scenario, others=(*own, *self.others))
        if request.programs:
            check_programs(scenario)
            for program in request.programs:
                place_named(scenario.typed, program.place, self.ways)
        elif self.uplink is not None:
            raise UserError(f"uplink={self.uplink!r}: no program runs that could use the uplink")
        return request
