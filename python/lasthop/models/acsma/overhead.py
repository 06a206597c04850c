r"""Cost of many TCP connections: memory, ports, retransmissions and CPU time (paper 001, section
5.3.5).
"""

from collections.abc import Sequence
from dataclasses import dataclass

PORTS = 65_536
"""Number of ports, which limits the number of connections from one address to one remote address
and port.
"""

TCB_BYTES = 512.0
"""Memory of the control block of one TCP connection, :math:`M`. [bytes]
"""


@dataclass(frozen=True)
class Costs:
    """CPU times per connection and per packet.

    Attributes
    ----------
    open_s, close_s : float
        CPU times for opening and for closing a connection, :math:`D_e, D_c`. [s]
    packet_s : float
        CPU time for sending a data packet, :math:`D_p`. [s]
    """

    open_s: float
    close_s: float
    packet_s: float


PENTIUM_4 = Costs(open_s=418e-6, close_s=12e-6, packet_s=14e-6)
"""CPU times that the paper measured on a Pentium 4 with 3.2 GHz, with packets of 1000 bytes."""


def memory_bytes(connections: float, each_bytes: float = TCB_BYTES) -> float:
    """Return the memory of a user's :math:`n_s` connections, :math:`M_c = n_s M`, Eq. (5.44), where
    :math:`M` is the memory per connection. [bytes]
    """
    return connections * each_bytes


def mean_memory_bytes(connections: Sequence[float], each_bytes: float = TCB_BYTES) -> float:
    r"""Return the mean memory of a user's connections over a run. [bytes]

    .. math:: \bar M_c = \frac{\sum_{k=1}^{R/d} M n_s(t_k)}{R/d}

    Parameters
    ----------
    connections : sequence of float
        Number of connections after each update, :math:`n_s(t_k)`. [-]
    each_bytes : float
        Memory per connection, :math:`M`. [bytes]

    Raises
    ------
    ValueError
        If there is no update.

    Notes
    -----
    The formula is Eq. (5.45), for a run of length :math:`R` with an update every :math:`d`.
    """
    if not len(connections):
        raise ValueError("connections: at least one update is needed")
    return sum(memory_bytes(count, each_bytes) for count in connections) / len(connections)


def management_s(before: float, now: float, costs: Costs = PENTIUM_4) -> float:
    r"""Return the CPU time of one update of the number of connections, :math:`\Omega`. [s]

    Parameters
    ----------
    before, now : float
        Number of connections before and after the update, :math:`n_s(t_{k-1}), n_s(t_k)`. [-]
    costs : Costs
        CPU times per connection and per packet.

    Notes
    -----
    The time is that of Eqs. (5.46)-(5.48).
    """
    if now > before:
        return (now - before) * costs.open_s
    if now < before:
        return (before - now) * costs.close_s
    return 0.0


def cpu_s(
    connections: Sequence[float],
    throughput_pps: float,
    interval_s: float,
    costs: Costs = PENTIUM_4,
) -> float:
    r"""Return the CPU time of a whole run. [s]

    .. math:: C_o = \sum_{k=1}^{R/d + 1} \Omega(t_k) + Thr \, R \, D_p

    No connection is open before the first update, and all connections are closed after the last
    update.

    Parameters
    ----------
    connections : sequence of float
        Number of connections after each update, :math:`n_s(t_k)`. The run has one interval per
        update. [-]
    throughput_pps : float
        Throughput, :math:`Thr`. [packets/s]
    interval_s : float
        Update interval, :math:`d`. [s]
    costs : Costs
        CPU times per connection and per packet.

    Notes
    -----
    The formula is Eq. (5.49), for a run of length :math:`R`.
    """
    steps = zip((0.0, *connections), (*connections, 0.0), strict=True)
    managing = sum(management_s(before, now, costs) for before, now in steps)
    return managing + throughput_pps * len(connections) * interval_s * costs.packet_s


def efficiency(
    connections: Sequence[float],
    throughput_pps: float,
    interval_s: float,
    costs: Costs = PENTIUM_4,
) -> float:
    r"""Return the fraction of the CPU time that is spent on sending data, :math:`\eta = Thr \, R \,
    D_p / C_o`. [-]

    The parameters are those of :func:`cpu_s`.

    Raises
    ------
    ValueError
        If nothing is sent and no connection is opened.

    Notes
    -----
    The formula is Eq. (5.50). :math:`C_o` is the total CPU time, and :math:`R` the length of the
    run.
    """
    total = cpu_s(connections, throughput_pps, interval_s, costs)
    if total <= 0.0:
        raise ValueError("throughput_pps: nothing is sent, so that there is no efficiency")
    return throughput_pps * len(connections) * interval_s * costs.packet_s / total


def retransmissions_pps(throughput_pps: float, price: float) -> float:
    """Return the rate of retransmitted packets: throughput times drop probability, :math:`Thr
    \\cdot r_l` of section 5.3.5. [packets/s]
    """
    return throughput_pps * price
