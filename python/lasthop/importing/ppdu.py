"""Modulations of 802.11n, ac and ax: the rate that MCS, streams, width and guard interval make.

References: IEEE 802.11-2020, 19.5 (HT) and 21.5 (VHT); IEEE 802.11ax-2021, 27.5 (HE). What
802.11be adds is told as it was seen and has no rate here.
"""

from math import log
from typing import NamedTuple

from lasthop import _core

__all__ = ["GENERATIONS", "Modulation", "Sighting", "fitting", "highest_mcs", "is_allowed"]

GENERATIONS = ("802.11n", "802.11ac", "802.11ax")
"""Physical layers that aggregate, the oldest first."""

AFTER = "802.11be"
"""The one that comes after them, which stations may have and cells have not."""

SUBCARRIERS = {
    "802.11n": {20: 52, 40: 108},
    "802.11ac": {20: 52, 40: 108, 80: 234, 160: 468},
    "802.11ax": {20: 234, 40: 468, 80: 980, 160: 1960},
}
"""Data subcarriers by width. [-], [MHz]"""

MOST_MCS = {"802.11n": 7, "802.11ac": 9, "802.11ax": 11}
MOST_STREAMS = {"802.11n": 4, "802.11ac": 8, "802.11ax": 8}

NOT_IN_VHT = {
    (20, 9): (1, 2, 4, 5, 7, 8),
    (80, 6): (3, 7),
    (80, 9): (6,),
    (160, 9): (3,),
}
"""Streams that a width and an MCS of 802.11ac do not go with. [MHz]"""

NEAR = 0.2
"""Difference of rates, as a logarithm, up to which MCS and streams stay as they were seen: more
than another guard interval makes, or a subcarrier's 12 bits in place of 10. [-]"""
OF_STREAMS = 0.15
"""Difference of rates that is taken rather than another stream. [-]"""


class Modulation(NamedTuple):
    """How frames are modulated.

    Attributes
    ----------
    phy : str
        ``"802.11n"``, ``"802.11ac"``, ``"802.11ax"``, or ``"802.11be"`` as it was seen.
    mcs : int
        Of each stream: 0 to 7, 9 or 11.
    streams : int
        Spatial streams.
    width_mhz : int
        Width of the channel. [MHz]
    guard_interval_ns : int
        Guard interval of a symbol: 400 or 800, of 802.11ax 800, 1600 or 3200. [ns]
    """

    phy: str
    mcs: int
    streams: int
    width_mhz: int
    guard_interval_ns: int = 800

    @property
    def rate_bps(self) -> float:
        """Rate of the data; of what 802.11be alone has none is known, 0. [bit/s]"""
        subcarriers = SUBCARRIERS.get(self.phy, {}).get(self.width_mhz, 0)
        bits, data, of = _core.MCS[min(self.mcs, len(_core.MCS) - 1)]
        useful_ns = 12_800 if self.phy == "802.11ax" else 3_200
        per_symbol = subcarriers * bits * self.streams * data // of
        return per_symbol * 1e9 / (useful_ns + self.guard_interval_ns)


class Sighting(NamedTuple):
    """What a radio said of the frames of a station, one way.

    Attributes
    ----------
    rate_bps : float
        Rate. [bit/s]
    modulation : Modulation
        None for rates of 802.11a, b and g.
    peculiar : sequence of str
        What a cell of lasthop has not: ``"DCM"``, ``"OFDMA"``, ``"80+80 MHz"``.
    words : str
        The words themselves, for remarks; empty if there are none.
    """

    rate_bps: float
    modulation: Modulation | None = None
    peculiar: tuple[str, ...] = ()
    words: str = ""


def is_allowed(modulation: Modulation) -> bool:
    """Whether the standard has this combination of MCS, streams and width."""
    return (
        0 <= modulation.mcs <= MOST_MCS[modulation.phy]
        and 1 <= modulation.streams <= MOST_STREAMS[modulation.phy]
        and modulation.width_mhz in SUBCARRIERS[modulation.phy]
        and not (
            modulation.phy == "802.11ac"
            and modulation.streams in NOT_IN_VHT.get((modulation.width_mhz, modulation.mcs), ())
        )
    )


def highest_mcs(phy: str, width_mhz: int, streams: int) -> int:
    """The highest MCS that so many streams may have at this width."""
    every = (Modulation(phy, mcs, streams, width_mhz) for mcs in range(MOST_MCS[phy] + 1))
    return max(each.mcs for each in every if is_allowed(each))


def fitting(seen: Sighting, phy: str, width_mhz: int, guard_interval_ns: int) -> Modulation:
    """What comes nearest to a sighting where width and guard interval are given.

    MCS and streams stay, unless that makes quite another rate; then it is the combination of the
    nearest rate, with streams as they were or nearly so.

    Parameters
    ----------
    seen : Sighting
        With a modulation.
    phy : str
        Physical layer that is to be taken.
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

    streams = min(max(own.streams, 1), MOST_STREAMS[phy])
    remaining = of(min(own.mcs, highest_mcs(phy, width_mhz, streams)), streams)
    if is_allowed(remaining) and apart(remaining) <= NEAR:
        return remaining
    every = (
        of(mcs, count)
        for count in range(1, MOST_STREAMS[phy] + 1)
        for mcs in range(MOST_MCS[phy] + 1)
    )
    return min(
        filter(is_allowed, every),
        key=lambda each: apart(each) + OF_STREAMS * abs(each.streams - streams),
    )
