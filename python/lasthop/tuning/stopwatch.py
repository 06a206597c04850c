"""How long a search will take, judged by its first setting."""

import time

from lasthop.errors import UserError
from lasthop.scenario import Scenario

LONGEST_S = 1200.0
"""Time that a search for calls may take. [s]"""


class Stopwatch:
    """Begins with the first setting.

    Parameters
    ----------
    scenario : Scenario
    settings : int
        Settings that may be predicted and screened, the first left out.
    longer : float
        How many times as long as screening one all confirming simulations are. [-]
    """

    def __init__(self, scenario: Scenario, settings: int, longer: float) -> None:
        self._scenario = scenario
        self._settings = settings
        self._longer = longer
        self._begun_s = time.monotonic()
        self._first_s = 0.0

    def first_is_done(self) -> float:
        """Note that the first setting is predicted and screened; return how long all may take. [s]

        Rather too long: most settings are ranked by the model alone, and later ones know where to
        look for the most calls.
        """
        self._first_s = time.monotonic() - self._begun_s
        return self._all_s

    @property
    def _all_s(self) -> float:
        return self._first_s * (self._settings + self._longer)

    def judge(self) -> None:
        """Refuse a search that would take too long.

        Raises
        ------
        UserError
            All settings will take longer than `LONGEST_S`.
        """
        if self._all_s > LONGEST_S:
            raise UserError(
                f"{self._scenario.source}: counting calls would take about "
                f"{self._all_s / 60:.0f} min, "
                f"{self._first_s:.1f} s for each of {self._settings} settings; allowed are "
                f"{LONGEST_S / 60:.0f} min",
                "less take txop=False, pifs=False, a shorter `duration`, fewer `replications`",
            )
