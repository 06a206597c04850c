r"""Mean length of a virtual slot, the sojourn time :math:`\mu_k` (eqs. 13, 19, 28-31).

A virtual slot is the time until a success, including the success. It consists of idle periods,
collisions, and the exchange or burst. Stations may differ in rates, packet sizes and directions
(footnote 1 of the paper). The stations have equal windows and access parameters, so that all sets
of :math:`\eta` stations are equally likely to be active. The mean over these sets is therefore
exact.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from lasthop.models.edca.cell import Cell, Floats, StationTraffic, mean_over_packets
from lasthop.models.edca.contention import Contention
from lasthop.models.edca.options import Options


@dataclass(frozen=True)
class Overhead:
    """Mean time of idle periods and collisions in a virtual slot, by situation of `Contention`. [s]

    The time of collisions depends on whether the AP's first packet is for an active or an inactive
    station.
    """

    for_inactive_s: Floats
    for_active_s: Floats


def overhead(cell: Cell, at: Contention, options: Options) -> Overhead:
    r"""Return the mean time of idle periods and collisions in a virtual slot. [s]

    .. math:: \frac{1}{P^{succ}} \Bigl( AIFS + E[T^{idle}]
              + E[\max_i T_i; \text{collision}] + (1 - P^{succ}) T_{lead} \Bigr)

    Notes
    -----
    The formula is Eq. (13) without its last three terms, with :math:`E[N^{col}] + 1 = 1 / P^{succ}`
    busy periods per virtual slot. The mean number of the AP's collisions is :math:`P^{col}_{AP} /
    P^{succ}`. The second line of the printed Eq. (15) is not a distribution. With CWmin 3 its mean
    is 15 % too low with two active stations, and 48 % too low with seven. The time of a collision,
    :math:`T_{col}`, is the longest frame and, by option, the difference of EIFS and AIFS,
    :math:`T_{lead}`.
    """
    success = at.success
    first_aifs_s = min(cell.aifs_s(cell.ap_access), cell.aifs_s(cell.station_access))
    lead_s = cell.eifs_lead_s if options.collision == "eifs" else 0.0
    always = first_aifs_s + cell.slot_s * at.idle_slots + (1.0 - success) * lead_s
    inactive, active = (_spoilt_s(cell, at, to_active) for to_active in (False, True))
    return Overhead((always + inactive) / success, (always + active) / success)


def exchange_s(cell: Cell, way: str) -> float:
    """Return the mean duration of an exchange over the packets of all stations in one direction:
    `way` is ``"up"`` or ``"down"``. [s]
    """
    return mean_over_packets(cell.stations, "exchange_s", way)


def burst_s(cell: Cell, packets: Floats, way: str) -> Floats:
    r"""Return the mean duration of a TXOP, from its first frame to its last MAC ACK. [s]

    .. math:: \min(Q, \xi) (T + 2\,SIFS + T_{ACK}) - SIFS

    Parameters
    ----------
    packets : ndarray
        Number of packets in the TXOP, or its mean. [packets]
    way : str
        ``"down"`` for the AP (eq. 30), ``"up"`` for a station (eq. 31).
    """
    each = exchange_s(cell, way) + cell.sifs_s
    return np.where(packets > 0.0, packets * each - cell.sifs_s, 0.0)


def _spoilt_s(cell: Cell, at: Contention, to_active: bool) -> Floats:
    """Return the duration of the longest frame of a collision, averaged over all busy periods, by
    situation. A busy period with a success counts as 0. [s]
    """
    tau = at.station_attempt_prob
    lengths = sorted(
        {
            packet.exposed_s
            for s in cell.stations
            for c in s.connections
            for packet in (c.up, c.down)
        }
    )
    # Collisions can occur in two parts of an idle period: the part in which only stations contend,
    # and the part in which all nodes contend.
    stations_only = np.zeros_like(tau)
    together = np.zeros_like(tau)
    shorter = 0.0
    for length in lengths:
        silent, silent_with_ap = _none_as_long(cell, at, length, to_active)
        stations_only += (length - shorter) * (1.0 - silent)
        ap = at.ap_attempt_prob
        together += (length - shorter) * (1.0 - (1.0 - ap) * silent - ap * silent_with_ap)
        shorter = length
    stations_silent = np.where(at.active > 0, (1.0 - tau) ** at.active, 1.0)
    busy = 1.0 - (1.0 - at.ap_attempt_prob) * stations_silent
    longest = at.reach / busy * together
    if cell.ap_access.aifsn > cell.station_access.aifsn:
        any_station = 1.0 - stations_silent
        alone = np.divide(
            stations_only, any_station, out=np.zeros_like(tau), where=any_station > 0.0
        )
        longest += (1.0 - at.reach) * alone
    early_ap = (1.0 - at.reach) if cell.ap_access.aifsn < cell.station_access.aifsn else 0.0
    return (
        longest
        - (at.ap_success - early_ap) * mean_over_packets(cell.stations, "exposed_s", "down")
        - at.station_success * mean_over_packets(cell.stations, "exposed_s", "up")
    )


def _none_as_long(
    cell: Cell, at: Contention, length: float, to_active: bool
) -> tuple[Floats, Floats]:
    """Return two probabilities. The first is that no station sends a frame of at least a given
    duration. The second is that neither a station nor the AP sends such a frame.

    The second probability is conditional on an attempt of the AP. `to_active` states whether the
    AP's packet is for an active station.
    """
    kinds = list(Counter(cell.stations).items())
    up = np.array([_at_least(station, length, "up") for station, _ in kinds])
    down = np.array([_at_least(station, length, "down") for station, _ in kinds])
    counts = np.array([count for _, count in kinds])
    silent = np.ones(len(at.active))
    with_ap = np.zeros(len(at.active))
    for index, (active, tau) in enumerate(zip(at.active, at.station_attempt_prob, strict=True)):
        factors = 1.0 - tau * up
        silent[index] = _mean_product(factors, counts, active)
        chosen = active - 1 if to_active else active
        if not at.ap_contends[index] or not 0 <= chosen <= cell.size - 1:
            continue
        for kind, count in enumerate(counts):
            others = counts.copy()
            others[kind] -= 1
            rest = _mean_product(factors, others, chosen) * (factors[kind] if to_active else 1.0)
            with_ap[index] += count / cell.size * (1.0 - down[kind]) * rest
    return silent, with_ap


def _at_least(station: StationTraffic, length: float, way: str) -> float:
    """Return the fraction of a station's packets whose exposed frame lasts `length` or longer. The
    exposed frame is the one that a collision destroys: data or RTS. [-]
    """

    connections = station.connections
    return sum(
        station.share(connection)
        for connection in connections
        if getattr(connection, way).exposed_s >= length
    )


def _mean_product(factors: Floats, counts: np.ndarray, chosen: int) -> float:
    """Return the mean product of the factors of `chosen` items, which are drawn without
    replacement.

    There are ``counts[g]`` items of kind g, each with the factor ``factors[g]``.
    """
    if np.all(factors == factors[0]):
        return float(factors[0] ** chosen)
    total = int(counts.sum())
    if chosen == 0:
        return 1.0
    # A draw without replacement is distributed as independent draws of each item, given the number
    # of drawn items. With independent draws no term overflows.
    part = chosen / total
    terms = np.ones(1)
    for factor, count in zip(factors, counts, strict=True):
        terms = np.convolve(terms, _binomial(int(count), part) * factor ** np.arange(count + 1))
    return float(terms[chosen] / _binomial(total, part)[chosen])


def _binomial(trials: int, part: float) -> Floats:
    """Return the binomial distribution of `trials` trials with success probability `part`. [-]"""
    from scipy.special import gammaln

    k = np.arange(trials + 1)
    if part == 1.0:
        return np.asarray(k == trials, dtype=float)
    ways = gammaln(trials + 1) - gammaln(k + 1) - gammaln(trials - k + 1)
    return np.asarray(np.exp(ways + k * np.log(part) + (trials - k) * np.log1p(-part)))
