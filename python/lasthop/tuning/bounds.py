"""Limits on the harm that any setting of access parameters may do to stations. These limits apply
to every objective.
"""

import math
from dataclasses import dataclass

from lasthop.answers.calls import DELAY_P99_S, LOSS
from lasthop.tuning.measures import STARVED_FOR_S, Values

MIN_JAIN = 0.9
"""Default lower limit of the 5th percentile of Jain's index over windows of 1 s. [-]"""

GIVE_UP = 0.05
"""Default fraction of the present goodput, and of the present fairness, that may be lost if the
objective is another quantity. [-]
"""


@dataclass(frozen=True)
class Bounds:
    """Limits by which a setting of access parameters may be worse than the present setting.

    Attributes
    ----------
    give_up : float
        Fraction of the present goodput, and of Jain's index over the whole run, that may be lost if
        the objective is another quantity. If the objective does not redistribute goodput, the
        fraction also limits the harm to single flows and stations. Harm is an increase of a flow's
        RTT or of the 99th percentile of its RTT or delay, or a decrease of a station's goodput; see
        `lasthop.tuning.parts.harm`. [-]
    min_jain : float
        Lower limit of the 5th percentile of Jain's index over windows of 1 s. If the percentile of
        the present setting is lower, the percentile of the present setting is the limit. [-]
    """

    give_up: float = GIVE_UP
    min_jain: float = MIN_JAIN

    def objection(self, values: Values, present: Values) -> str | None:
        """Return the reason why a setting is unacceptable for a station; None if the setting is
        acceptable.

        With small contention windows the station that sent last may win again and again. All
        stations may then get their share over minutes, although some stations get nothing for
        seconds. Delay and loss of datagrams such as those of calls must stay below the limits of a
        good call, if they are below these limits with the present setting.
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
