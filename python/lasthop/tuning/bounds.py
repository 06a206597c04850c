"""What a setting must be for the stations to live with it, whatever it is chosen for."""

import math
from dataclasses import dataclass

from lasthop.tuning.calls import DELAY_P99_S, LOSS
from lasthop.tuning.measures import STARVED_FOR_S, Values

MIN_JAIN = 0.9
"""Least 5th percentile of Jain's index over windows of 1 s, unless said otherwise. [-]"""

GIVE_UP = 0.05
"""Part of the present goodput and fairness that another aim may cost, unless said otherwise. [-]"""


@dataclass(frozen=True)
class Bounds:
    """How far a setting may be worse than the present one.

    Attributes
    ----------
    give_up : float
        Part of the present goodput, and of Jain's index over the whole time, that another aim
        may cost; where the aim does not redistribute, of each flow's RTT and 99th percentile and
        of each station's goodput too, see `lasthop.tuning.parts.harm`. [-]
    min_jain : float
        Least 5th percentile of Jain's index over windows of 1 s; where the present setting has
        less, that is the bound. [-]
    """

    give_up: float = GIVE_UP
    min_jain: float = MIN_JAIN

    def objection(self, values: Values, present: Values) -> str | None:
        """Why nobody could live with a setting; None if everybody can.

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
            if present.get(quantity, math.inf) < most <= values.get(quantity, 0.0):
                return what
        return None
