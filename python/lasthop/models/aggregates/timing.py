r"""Air time of a window that is always full: goodput, and how long MPDUs wait to be in order.

A round takes AIFS, a backoff, the PPDU, and SIFS with its response, or what EIFS adds to AIFS where
nothing was received. Backoff after :math:`j` failures in a row is uniform on :math:`[0, CW_j]`,

.. math:: CW_j = \min(2^j (CW_{min} + 1),\; CW_{max} + 1) - 1, \qquad j \bmod m

for `attempts_short` :math:`m` (failures in a row: `rows`).
"""

from collections.abc import Callable
from dataclasses import dataclass

from lasthop.models.aggregates.window import Window


def nothing(_mpdus: int) -> float:
    """Return 0: there is no RTS before a PPDU."""
    return 0.0


@dataclass(frozen=True)
class Timing:
    """Durations of the only sender on the medium.

    Attributes
    ----------
    ppdu_s : callable
        Duration of a PPDU of this many MPDUs. [s]
    response_s : callable
        Duration of the response to it: MAC ACK to one MPDU, BlockAck to several. [s]
    sifs_s, slot_s, aifs_s : float
        SIFS, slot, AIFS. [s]
    wait_s : float
        From the end of a PPDU of which nothing was received to the AIFS: SIFS and the response that
        EIFS assumes. [s]
    cwmin, cwmax : int
        Contention window. [slots]
    attempts_short : int
        Failures in a row after which the window is CWmin again.
    request_s : float
        Duration of a BlockAckReq. [s]
    ahead_s : callable
        RTS and CTS before a PPDU of this many MPDUs, with a SIFS after each; by default nothing.
        [s]
    """

    ppdu_s: Callable[[int], float]
    response_s: Callable[[int], float]
    sifs_s: float
    slot_s: float
    aifs_s: float
    wait_s: float
    cwmin: int
    cwmax: int
    attempts_short: int
    request_s: float = 0.0
    ahead_s: Callable[[int], float] = nothing

    def backoff_s(self, failures: int) -> float:
        """Return the mean backoff after this many failures in a row. [s]"""
        doubled = (self.cwmin + 1) << failures % self.attempts_short
        return self.slot_s * (min(doubled, self.cwmax + 1) - 1) / 2

    def between_s(self, failures: int, response_s: float) -> float:
        """From the end of a PPDU to the first frame of the next exchange. [s]"""
        after = self.wait_s if failures else self.sifs_s + response_s
        return after + self.aifs_s + self.backoff_s(failures)


def round_s(window: Window, timing: Timing) -> float:
    """Return the mean duration of a round, BlockAckReqs shared out. [s]

    Parameters
    ----------
    window : Window
    timing : Timing
    """
    total = timing.aifs_s
    for failures, row in enumerate(window.rows):
        total += sum(row) * timing.backoff_s(failures)
    for mpdus, often in enumerate(window.sizes):
        if often > 0:
            failed = window.loss**mpdus
            answered_s = timing.sifs_s + timing.response_s(mpdus)
            ended_s = (1.0 - failed) * answered_s + failed * timing.wait_s
            total += often * (timing.ahead_s(mpdus) + timing.ppdu_s(mpdus) + ended_s)
    return total + _requests_s(window, timing)


def goodput_bps(window: Window, timing: Timing, payload_bytes: float) -> float:
    """Payload received. [bit/s]

    Parameters
    ----------
    window : Window
    timing : Timing
    payload_bytes : float
        Payload of an MPDU. [bytes]
    """
    return 8 * payload_bytes * window.delivered / round_s(window, timing)


def reordering_s(window: Window, timing: Timing) -> float:
    r"""Return the mean time from the end of the PPDU that brought an MPDU until it is handed up in
    order. [s]

    .. math:: D = \frac{1}{\text{delivered}} \sum_{k, f} P(k, f)\, (W - k)\, T_{k, f}

    by Little's law: ahead of a PPDU of :math:`k` MPDUs the receiver holds :math:`W - k`, which wait
    for as long as it takes from the end of the frame before to its own end. A BlockAckReq follows
    MPDUs that are given up. All MPDUs that the receiver holds after the first of them wait for its
    end. MPDUs beyond the new window's first MPDU also wait for the next PPDU.

    Parameters
    ----------
    window : Window
    timing : Timing
    """
    if window.loss == 0:
        return 0.0
    # Behind a PPDU of one MPDU nothing is held, so that the response is a BlockAck.
    response_s = timing.response_s(window.window)
    held = 0.0
    for failures, row in enumerate(window.rows):
        between_s = timing.between_s(failures, response_s)
        for mpdus, often in enumerate(row):
            if often > 0:
                ppdu_s = timing.ahead_s(mpdus) + timing.ppdu_s(mpdus)
                held += often * (window.window - mpdus) * (between_s + ppdu_s)
    requests = window.requests
    held += requests.held * (timing.between_s(0, response_s) + timing.request_s)
    for failures, often in enumerate(requests.failures):
        part = often / sum(requests.failures)
        request_s = timing.between_s(failures, response_s) + timing.request_s
        held += requests.held_failed * part * request_s
    return held / window.delivered


def _requests_s(window: Window, timing: Timing) -> float:
    """Return BlockAckReqs with their answers and accesses, per round. [s]"""
    requests = window.requests
    answer_s = timing.sifs_s + timing.response_s(window.window)
    access_s = timing.aifs_s + timing.backoff_s(0)
    total = requests.per_round * (access_s + timing.request_s + answer_s)
    for failures, often in enumerate(requests.failures):
        total += often * (timing.backoff_s(failures) - timing.backoff_s(0))
    return total
