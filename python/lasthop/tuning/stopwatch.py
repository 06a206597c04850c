"""How long a search will take, judged by its first setting."""

import time

from lasthop.errors import UserError
from lasthop.scenario.scenario import Scenario

LONGEST_S = 1200.0
"""Time that a search for calls may take. [s]"""


class Stopwatch:
    """Stopwatch that begins with the first setting.

    Parameters
    ----------
    scenario : Scenario
    settings : int
        Settings that may be tried, the first left out.
    screened : int
        Settings of these that are screened if the model ranks them.
    longer : float
        Duration of all confirming simulations over that of screening one setting. [-]
    faster : float
        Speed of several simulations in parallel over that of a single simulation. [-]
    """

    def __init__(
        self, scenario: Scenario, *, settings: int, screened: int, longer: float, faster: float
    ) -> None:
        self._scenario = scenario
        self._settings = settings
        self._screened = screened
        self._longer = longer
        self._faster = faster
        self._begun_s = time.monotonic()
        self._predicted_s = 0.0
        self._first_s = 0.0

    def first_is_predicted(self) -> None:
        """Note that the model has predicted the first setting."""
        self._predicted_s = time.monotonic() - self._begun_s

    def first_is_done(self, *, ranked: bool) -> None:
        """Note that the first setting is screened, too, and whether the model ranks the others."""
        self._first_s = time.monotonic() - self._begun_s
        if not ranked:
            self._screened = self._settings

    @property
    def all_s(self) -> float:
        """Expected duration of all settings, judged by the first. [s]

        It is rather too long, since later settings begin the search for the most calls near the
        result. More settings are screened where the model refuses them, or few are livable.
        """
        predicting_s = self._predicted_s * self._settings
        screening_s = self._first_s - self._predicted_s
        return predicting_s + screening_s * (self._screened + self._longer) / self._faster

    def judge(self) -> None:
        """Refuse a search that would take too long.

        Raises
        ------
        UserError
            All settings will take longer than `LONGEST_S`.
        """
        if self.all_s > LONGEST_S:
            raise UserError(
                f"{self._scenario.source}: counting calls would take about "
                f"{self.all_s / 60:.0f} min, "
                f"{self._first_s:.1f} s for each of {self._settings} settings; expected "
                f"{LONGEST_S / 60:.0f} min",
                "shorten it by txop=False, pifs=False, a shorter `duration`, fewer `replications`",
            )
