r"""Performance anomaly of a multi-rate cell in closed form.

Saturated stations with equal access parameters win the medium equally often. They therefore deliver
equal packet rates whatever their bit rates, and the slowest station limits all of them (Heusse et
al. 2003, section III). One *round*, in which each of the `n` stations delivers one packet, lasts

.. math:: T_{round} = \sum_i T_i + \bar b\, \sigma + C\, T_{col}

Differs from the paper in: the backoff. The paper's contention time, :math:`\sigma (1 + P_c) / (2N)
\cdot CW_{min} / 2` per packet, is a quarter of the mean backoff for two stations. However, all
stations count the same idle slots, so that a round has as many idle slots as the backoffs of a
single station in this round.
"""

from collections.abc import Sequence

from lasthop.models.dcf.saturation import Contender


def failure_prob(cwmin: int, stations: int) -> float:
    r"""Return the fraction of attempts that fail, :math:`f`. [-]

    .. math:: \tau_0 = \frac{2}{CW_0 + 1}, \quad
              \tau_1 = \frac{1 - z_0 + p_0 (1 - z_1)}{CW_0 / 2 + p_0 CW_1 / 2}, \quad
              p_k = 1 - (1 - \tau_k)^{n-1}, \quad f = (1 - z_0)\, p_1

    :math:`\tau_0` is the attempt probability without doubling, and :math:`\tau_1` the attempt
    probability with the doubled window :math:`CW_1 = 2 CW_0 + 1` after each failure. A station
    draws the backoff 0 with probability :math:`z_j = 1 / (CW_j + 1)`. After a success it then sends
    immediately and cannot collide.

    Parameters
    ----------
    cwmin : int
        Contention window :math:`CW_0`, at least 2. [slots]
    stations : int
        Number of saturated stations, :math:`n`. [-]

    Notes
    -----
    Replaces the collision probability of Heusse et al. 2003, Eq. (4), :math:`1 - (1 -
    1/CW_{min})^{N-1}`.
    """
    doubled = 2 * cwmin + 1
    first = 1 - (1 - 2 / (cwmin + 1)) ** (stations - 1)
    draws = cwmin / (cwmin + 1) + first * doubled / (doubled + 1)
    tau = draws / (cwmin / 2 + first * doubled / 2)
    return float(cwmin / (cwmin + 1) * (1 - (1 - tau) ** (stations - 1)))


def round_s(nodes: Sequence[Contender], slot_s: float, failed_after_s: float) -> float:
    r"""Return the time in which every station delivers one packet, :math:`T_{round}`. [s]

    .. math:: T_{round} = \sum_i T_i
              + \sigma \left(\frac{CW_0}{2} + \frac{f}{1-f} \frac{CW_1}{2}\right)
              + \frac{n}{2} \frac{f}{1-f} \left(T_{max} + T_{EIFS}\right)

    A packet takes :math:`1/(1-f)` attempts; repeated attempts have the window :math:`CW_1`. A
    collision is assumed to involve two stations. It lasts :math:`T_{max}`: the duration of the
    longer of the two frames, averaged over all pairs of stations.

    Parameters
    ----------
    nodes : sequence of Contender
        At least two contenders, with equal contention windows.
    slot_s : float
        Slot time, :math:`\sigma`. [s]
    failed_after_s : float
        EIFS, :math:`T_{EIFS}`. [s]

    Notes
    -----
    The formula follows Heusse et al. 2003, Eqs. (5)-(8). It is accurate for few stations (:math:`f`
    below about 0.15).
    """
    if len(nodes) < 2 or len({node.cwmin for node in nodes}) > 1:
        raise ValueError("the closed form needs two or more stations with equal windows")
    count = len(nodes)
    failure = failure_prob(nodes[0].cwmin, count)
    repeats = failure / (1 - failure)
    first, second = nodes[0].cwmin, 2 * nodes[0].cwmin + 1
    pairs = count * (count - 1) / 2
    lengths = sorted(node.first_frame_s for node in nodes)
    longer_s = sum(rank * length for rank, length in enumerate(lengths)) / pairs
    return (
        sum(node.success_s for node in nodes)
        + slot_s * (first / 2 + repeats * second / 2)
        + count / 2 * repeats * (longer_s + failed_after_s)
    )


def goodput_bps(
    nodes: Sequence[Contender], slot_s: float, failed_after_s: float
) -> tuple[float, ...]:
    r"""Return the goodput of each station, :math:`8 L_i / T_{round}`. [bit/s]

    Notes
    -----
    Heusse et al. 2003, Eq. (9): equal packet sizes give equal goodputs whatever the rates.
    """
    duration_s = round_s(nodes, slot_s, failed_after_s)
    return tuple(8 * node.payload_bytes / duration_s for node in nodes)
