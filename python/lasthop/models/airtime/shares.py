r"""Shares of the air and throughput of stations behind a queue, in closed form.

With :math:`n_i` packets of payload :math:`l_i` in an exchange with station :math:`i` that takes
:math:`T_i(n_i)`, and :math:`O` the contention for each exchange,

.. math:: f_i \propto \begin{cases} x_i / n_i & \text{one FIFO} \\
          1 & \text{an aggregate each in turn} \\
          1 / T_i & \text{the same air time for each} \end{cases}, \qquad \sum_i f_i = 1

.. math:: a_i = \frac{f_i T_i}{\sum_j f_j T_j}, \qquad
          R_i = \frac{8\, l_i n_i f_i}{\sum_j f_j T_j + O}

:math:`f_i` is the part of the exchanges that go to station :math:`i`, :math:`a_i` its part of the
air time, :math:`R_i` its throughput, :math:`x_i` its part of the packets that are offered: a full
drop-tail queue lets them in as they come, so that each is served as much as it is offered.
"""

from collections.abc import Sequence

from lasthop.models.airtime.options import Order


def exchange_shares(
    order: Order, offered: Sequence[float], packets: Sequence[float], air_s: Sequence[float]
) -> list[float]:
    """Parts of the exchanges that go to each station, :math:`f_i`. [-]

    Parameters
    ----------
    order : "fifo", "rounds" or "airtime"
    offered : sequence of float
        Packets that are offered for each, relative to each other, :math:`x_i`. [-]
    packets : sequence of float
        Mean packets in an exchange, :math:`n_i`. [packets]
    air_s : sequence of float
        Mean air time of an exchange, :math:`T_i`. [s]
    """
    if order == "fifo":
        often = [x / n for x, n in zip(offered, packets, strict=True)]
    elif order == "rounds":
        often = [1.0] * len(packets)
    else:
        often = [1.0 / t for t in air_s]
    total = sum(often)
    return [one / total for one in often]


def airtime_shares(exchanges: Sequence[float], air_s: Sequence[float]) -> list[float]:
    """Parts of the air time of all exchanges, :math:`a_i`. [-]

    Parameters
    ----------
    exchanges : sequence of float
        Parts of the exchanges, :math:`f_i`. [-]
    air_s : sequence of float
        Mean air time of an exchange, :math:`T_i`. [s]
    """
    times = [f * t for f, t in zip(exchanges, air_s, strict=True)]
    total = sum(times)
    return [one / total for one in times]


def goodputs_bps(
    exchanges: Sequence[float],
    air_s: Sequence[float],
    payload_bytes: Sequence[float],
    contention_s: float,
) -> list[float]:
    """Throughput of each station, :math:`R_i`. [bit/s]

    Parameters
    ----------
    exchanges : sequence of float
        Parts of the exchanges, :math:`f_i`. [-]
    air_s : sequence of float
        Mean air time of an exchange, :math:`T_i`. [s]
    payload_bytes : sequence of float
        Mean payload that an exchange delivers, :math:`l_i n_i`. [bytes]
    contention_s : float
        Mean time between exchanges, :math:`O`. [s]
    """
    period_s = sum(f * t for f, t in zip(exchanges, air_s, strict=True)) + contention_s
    return [8 * f * held / period_s for f, held in zip(exchanges, payload_bytes, strict=True)]
