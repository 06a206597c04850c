r"""System Omega: a hot-spot whose AP loses nothing (hot-spot paper, Eqs. 4, 11-16).

Every connection has a full window of outstanding packets. The unknowns are the numbers of these
packets in each queue. A backlogged station sends :math:`\beta_i` packets per packet of the AP.
Summed over the connections of a station, Eqs. (7)-(10) require neither equal windows nor equal
delayed-ACK settings. This module solves this general form. In the special case of the paper it
equals Eqs. (11)-(13).
"""

from collections.abc import Sequence

from lasthop.models.hotspot.station import Equilibrium, StationLoad

NEUTRAL = 1e-12
"""The gain of the AP's queue is treated as 1 if it differs from 1 by less than this value, which
allows for rounding errors. [-]
"""


def station_queues(of: StationLoad, ap_queue: float, pipe: float = 0.0) -> tuple[float, float]:
    r"""Return the upload and download packets in a station's buffer, :math:`Q^{up}_i, Q^{dw}_i`.
    [packets]

    .. math::
        Q^{up}_i = \max\Big(0, N^{up}_i W_i
            - \frac{N^{up}_i}{N^{up}_i + 0.5 N^{dw}_i}\beta_i Q_{ap}\Big), \quad
        Q^{dw}_i = \max\Big(0, \frac{N^{dw}_i W_i}2
            - \frac{N^{dw}_i}{2N^{up}_i + N^{dw}_i}\beta_i Q_{ap}\Big)

    Parameters
    ----------
    of : StationLoad
        The station.
    ap_queue : float
        Mean occupancy of the AP's buffer, :math:`Q_{ap}`. [packets]
    pipe : float
        Packets in the wired pipe, :math:`P` (footnote 19), which are added to :math:`Q_{ap}`.
        [packets]

    Returns
    -------
    tuple of float
        Upload segments and download ACKs in the station's buffer.

    Notes
    -----
    The formulas are Eq. (12), the first two lines of Eq. (4), with connections weighted by their
    windows. :math:`N_i` are numbers of connections, and :math:`W_i` is their window.
    """
    packets_at_station = of.packets_at_station
    if packets_at_station == 0.0:
        return 0.0, 0.0
    waiting = max(0.0, 1.0 - of.beta * (ap_queue + pipe) / packets_at_station)
    return of.upload_window * waiting, (packets_at_station - of.upload_window) * waiting


def ap_queue(stations: Sequence[StationLoad], queue: float, pipe: float = 0.0) -> float:
    r"""Return the right side of Eq. (13): the number of packets that remain for the AP's buffer
    after those in the station buffers are subtracted. [packets]

    .. math:: \sum_i \frac{N^{up}_i W_i - Q^{up}_i}2 + (N^{dw}_i W_i - 2 Q^{dw}_i)

    Parameters
    ----------
    stations : sequence of StationLoad
        All stations.
    queue : float
        AP occupancy for which the station buffers are computed, :math:`Q_{ap}`. [packets]
    pipe : float
        Packets in the wired pipe, which are subtracted (footnote 19). [packets]

    Notes
    -----
    The formula is Eq. (13), the third line of Eq. (4). At a solution of system Omega the result
    equals ``queue``.
    """
    total = 0.0
    for each in stations:
        packets_at_station = each.packets_at_station
        if packets_at_station > 0.0:
            waiting = sum(station_queues(each, queue, pipe)) / packets_at_station
            total += each.packets_at_ap * (1.0 - waiting)
    return total * (queue / (queue + pipe) if pipe > 0.0 else 1.0)


def solve_lossless(stations: Sequence[StationLoad], pipe: float = 0.0) -> Equilibrium | None:
    r"""Return the root of system Omega, Eq. (4), with the largest AP queue.

    Let :math:`S_i` be the number of packets in a station's buffer if the buffer contained all
    windows of the station. The buffer becomes empty when :math:`Q_{ap} + P` reaches
    :math:`S_i/\beta_i`. Below this value the station's term in Eq. (13) is proportional to
    :math:`Q_{ap} + P`. The right side of Eq. (13) is therefore concave and piecewise linear. The
    root on each piece has a closed form, without iteration.

    Parameters
    ----------
    stations : sequence of StationLoad
        All stations, at least one of them active.
    pipe : float
        Packets that the AP sends during the wired round trip, :math:`P`. [packets]

    Returns
    -------
    Equilibrium or None
        None if :math:`Q_{ap} = 0` is the only root: the AP is never backlogged, and the model does
        not determine how the stations share the medium.

    Notes
    -----
    With packets in the wired pipe, Eq. (4) has the same form for the sum :math:`Q_{ap} + P`.
    Therefore :math:`Q_{ap}` is the root without a pipe, less :math:`P`. :math:`Q_{ap}` is negative
    if the pipe contains more packets than the AP's buffer would contain without a pipe. In this
    case the wire, not the cell, limits the connections, and the caller must not use the result.
    """
    active = sorted(
        (each.packets_at_station / each.beta, each.packets_at_ap)
        for each in stations
        if each.active
    )
    if not active:
        raise ValueError("no station has a connection")
    # Between two values of x at which a station's buffer becomes empty, the right side of Eq. (13)
    # is `full + gain * x`.
    gain = sum(at_ap / empty_from for empty_from, at_ap in active)
    if gain < 1.0 - NEUTRAL:
        return None
    neutral = abs(gain - 1.0) <= NEUTRAL
    pieces = [(empty_from, at_ap, at_ap / empty_from) for empty_from, at_ap in active]
    root = _balance(pieces, 0.0, gain, 1.0 - NEUTRAL)
    queues = tuple(sum(station_queues(each, root)) for each in stations)
    return Equilibrium(root - pipe, 0.0, queues, pipe, lossless=True, neutral=neutral)


def _balance(
    pieces: Sequence[tuple[float, float, float]], full: float, gain: float, steepest: float
) -> float:
    """Return the root x of the equation x = full + gain * x, whose coefficients change where a
    station's buffer becomes empty.

    `pieces` has three values per station. The first value is the x above which the station's buffer
    is empty. For larger x the second value is added to `full`, and the third value is subtracted
    from `gain`.
    """
    for empty_from, added, taken in pieces:
        if gain < steepest and full <= empty_from * (1.0 - gain):
            return full / (1.0 - gain)
        full += added
        gain -= taken
    return full


def solve_void_rounds(stations: Sequence[StationLoad]) -> Equilibrium:
    r"""Return the queues if the AP is almost never backlogged, by the approximation in footnote 18.

    In a *void round*, in which the AP's buffer is empty, every backlogged station still sends a
    packet. With :math:`\beta_i Q_{ap} + 1` instead of :math:`\beta_i Q_{ap}` in Eq. (9) the system
    has a single root, which is positive.

    Parameters
    ----------
    stations : sequence of StationLoad
        All stations, at least one of them active.

    Returns
    -------
    Equilibrium
        Queues only: round-trip times, and therefore goodputs, do not follow from them.

    Notes
    -----
    Footnote 18: "we can approximate max{beta_i Q_ap, 1} with beta_i Q_ap + 1".
    """
    active = sorted(
        ((total - 1.0) / each.beta, each.packets_at_ap / total, each.beta)
        for each, total in ((each, each.packets_at_station) for each in stations)
        if each.active
    )
    if not active:
        raise ValueError("no station has a connection")
    full = sum(ratio for _, ratio, _ in active)
    gain = sum(ratio * beta for _, ratio, beta in active)
    pieces = [(start, ratio * beta * start, ratio * beta) for start, ratio, beta in active]
    root = _balance(pieces, full, gain, 1.0)
    queues = tuple(max(0.0, each.packets_at_station - each.beta * root - 1.0) for each in stations)
    return Equilibrium(root, 0.0, queues)


def other_packets(stations: Sequence[StationLoad], index: int) -> float:
    r"""Return :math:`\gamma`, the contribution of all other stations to the condition under which a
    station is backlogged. [packets]

    .. math:: \gamma = \sum_{j \ne i} \big(N^{up}_j W_j + 2 N^{dw}_j W_j\big)

    Notes
    -----
    The formula is Eq. (15), with delayed ACKs. :math:`N_j` are numbers of connections, and
    :math:`W_j` is their window.
    """
    return 2.0 * sum(each.packets_at_ap for j, each in enumerate(stations) if j != index)


def is_backlogged(stations: Sequence[StationLoad], index: int) -> bool:
    r"""Return whether station ``index`` is backlogged, if all access priorities are :math:`\beta =
    1`.

    .. math:: N^{up}_i W_i \ge \gamma + N^{dw}_i W_i

    Notes
    -----
    The condition is Eq. (14), with delayed ACKs and equal windows within a station. :math:`\gamma`
    is `other_packets`. At equality the buffer is empty.
    """
    this = stations[index]
    downloads = sum(c.segments for c in this.downloads)
    return this.upload_window >= other_packets(stations, index) + downloads


def backlog(stations: Sequence[StationLoad], index: int) -> float:
    r"""Return the mean occupancy of a backlogged station's buffer, :math:`Q_i`, for :math:`\beta =
    1`. [packets]

    .. math::
        Q_i = \max\Big(0, \frac{(N^{up}_i + 0.5 N^{dw}_i)
            (N^{up}_i W_i - N^{dw}_i W_i - \gamma)}{N^{up}_i - N^{dw}_i}\Big)

    Parameters
    ----------
    stations : sequence of StationLoad
        All stations, with delayed ACKs. All connections of a station have the same window.
    index : int
        A station with more uploads than downloads.

    Raises
    ------
    ValueError
        If the station does not have more uploads than downloads.

    Notes
    -----
    The formula is Eq. (16) with :math:`W_i` instead of the printed :math:`W`. :math:`\gamma` is
    `other_packets`.
    """
    this = stations[index]
    uploads = sum(c.count for c in this.uploads)
    downloads = sum(c.count for c in this.downloads)
    if uploads <= downloads:
        raise ValueError("Eq. (16) needs more uploads than downloads on the station")
    surplus = (
        this.upload_window
        - sum(c.segments for c in this.downloads)
        - other_packets(stations, index)
    )
    return max(0.0, (uploads + 0.5 * downloads) * surplus / (uploads - downloads))
