"""Modulations of 802.11n, ac and ax: the rate from MCS, streams, width and guard interval.

References: IEEE 802.11-2020, 19.5 (HT) and 21.5 (VHT); IEEE 802.11ax-2021, 27.5 (HE). Modulations
that exist only in 802.11be are reported without a rate.
"""

from math import log
from typing import NamedTuple

from lasthop import _core

__all__ = ["GENERATIONS", "Modulation", "Sighting", "fitting", "highest_mcs", "is_allowed"]

GENERATIONS = ("802.11n", "802.11ac", "802.11ax")
"""Physical layers with aggregation, the oldest first."""

AFTER = "802.11be"
"""First physical layer that lasthop does not support, although stations may use it."""

SUBCARRIERS = {
    "802.11n": {20: 52, 40: 108},
    "802.11ac": {20: 52, 40: 108, 80: 234, 160: 468},
    "802.11ax": {20: 234, 40: 468, 80: 980, 160: 1960},
}
"""Number of data subcarriers by physical layer and channel width. [-], [MHz]"""

MAX_MCS = {"802.11n": 7, "802.11ac": 9, "802.11ax": 11}
MAX_STREAMS = {"802.11n": 4, "802.11ac": 8, "802.11ax": 8}

NOT_IN_VHT = {
    (20, 9): (1, 2, 4, 5, 7, 8),
    (80, 6): (3, 7),
    (80, 9): (6,),
    (160, 9): (3,),
}
"""Numbers of streams that 802.11ac forbids, by channel width [MHz] and MCS."""

NEAR = 0.2
"""Limit for the difference between the logarithms of two rates: the reported rate, and the rate of
the same MCS and streams in the cell. Up to this limit, MCS and streams do not change. The limit
exceeds the effect of another guard interval, or of 10 instead of 12 bits per subcarrier. [-]
"""
OF_STREAMS = 0.15
"""Weight of a change of the number of streams by one, in the choice of the nearest modulation. The
change is as bad as this difference between the logarithms of the two rates. [-]
"""


class Modulation(NamedTuple):
    """Modulation of frames with an MCS.

    Attributes
    ----------
    phy : str
        ``"802.11n"``, ``"802.11ac"`` or ``"802.11ax"``; ``"802.11be"`` in captured frames.
    mcs : int
        MCS of each stream: 0 to 7, 9 or 11.
    streams : int
        Spatial streams.
    width_mhz : int
        Width of the channel. [MHz]
    guard_interval_ns : int
        Guard interval of a symbol: 400 or 800, for 802.11ax 800, 1600 or 3200. [ns]
    """

    phy: str
    mcs: int
    streams: int
    width_mhz: int
    guard_interval_ns: int = 800

    @property
    def rate_bps(self) -> float:
        """Data rate; 0 (unknown) for modulations that exist only in 802.11be. [bit/s]"""
        subcarriers = SUBCARRIERS.get(self.phy, {}).get(self.width_mhz, 0)
        bits, data, of = _core.MCS[min(self.mcs, len(_core.MCS) - 1)]
        useful_ns = 12_800 if self.phy == "802.11ax" else 3_200
        per_symbol = subcarriers * bits * self.streams * data // of
        return per_symbol * 1e9 / (useful_ns + self.guard_interval_ns)


class Sighting(NamedTuple):
    """Rate and modulation of a station's frames in one direction, as a radio reported them.

    Attributes
    ----------
    rate_bps : float
        Data rate. [bit/s]
    modulation : Modulation
        Modulation; None for rates of 802.11a, b and g.
    peculiar : sequence of str
        Features that lasthop does not support: ``"DCM"``, ``"OFDMA"``, ``"80+80 MHz"``.
    words : str
        Text in the source, for remarks; empty if there is none.
    """

    rate_bps: float
    modulation: Modulation | None = None
    peculiar: tuple[str, ...] = ()
    words: str = ""


def is_allowed(modulation: Modulation) -> bool:
    """Return whether the standard permits this combination of MCS, streams and width."""
    return (
        0 <= modulation.mcs <= MAX_MCS[modulation.phy]
        and 1 <= modulation.streams <= MAX_STREAMS[modulation.phy]
        and modulation.width_mhz in SUBCARRIERS[modulation.phy]
        and not (
            modulation.phy == "802.11ac"
            and modulation.streams in NOT_IN_VHT.get((modulation.width_mhz, modulation.mcs), ())
        )
    )


def highest_mcs(phy: str, width_mhz: int, streams: int) -> int:
    """Return the highest MCS that the standard permits for this width and number of streams."""
    every = (Modulation(phy, mcs, streams, width_mhz) for mcs in range(MAX_MCS[phy] + 1))
    return max(each.mcs for each in every if is_allowed(each))


def fitting(seen: Sighting, phy: str, width_mhz: int, guard_interval_ns: int) -> Modulation:
    """Return the permitted modulation that is nearest to a reported one, for this width and guard
    interval.

    MCS and streams do not change if the rate remains similar. Otherwise the combination with the
    nearest rate is returned, preferably with the same number of streams.

    Parameters
    ----------
    seen : Sighting
        Reported rate and modulation.
    phy : str
        Physical layer of the result.
    width_mhz : int
        Width of the channel. [MHz]
    guard_interval_ns : int
        Guard interval. [ns]
    """
    own = seen.modulation
    assert own is not None, "rates without MCS are taken as rates"

    def of(mcs: int, streams: int) -> Modulation:
        return Modulation(phy, mcs, streams, width_mhz, guard_interval_ns)

    def apart(modulation: Modulation) -> float:
        return abs(log(modulation.rate_bps / seen.rate_bps)) if seen.rate_bps else 0.0

    streams = min(max(own.streams, 1), MAX_STREAMS[phy])
    remaining = of(min(own.mcs, highest_mcs(phy, width_mhz, streams)), streams)
    if is_allowed(remaining) and apart(remaining) <= NEAR:
        return remaining
    every = (
        of(mcs, count)
        for count in range(1, MAX_STREAMS[phy] + 1)
        for mcs in range(MAX_MCS[phy] + 1)
    )
    return min(
        filter(is_allowed, every),
        key=lambda each: apart(each) + OF_STREAMS * abs(each.streams - streams),
    )
