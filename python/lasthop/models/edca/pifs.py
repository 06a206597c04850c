r"""Solver for a cell in which the AP always wins while it has packets (section 5 of the paper).

With PIFS access (AIFSN 1, CWmin 0, CWmax 0) the AP sends before any station may. All packets are at
the stations, which contend as if they were saturated. After each success of a station the AP sends
the replies to this station's packets, in bursts of the AP's TXOP limit. The states of the chain
therefore follow one another in a fixed order.
"""

import numpy as np

from lasthop.models.edca.contention import Contention
from lasthop.models.edca.occupancy import Occupancy


def ap_always_wins(at: Contention) -> bool:
    """Return whether no station can win while the AP has packets."""
    return bool(np.all(at.ap_wins[:-1] == 1.0))


def solve_pifs(
    stations: int, window: int, ap_packets: int = 1, station_packets: int = 1
) -> Occupancy:
    r"""Return the distribution of the states between two successes of stations. All these states
    are equally likely.

    Parameters
    ----------
    stations, window, ap_packets, station_packets
        Parameters of :func:`~lasthop.models.edca.full.solve_full`.

    Notes
    -----
    The mean virtual slots (times between successes) sum to the denominators of eqs. (34) and (35).
    In (36) the AP sends :math:`\lceil \xi_{STA} / \xi_{AP} \rceil` bursts; the printed brackets are
    ceilings. :math:`\xi_{AP}` and :math:`\xi_{STA}` are the TXOP limits of the AP and of a station,
    and :math:`\xi_{STA}` is at most the window W.
    """
    burst = min(station_packets, window)
    at_ap = np.append(np.arange(burst, 0, -ap_packets), 0)
    winner_empty = (at_ap == burst) & (burst == window)
    return Occupancy(
        active=stations - winner_empty.astype(np.int64),
        at_stations=stations * window - at_ap,
        prob=np.full(len(at_ap), 1.0 / len(at_ap)),
        station_packets=np.full(len(at_ap), float(burst)),
        states=len(at_ap),
    )
