r"""Timing of a BlockAck window that is always full: goodput, and the time until MPDUs are in order.

A round consists of AIFS, a backoff, the PPDU, and SIFS with the response. If nothing was received,
the difference of EIFS and AIFS replaces SIFS and the response. The backoff after :math:`j` failures
in a row is uniform on :math:`[0, CW_i]`, with

.. math:: CW_i = \min(2^i (CW_{min} + 1),\; CW_{max} + 1) - 1, \qquad i = j \bmod m

Here :math:`m` is `attempts_short`, after which the contention window returns to CWmin. Module
`rows` has the distribution of the number of failures in a row.
"""

from collections.abc import Callable
from dataclasses import dataclass

from lasthop.models.aggregates.window import Window


def nothing(_mpdus: int) -> float:
    """Return 0: without RTS, no time is spent on RTS and CTS before a PPDU. [s]"""
    return 0.0


@dataclass(frozen=True)
class Timing:
    """Durations of the frames of a single sender.

    Attributes
    ----------
    ppdu_s : callable
        Function that returns the duration of a PPDU with a given number of MPDUs. [s]
    response_s : callable
        Function that returns the duration of the response to a number of MPDUs: a MAC ACK to one
        MPDU, a BlockAck to several MPDUs. [s]
    sifs_s, slot_s, aifs_s : float
        SIFS, slot, AIFS. [s]
    wait_s : float
        Time from the end of a PPDU of which nothing was received to the next AIFS: SIFS and the
        response that EIFS assumes. [s]
    cwmin, cwmax : int
        Contention window. [slots]
    attempts_short : int
        Number of failures in a row after which the contention window returns to CWmin.
    request_s : float
        Duration of a BlockAckReq. [s]
    ahead_s : callable
        Function of the number of MPDUs that returns the duration of RTS and CTS before the PPDU,
        including a SIFS after each frame; by default 0. [s]
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
        """Return the mean backoff after `failures` failures in a row. [s]"""
        doubled = (self.cwmin + 1) << failures % self.attempts_short
        return self.slot_s * (min(doubled, self.cwmax + 1) - 1) / 2

    def between_s(self, failures: int, response_s: float) -> float:
        """Return the time from the end of a PPDU to the first frame of the next exchange. [s]"""
        after = self.wait_s if failures else self.sifs_s + response_s
        return after + self.aifs_s + self.backoff_s(failures)


def round_s(window: Window, timing: Timing) -> float:
    """Return the mean duration of a round (one PPDU), including the BlockAckReqs per round. [s]

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
    """Return the rate of received payload. [bit/s]

    Parameters
    ----------
    window : Window
    timing : Timing
    payload_bytes : float
        Payload of an MPDU. [bytes]
    """
    return 8 * payload_bytes * window.delivered / round_s(window, timing)


def reordering_s(window: Window, timing: Timing) -> float:
    r"""Return the mean time from the end of the PPDU with an MPDU until the MPDU is delivered in
    order. [s]

    .. math:: D = \frac{1}{\text{delivered}} \sum_{k, f} P(k, f)\, (W - k)\, T_{k, f}

    The formula is Little's law. :math:`P(k, f)` is the probability of a PPDU of :math:`k` MPDUs
    after :math:`f` failures in a row. Before this PPDU the receiver buffers :math:`W - k` MPDUs.
    These MPDUs wait for the time :math:`T_{k, f}`, from the end of the previous frame to the end of
    the PPDU. A BlockAckReq follows MPDUs that are given up. Buffered MPDUs after the first MPDU
    that is given up wait for the end of the BlockAckReq. MPDUs after the new window's first MPDU
    also wait for the next PPDU.

    Parameters
    ----------
    window : Window
    timing : Timing
    """
    if window.loss == 0:
        return 0.0
    # An ACK responds to a PPDU of one MPDU, after which the receiver buffers nothing. The response
    # before a wait is therefore a BlockAck.
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
    """Return the mean time per round for BlockAckReqs with their responses and backoffs. [s]"""
    requests = window.requests
    answer_s = timing.sifs_s + timing.response_s(window.window)
    access_s = timing.aifs_s + timing.backoff_s(0)
    total = requests.per_round * (access_s + timing.request_s + answer_s)
    for failures, often in enumerate(requests.failures):
        total += often * (timing.backoff_s(failures) - timing.backoff_s(0))
    return total
