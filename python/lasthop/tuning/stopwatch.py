"""Estimate of the duration of a search, from the duration of its first setting."""

import time

from lasthop.errors import UserError
from lasthop.scenario.scenario import Scenario

LONGEST_S = 1200.0
"""A search for the number of calls is refused if its expected duration exceeds this value. [s]"""


class Stopwatch:
    """Stopwatch that measures the duration of the first setting and estimates the duration of the
    search.

    Parameters
    ----------
    scenario : Scenario
    settings : int
        Number of settings that may be tried after the first setting.
    screened : int
        Number of these settings that are simulated briefly if the model ranks the settings.
    longer : float
        Duration of all full simulations divided by the duration of a short simulation of one
        setting. [-]
    faster : float
        Speed of several parallel simulations divided by the speed of a single simulation. [-]
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
        """Record the time at which the model has predicted the first setting."""
        self._predicted_s = time.monotonic() - self._begun_s

    def first_is_done(self, *, ranked: bool) -> None:
        """Record the time at which the short simulation of the first setting has ended, and whether
        the model ranks the other settings.
        """
        self._first_s = time.monotonic() - self._begun_s
        if not ranked:
            self._screened = self._settings

    @property
    def all_s(self) -> float:
        """Expected duration of the search for all settings, computed from the duration of the first
        setting. [s]

        The estimate tends to be too long, since later settings start the search for the number of
        calls near the result. The estimate is too short if more settings than expected need short
        simulations. This happens if the model refuses settings, or if few settings are acceptable.
        """
        predicting_s = self._predicted_s * self._settings
        screening_s = self._first_s - self._predicted_s
        return predicting_s + screening_s * (self._screened + self._longer) / self._faster

    def judge(self) -> None:
        """Raise an error if the search would take too long.

        Raises
        ------
        UserError
            If the search for all settings would take longer than `LONGEST_S`.
        """
        if self.all_s > LONGEST_S:
            raise UserError(
                f"{self._scenario.source}: counting calls would take about "
                f"{self.all_s / 60:.0f} min, "
                f"{self._first_s:.1f} s for each of {self._settings} settings: expected at most "
                f"{LONGEST_S / 60:.0f} min",
                "shorten it by txop=False, pifs=False, a shorter `duration`, fewer `replications`",
            )
