"""Rates and physical layers that a cell of lasthop has, and what comes nearest to others.

The presets are 802.11b (DSSS and CCK), 802.11g (OFDM alone) and 802.11g-long (OFDM data between
control frames of 802.11b with long preambles). 802.11a needs none: its SIFS of 16 us is the 10 us
of 802.11g with the signal extension of 6 us in front (IEEE 802.11-2020, 17.4.4 and 18.5.4).
"""

from collections.abc import Collection

from lasthop.importing.observed import Note

CCK_BPS = (1e6, 2e6, 5.5e6, 11e6)
"""Rates of 802.11b. [bit/s]"""
OFDM_BPS = (6e6, 9e6, 12e6, 18e6, 24e6, 36e6, 48e6, 54e6)
"""Rates of 802.11a and g. [bit/s]"""

RATES: dict[str, tuple[float, ...]] = {
    "802.11b": CCK_BPS,
    "802.11g": OFDM_BPS,
    "802.11g-long": OFDM_BPS,
}
"""Rates of each preset. [bit/s]"""

TOP_BPS = {"802.11b": 11e6, "802.11g": 54e6, "802.11g-long": 36e6}
"""Rate that a preset takes where none is said. [bit/s]"""

LIKE_A = "802.11a at 5 GHz takes the same times as 802.11g"

LATER = {"n": "802.11n", "ac": "802.11ac", "ax": "802.11ax", "be": "802.11be"}
"""Physical layers that came after 802.11g, by the letters of their names."""

FAST = (
    "{what}: this version simulates 802.11b and g, one packet a frame; a cell that aggregates "
    "frames carries a multiple of what is shown here, and shares are what can be compared"
)


def nearest(rate_bps: float, phy: str) -> float:
    """The fastest rate of the preset that is not above, else its slowest. [bit/s]"""
    known = RATES[phy]
    return max((each for each in known if each <= rate_bps * 1.001), default=known[0])


def preset(rates: Collection[float]) -> str:
    """802.11b if all of these rates are of DSSS or CCK, else 802.11g."""
    return "802.11b" if rates and set(rates) <= set(CCK_BPS) else "802.11g"


def aggregating(what: str) -> Note:
    """What must be known of a cell of 802.11n or later."""
    return Note(FAST.format(what=what), warns=True)


def spelled(rate_bps: float) -> str:
    """A rate as a scenario writes it: ``5.5 Mbps``."""
    if rate_bps >= 1e6:
        return f"{rate_bps / 1e6:.4g} Mbps"
    return f"{rate_bps / 1e3:.4g} kbps" if rate_bps >= 1e3 else f"{rate_bps:.0f} bps"


def duration(time_s: float) -> str:
    """A time as a scenario writes it: ``1.5 ms``."""
    for unit_s, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if time_s >= unit_s:
            return f"{float(f'{time_s / unit_s:.4g}'):g} {unit}"
    return f"{round(time_s * 1e9)} ns" if time_s else "0 s"
