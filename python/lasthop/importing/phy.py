"""Physical layers and rates of cells whose frames have no MCS: 802.11a, b and g.

The values of ``cell.phy`` are 802.11b (DSSS and CCK), 802.11g (only OFDM) and 802.11g-long (OFDM
data between control frames of 802.11b with long preambles) at 2.4 GHz, and 802.11a at 5 GHz. The
module `lasthop.importing.ppdu` is for cells that aggregate.
"""

from collections.abc import Collection

from lasthop.importing.ppdu import GENERATIONS

CCK_BPS = (1e6, 2e6, 5.5e6, 11e6)
"""Rates of 802.11b (DSSS and CCK). [bit/s]"""
OFDM_BPS = (6e6, 9e6, 12e6, 18e6, 24e6, 36e6, 48e6, 54e6)
"""Rates of 802.11a and g (OFDM). [bit/s]"""

RATES: dict[str, tuple[float, ...]] = {
    "802.11b": CCK_BPS,
    "802.11g": OFDM_BPS,
    "802.11g-long": OFDM_BPS,
    "802.11a": OFDM_BPS,
}
"""Rates of each physical layer. [bit/s]"""

PRESETS = (*RATES, *GENERATIONS)
"""All possible values of ``cell.phy``."""

LETTERS = {"n": "802.11n", "ac": "802.11ac", "ax": "802.11ax", "be": "802.11be"}
"""Physical layers after 802.11g, by the letters of their names."""


BANDS_MHZ = {"2.4 GHz": (2400, 2500), "5 GHz": (4900, 5924), "6 GHz": (5925, 7200)}
"""Frequency range of each band. [MHz]"""


def band_of(mhz: int) -> str | None:
    """Return the band of a frequency in MHz; None if lasthop does not support the band."""
    return next((name for name, (low, high) in BANDS_MHZ.items() if low <= mhz <= high), None)


def nearest(rate_bps: float, phy: str) -> float:
    """Return the fastest rate of the physical layer that does not exceed `rate_bps`; if there is
    none, return the layer's slowest rate. [bit/s]
    """
    known = RATES[phy]
    return max((each for each in known if each <= rate_bps * 1.001), default=known[0])


def preset(rates: Collection[float]) -> str:
    """Return ``802.11b`` if all rates are DSSS or CCK rates; else ``802.11g``."""
    return "802.11b" if rates and set(rates) <= set(CCK_BPS) else "802.11g"


def spelled(rate_bps: float) -> str:
    """Return a rate as text for a scenario, such as ``5.5 Mbps``."""
    if rate_bps >= 1e6:
        return f"{rate_bps / 1e6:.4g} Mbps"
    return f"{rate_bps / 1e3:.4g} kbps" if rate_bps >= 1e3 else f"{rate_bps:.0f} bps"


def duration(time_s: float) -> str:
    """Return a time as text for a scenario, such as ``1.5 ms``."""
    for unit_s, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if time_s >= unit_s:
            return f"{float(f'{time_s / unit_s:.4g}'):g} {unit}"
    return f"{round(time_s * 1e9)} ns" if time_s else "0 s"
