r"""Goodput and fairness at the equilibrium (hot-spot paper, Eqs. 1-3, 26, 27)."""

from collections.abc import Sequence

from lasthop.answers.fairness import jain_index as jain_index  # Eq. (27)
from lasthop.models.hotspot.padhye import received_per_rtt
from lasthop.models.hotspot.station import Connections, Equilibrium, StationLoad


def round_trip(of: StationLoad, queue: float, at: Equilibrium) -> float:
    r"""Return the round-trip time of a station's connections, divided by the AP's service time per
    packet. [-]

    .. math:: Q_{ap} + P + Q_i / \beta_i

    Parameters
    ----------
    of : StationLoad
        The station.
    queue : float
        Mean occupancy of the station's buffer, :math:`Q_i`. [packets]
    at : Equilibrium
        Equilibrium of the cell.

    Notes
    -----
    :math:`Q_{ap}` is the AP's queue, :math:`P` the number of packets in the wired pipe, and
    :math:`\beta_i` the access priority of the station. By Little's law (section 3), the ratio of
    the delays at station and AP is :math:`E[D_i]/E[D_{ap}] = Q_i/(\beta_i Q_{ap})`. With :math:`P =
    0` the result is :math:`Q_{ap}(1 + Q_i/(\beta_i Q_{ap}))`, as in Eq. (3).
    """
    return at.ap_queue + at.pipe + queue / of.beta


def upload_goodput(of: Connections, time: float) -> float:
    r"""Return the goodput of one upload, :math:`W_i / (E[D_i] + E[D_{ap}])`. [bytes per AP service
    time]

    Parameters
    ----------
    of : Connections
        Connections of the same kind as the upload; ``count`` is not used.
    time : float
        Round-trip time divided by the AP's service time, by :func:`round_trip`. [-]

    Notes
    -----
    The result is the first term of Eq. (1) for one connection, multiplied by the payload of a
    segment. :math:`W_i` is the window, and :math:`E[D_i] + E[D_{ap}]` the round-trip time.
    """
    return of.window * of.mss / time


def download_goodput(of: Connections, time: float, loss: float) -> float:
    r"""Return the goodput of one download, :math:`T_n(p, W_i) / (E[D_i] + E[D_{ap}])`.

    The unit is payload bytes per AP service time.

    Parameters
    ----------
    of : Connections
        Connections of the same kind as the download; ``count`` is not used.
    time : float
        Round-trip time divided by the AP's service time, by :func:`round_trip`. [-]
    loss : float
        Packet loss probability of the AP's buffer, :math:`p`. [-]

    Notes
    -----
    The result is the second term of Eq. (1) for one connection, multiplied by the payload of a
    segment. :math:`T_n(p, W_i)` is the number of segments received per round-trip time
    :math:`E[D_i] + E[D_{ap}]`.
    """
    return received_per_rtt(loss, of.window, of.segments_per_ack) * of.mss / time


def goodput_by_direction(
    stations: Sequence[StationLoad], at: Equilibrium
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    r"""Return the upload and download goodput of each station. [bytes per AP service time]

    .. math::
        \frac{N^{up}_i W_i}{E[D_i] + E[D_{ap}]}, \qquad
        \frac{N^{dw}_i\, T_n(p, W_i)}{E[D_i] + E[D_{ap}]}

    Parameters
    ----------
    stations : sequence of StationLoad
        All stations.
    at : Equilibrium
        Equilibrium of the stations' and the AP's queues.

    Notes
    -----
    The formulas are the two terms of Eq. (1). The service time of the AP is not part of the model,
    so that only ratios of goodputs are meaningful.
    """
    up, down = [], []
    for each, queue in zip(stations, at.station_queues, strict=True):
        time = round_trip(each, queue, at)
        up.append(sum(c.count * upload_goodput(c, time) for c in each.uploads))
        down.append(sum(c.count * download_goodput(c, time, at.loss) for c in each.downloads))
    return tuple(up), tuple(down)


def goodput(stations: Sequence[StationLoad], at: Equilibrium) -> tuple[float, ...]:
    r"""Return the goodput of each station, :math:`GP_i`. [bytes per AP service time]

    Notes
    -----
    The goodput is Eq. (1), the sum of uploads and downloads.
    """
    up, down = goodput_by_direction(stations, at)
    return tuple(u + d for u, d in zip(up, down, strict=True))


def fairness_level(goodputs: Sequence[float], i: int, j: int) -> float:
    r"""Return the fairness level between two stations, :math:`\eta_{ij} = GP_i / GP_j`. [-]

    Parameters
    ----------
    goodputs : sequence of float
        Goodput of every station, any unit.
    i, j : int
        Indices of the two stations.

    Raises
    ------
    ZeroDivisionError
        If station j has no goodput.

    Notes
    -----
    The fairness level is that of Eqs. (2) and (3).
    """
    return goodputs[i] / goodputs[j]


def updown_index(up: Sequence[float], down: Sequence[float]) -> float:
    r"""Return the up/down fairness index of Pilosof et al., :math:`R = R_{up}/R_{dw}`. [-]

    Parameters
    ----------
    up, down : sequence of float
        Upload and download goodput of every station, any unit.

    Raises
    ------
    ZeroDivisionError
        If nothing is downloaded.

    Notes
    -----
    The index is that of Eq. (26).
    """
    return sum(up) / sum(down)
