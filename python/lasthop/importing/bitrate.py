"""Rates in the form in which ``iw`` prints them: ``866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS
2``.

The words are those of ``parse_bitrate`` in iw 6.7; older versions write ``40Mhz``. The MCS number
of HT includes the streams: MCS 8 to 15 are MCS 0 to 7 with two streams. Widths below 20 MHz are not
supported.
"""

import re

from lasthop.importing.ppdu import AFTER, Modulation, Sighting

__all__ = ["read_rate"]

RATE = re.compile(r"(\d+(?:\.\d+)?) ?([MG]?)Bit/s\b(.*)", re.IGNORECASE)
SCALE = {"": 1.0, "M": 1e6, "G": 1e9}
MAX_BPS = 1e12

INDEX = re.compile(r"\b(EHT-|HE-|VHT-)?MCS (\d{1,3})")
STREAMS = re.compile(r"\b(?:EHT|HE|VHT)-NSS (\d{1,2})")
WIDTH = re.compile(r"\b(20|40|80|80P80|160|320)MHz", re.IGNORECASE)
GUARD = re.compile(r"\b(?:EHT|HE)-GI (\d)")

PHYS = {"": "802.11n", "VHT-": "802.11ac", "HE-": "802.11ax", "EHT-": AFTER}
GUARD_NS = {"0": 800, "1": 1600, "2": 3200}
"""Guard intervals by the number that iw prints for 802.11ax and be. [ns]"""

HT_STREAMS = 4
"""Maximum number of streams in 802.11n. Larger MCS numbers have unequal modulations. [-]"""


def read_rate(text: str) -> Sighting | None:
    """Return a rate and its modulation from text; None if the text is not a rate.

    Parameters
    ----------
    text : str
        Text after ``tx bitrate:`` in the output of iw.
    """
    match = RATE.match(text)
    if match is None:
        return None
    rate_bps, words = float(match[1]) * SCALE[match[2].upper()], match[3]
    if not 0 < rate_bps < MAX_BPS:
        return None
    index = INDEX.search(words)
    if index is None:
        return Sighting(rate_bps, None, (), text)
    own, mcs = PHYS[index[1] or ""], int(index[2])
    streams = int(match[1]) if (match := STREAMS.search(words)) else 1
    if own == "802.11n":
        mcs, streams = (mcs % 8, 1 + mcs // 8) if mcs < 8 * HT_STREAMS else (0, 1)
    width = match[1].upper() if (match := WIDTH.search(words)) else "20"
    guard = GUARD_NS.get(match[1], 800) if (match := GUARD.search(words)) else 800
    if "short GI" in words:
        guard = 400
    peculiar = (
        ["DCM"] * ("HE-DCM 1" in words)
        + ["OFDMA"] * ("RU-ALLOC" in words)
        + ["80+80 MHz"] * (width == "80P80")
    )
    wide = 160 if width == "80P80" else int(width)
    modulation = Modulation(own, mcs, max(streams, 1), wide, guard)
    return Sighting(rate_bps, modulation, tuple(peculiar), text)
