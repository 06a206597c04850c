r"""Shares of air time and throughput of stations that one queue serves, in closed form.

Let a PPDU to station :math:`i` have :math:`n_i` packets with payload :math:`l_i` and air time
:math:`P_i(n_i)`. Its exchange takes the time :math:`T_i(n_i)`, and the contention before each
exchange takes the mean time :math:`O`. Then

.. math:: f_i \propto \begin{cases} x_i / n_i & \text{one FIFO} \\
          1 & \text{one aggregate per station in turn} \\
          1 / P_i & \text{equal air time for all stations} \end{cases}, \qquad \sum_i f_i = 1

.. math:: a_i = \frac{f_i P_i}{\sum_j f_j T_j + O}, \qquad
          R_i = \frac{8\, l_i n_i f_i}{\sum_j f_j T_j + O}

:math:`f_i` is the fraction of the exchanges that go to station :math:`i`. :math:`a_i` is the
fraction of time that PPDUs to the station are on the air, and :math:`R_i` is its throughput.
:math:`x_i` is the station's fraction of the offered packets. A full drop-tail queue accepts equal
fractions of the packets of all stations, so that each station is served in proportion to its
offered load.
"""

from collections.abc import Sequence

from lasthop.models.airtime.options import Order


def exchange_shares(
    order: Order, offered: Sequence[float], packets: Sequence[float], ppdu_s: Sequence[float]
) -> list[float]:
    """Return the fraction of the exchanges that go to each station, :math:`f_i`. [-]

    Parameters
    ----------
    order : "fifo", "rounds" or "airtime"
    offered : sequence of float
        Packets that arrive for each station, relative to other stations, :math:`x_i`. [-]
    packets : sequence of float
        Mean packets in an exchange, :math:`n_i`. [packets]
    ppdu_s : sequence of float
        Mean air time of a PPDU, :math:`P_i`. [s]
    """
    if order == "fifo":
        often = [x / n for x, n in zip(offered, packets, strict=True)]
    elif order == "rounds":
        often = [1.0] * len(packets)
    else:
        often = [1.0 / each for each in ppdu_s]
    total = sum(often)
    return [each / total for each in often]


def period_s(exchanges: Sequence[float], exchange_s: Sequence[float], contention_s: float) -> float:
    r"""Return the mean time from one exchange to the next, :math:`\sum_j f_j T_j + O`. [s]

    Parameters
    ----------
    exchanges : sequence of float
        Fraction of the exchanges that are with each station, :math:`f_i`. [-]
    exchange_s : sequence of float
        Mean time of an exchange, :math:`T_i`. [s]
    contention_s : float
        Mean time between exchanges, :math:`O`. [s]
    """
    return sum(f * t for f, t in zip(exchanges, exchange_s, strict=True)) + contention_s


def airtime_fractions(
    exchanges: Sequence[float], ppdu_s: Sequence[float], period_s: float
) -> list[float]:
    """Return the fraction of time that PPDUs to each station are on the air, :math:`a_i`. [-]

    Parameters
    ----------
    exchanges : sequence of float
        Fraction of the exchanges that are with each station, :math:`f_i`. [-]
    ppdu_s : sequence of float
        Mean air time of a PPDU, :math:`P_i`. [s]
    period_s : float
        Mean time from one exchange to the next. [s]
    """
    return [f * time_s / period_s for f, time_s in zip(exchanges, ppdu_s, strict=True)]


def goodputs_bps(
    exchanges: Sequence[float], payload_bytes: Sequence[float], period_s: float
) -> list[float]:
    """Return the throughput of each station, :math:`R_i`. [bit/s]

    Parameters
    ----------
    exchanges : sequence of float
        Fraction of the exchanges that are with each station, :math:`f_i`. [-]
    payload_bytes : sequence of float
        Mean payload that an exchange delivers, :math:`l_i n_i`. [bytes]
    period_s : float
        Mean time from one exchange to the next. [s]
    """
    return [8 * f * held / period_s for f, held in zip(exchanges, payload_bytes, strict=True)]
