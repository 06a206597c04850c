r"""System Psi: a hot-spot whose AP buffer is full and loses packets (hot-spot paper, Eqs. 5,
23-25).

Uploads keep their full windows, since the loss of an ACK does not reduce the window (assumption
a4). The windows of downloads are given by Padhye's formulas for the loss probability p of the AP's
buffer.
"""

from collections.abc import Sequence

from lasthop.models.hotspot.lossless import solve_lossless
from lasthop.models.hotspot.padhye import sent_per_rtt
from lasthop.models.hotspot.station import Equilibrium, StationLoad

BISECTIONS = 60
"""Number of bisections of the interval [0, 1] in the search for the loss probability.
"""


def station_queue(of: StationLoad, loss: float, ap_buffer: float, pipe: float = 0.0) -> float:
    r"""Return the mean occupancy of a station's buffer, :math:`Q_i`. [packets]

    .. math::
        Q_i = \max\Big(0, N^{up}_i W_i
            + \tfrac12 N^{dw}_i\, NSR(p, W_i)(1-p) - \beta_i B\Big)

    Parameters
    ----------
    of : StationLoad
        The station.
    loss : float
        Packet loss probability of the AP's buffer, :math:`p`. [-]
    ap_buffer : float
        Size of the AP's buffer, :math:`B`. [packets]
    pipe : float
        Packets in the wired pipe (footnote 19), which are added to :math:`B`. [packets]

    Notes
    -----
    The formula is Eq. (23), the second line of Eq. (5). :math:`NSR(p, W_i)` is the number of
    segments that a download sends per round-trip time.
    """
    acks = sum(
        c.count * sent_per_rtt(loss, c.window, c.segments_per_ack) / c.segments_per_ack
        for c in of.downloads
    )
    return max(0.0, of.upload_window + acks * (1.0 - loss) - of.beta * (ap_buffer + pipe))


def station_queue_of_uploads(of: StationLoad, ap_buffer: float) -> float:
    r"""Return the approximate occupancy of a station's buffer if the station's downloads are
    neglected, :math:`Q_i`. [packets]

    .. math:: Q_i = \max(0, N^{up}_i W_i - \beta_i B)

    Notes
    -----
    The formula is Eq. (25), which is exact for a station without downloads. :math:`B` is the size
    of the AP's buffer.
    """
    return max(0.0, of.upload_window - of.beta * ap_buffer)


def ap_loss(
    stations: Sequence[StationLoad], loss: float, ap_buffer: float, pipe: float = 0.0
) -> float:
    r"""Return the right side of Eq. (24): the loss probability at the AP that results from the load
    that connections generate at the loss probability `loss`. [-]

    .. math::
        1 - B \Big/ \sum_i \frac{0.5 N^{up}_i W_i + N^{dw}_i NSR(p, W_i)}
                                {1 + Q_i / (\beta_i B)}

    Parameters
    ----------
    stations : sequence of StationLoad
        All stations.
    loss : float
        Loss probability that determines the load and the station queues, :math:`p`. [-]
    ap_buffer : float
        Size of the AP's buffer, :math:`B`. [packets]
    pipe : float
        Packets in the wired pipe (footnote 19), which are added to :math:`B`. [packets]

    Returns
    -------
    float
        Loss probability; negative if fewer packets are offered than the AP could send.

    Notes
    -----
    The formula is Eq. (24), the first line of Eq. (5). At the solution of system Psi the result
    equals ``loss``.
    """
    capacity = ap_buffer + pipe
    offered = 0.0
    for each in stations:
        packets = sum(c.acks for c in each.uploads) + sum(
            c.count * sent_per_rtt(loss, c.window, c.segments_per_ack) for c in each.downloads
        )
        queue = station_queue(each, loss, ap_buffer, pipe)
        offered += packets / (1.0 + queue / (each.beta * capacity))
    return 1.0 - capacity / offered


def solve_lossy(
    stations: Sequence[StationLoad], ap_buffer: float, pipe: float = 0.0
) -> Equilibrium:
    r"""Return the solution of system Psi, Eq. (5), with :math:`Q_{ap} = B`.

    The offered load of the AP times 1 - p decreases with p. There is therefore one root, which is
    found by bisection.

    Parameters
    ----------
    stations : sequence of StationLoad
        All stations.
    ap_buffer : float
        Size of the AP's buffer, :math:`B`. [packets]
    pipe : float
        Packets that the AP sends during the wired round trip, :math:`P`. [packets]

    Raises
    ------
    ValueError
        If the AP's buffer does not overflow; :func:`~.lossless.solve_lossless` solves this case.

    Notes
    -----
    The system consists of Eqs. (23) and (24): M + 1 equations for M stations. At p = 0 the
    equations equal those of system Omega at :math:`Q_{ap} = B`, so that the two systems agree at
    their boundary.
    """
    low, high = 0.0, 1.0
    excess = ap_loss(stations, 0.0, ap_buffer, pipe)
    if excess < -1e-12:
        raise ValueError("the AP's buffer does not overflow: the system is lossless")
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if ap_loss(stations, middle, ap_buffer, pipe) > middle:
            low = middle
        else:
            high = middle
    queues = tuple(station_queue(each, low, ap_buffer, pipe) for each in stations)
    return Equilibrium(ap_buffer, low, queues, pipe, lossless=False)


def solve(
    stations: Sequence[StationLoad], ap_buffer: float, pipe: float = 0.0
) -> Equilibrium | None:
    r"""Return the equilibrium of a hot-spot. It is the solution of system Omega if the AP queue of
    this solution is smaller than the AP's buffer, or else the solution of system Psi.

    Parameters
    ----------
    stations : sequence of StationLoad
        All stations, at least one of them active.
    ap_buffer : float
        Size of the AP's buffer, :math:`B`. [packets]
    pipe : float
        Packets that the AP sends during the wired round trip, :math:`P`. [packets]

    Returns
    -------
    Equilibrium or None
        None if system Omega has no root other than :math:`Q_{ap} = 0`.

    Notes
    -----
    Section 3 and appendix II: "If Q_ap is less than the AP buffer size, B, then we use the
    same lossless formulas, otherwise we use the lossy ones."
    """
    lossless = solve_lossless(stations, pipe)
    if lossless is None or lossless.ap_queue < ap_buffer:
        return lossless
    return solve_lossy(stations, ap_buffer, pipe)
