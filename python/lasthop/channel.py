"""Effect of noise on frames: error probabilities, and the usable rates at a signal-to-noise ratio.

The engine computes the frame error probability for white noise without fading.
"""

from math import inf

from lasthop import _core

__all__ = [
    "WORKS",
    "frame_error",
    "highest_mcs",
    "highest_rate",
    "mcs_frame_error",
    "needed_snr_db",
]

WORKS = 0.1
"""Largest frame error rate at which a rate is usable: IEEE 802.11-2016, 17.3.10.2. [-]"""

RANGE_DB = (-30.0, 70.0)
"""Range of signal-to-noise ratios in which `needed_snr_db` searches. Every rate is unusable at its
lower end and usable at its upper end. [dB]
"""


def frame_error(rate_bps: float, frame_bytes: int, snr_db: float) -> float:
    """Return the probability that noise destroys a frame. [-]

    Parameters
    ----------
    rate_bps : float
        Rate of the data frame. [bit/s]
    frame_bytes : int
        Length of the frame, including MAC header and FCS. [bytes]
    snr_db : float
        Signal-to-noise ratio, of a subcarrier (OFDM) or of a chip (DSSS, CCK). [dB]
    """
    return _core.frame_error(int(rate_bps), frame_bytes, snr_db)


def mcs_frame_error(mcs: int, streams: int, frame_bytes: int, snr_db: float) -> float:
    """Return the probability that noise destroys an MPDU of 802.11n, ac or ax. [-]

    Parameters
    ----------
    mcs, streams : int
        Modulation and coding scheme from 0 to 11, and number of spatial streams.
    frame_bytes, snr_db
        See `frame_error`. All streams have the same signal-to-noise ratio.
    """
    return _core.mcs_frame_error(mcs, streams, frame_bytes, snr_db)


def highest_mcs(mcs: int, streams: int, frame_bytes: int, snr_db: float) -> int | None:
    """Return the highest usable MCS up to `mcs`; None if no MCS is usable.

    Parameters
    ----------
    mcs, streams, frame_bytes, snr_db
        See `mcs_frame_error`.
    """
    lower = range(mcs, -1, -1)
    working = (m for m in lower if mcs_frame_error(m, streams, frame_bytes, snr_db) <= WORKS)
    return next(working, None)


def highest_rate(phy: str, frame_bytes: int, snr_db: float, most_bps: float = inf) -> int | None:
    """Return the highest usable rate up to `most_bps`; None if no rate is usable. [bit/s]

    Parameters
    ----------
    phy : str
        Physical layer, as in ``cell.phy``.
    frame_bytes, snr_db
        See `frame_error`.
    most_bps : float
        Upper limit of the rate. [bit/s]
    """
    rates = (rate for rate in _core.data_rates(phy) if rate <= most_bps)
    working = (rate for rate in rates if frame_error(rate, frame_bytes, snr_db) <= WORKS)
    return max(working, default=None)


def needed_snr_db(rate_bps: float, frame_bytes: int, lost: float = WORKS) -> float:
    """Return the signal-to-noise ratio at which this fraction of the frames is lost. [dB]

    Parameters
    ----------
    rate_bps, frame_bytes
        See `frame_error`.
    lost : float
        Fraction of lost frames per attempt. [-]
    """
    low, high = RANGE_DB
    while high - low > 1e-6:
        middle = 0.5 * (low + high)
        if frame_error(rate_bps, frame_bytes, middle) > lost:
            low = middle
        else:
            high = middle
    return high
