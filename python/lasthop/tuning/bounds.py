"""Requirements of every setting, so that the stations can live with it, for any aim."""

import math
from dataclasses import dataclass

from lasthop.answers.calls import DELAY_P99_S, LOSS
from lasthop.tuning.measures import STARVED_FOR_S, Values

MIN_JAIN = 0.9
"""Default of the least 5th percentile of Jain's index over windows of 1 s. [-]"""

GIVE_UP = 0.05
"""Default fraction of the present goodput and fairness that another aim may cost. [-]"""


@dataclass(frozen=True)
class Bounds:
    """Limits of how much worse a setting may be than the present setting.

    Attributes
    ----------
    give_up : float
        Fraction of the present goodput, and of Jain's index over the whole time, that another aim
        may cost. If the aim does not redistribute, this also limits each flow's RTT and 99th
        percentile, and each station's goodput, see `lasthop.tuning.parts.harm`. [-]
    min_jain : float
        Least 5th percentile of Jain's index over windows of 1 s; where the present setting has
        less, that is the bound. [-]
    """

    give_up: float = GIVE_UP
    min_jain: float = MIN_JAIN

    def objection(self, values: Values, present: Values) -> str | None:
        """Return why nobody could live with a setting; None if everybody can.

        A setting that lives on capture serves whoever had the medium last: over minutes all may
        have their share, while some get nothing for seconds. And calls that work at present, if
        datagrams are calls, work on.
        """
        if values.get("starving_stations", 0.0) > present.get("starving_stations", 0.0):
            return f"a station below a tenth of an equal share for {STARVED_FOR_S:g} s"
        now = present.get("jain_p05", math.inf)
        if values.get("jain_p05", math.inf) < min(self.min_jain, now):
            bound = "the present setting's" if now < self.min_jain else f"{self.min_jain:g}"
            return f"a 5th percentile of Jain's index over 1 s below {bound}"
        for quantity, most, what in (
            ("datagram_loss", LOSS, f"datagrams of which {100 * LOSS:g} % are lost"),
            ("one_way_delay_p99_s", DELAY_P99_S, f"datagrams later than {1e3 * DELAY_P99_S:g} ms"),
        ):
            if present.get(quantity, math.inf) <= most < values.get(quantity, 0.0):
                return what
        return None
