r"""Behaviour of a flow over many loss events: growth, loss detection, recovery and timeouts,
measured in round trips.

The Markov chain of paper 000, Eq. (3), counts changes of the window. In this module each loss event
also takes time. In the round trip until the third duplicate ACK the window still grows. Recovery
takes a round trip for each lost packet (NewReno without SACK). A timeout follows if a
retransmission is also lost, if fewer than three duplicate ACKs return, or if recovery takes longer
than the RTO. The first partial ACK restarts the retransmission timer; later ACKs do not.
"""

from dataclasses import dataclass

import numpy as np

from lasthop.models.vbs.chain import Floats, visits
from lasthop.models.vbs.losses import MAX_LOST, Hazard

DUPACKS = 3
"""Number of duplicate ACKs that indicate a loss (RFC 5681). [-]"""

VARIATION = 0.4
"""Width of the uniform distribution of round-trip times, divided by their mean. The standard
deviation is 0.12, as for a buffer of 100 packets that ten connections fill. [-]
"""

MIN_SSTHRESH = 2.0
"""Least ssthresh, RFC 5681, Eq. (4). [packets]"""


@dataclass(frozen=True)
class Timer:
    """The retransmission timer of a flow.

    Attributes
    ----------
    rto : float
        Retransmission timeout divided by the round-trip time. [-]
    retransmission_loss : float
        Probability that a retransmitted segment is lost. [-]
    """

    rto: float
    retransmission_loss: float

    def in_time(self, holes: Floats) -> Floats:
        r"""Return the probability that recovery retransmits `holes` lost segments before the timer
        expires. [-]

        The k-th lost segment is acknowledged k round trips after the first retransmission. The
        timer starts one round trip after the first retransmission. The k-th lost segment is
        therefore acknowledged before the timer expires if k < 1 + RTO, with the RTO in round trips.
        Round-trip times are assumed to be uniform with the relative width `VARIATION`.
        """
        return np.asarray(np.clip(0.5 + (1.0 + self.rto - holes) / VARIATION, 0.0, 1.0))

    def timeout(self) -> float:
        r"""Return the mean time without progress after a timeout begins, in round trips. [-]

        .. math:: RTO\, \frac{f(p)}{1 - p}, \qquad f(p) = 1 + p + 2p^2 + 4p^3 + \dots + 32 p^6

        Notes
        -----
        Successive timeouts double up to a factor of 64, as in Padhye et al. 2000. p is the loss
        probability of a retransmission.
        """
        p = self.retransmission_loss
        doubling = 1.0 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
        return self.rto * doubling / (1.0 - p)


@dataclass(frozen=True)
class Response:
    """Behaviour of a flow under given losses, averaged over time.

    Attributes
    ----------
    sent : float
        Segments sent per round trip. [packets]
    cwnd : float
        Congestion window, averaged over time. [packets]
    growing : float
        Fraction of time in which the window grows. [-]
    events : float
        Loss events per round trip. [-]
    overflowed : float
        Packets lost at the AP's buffer per round trip. [packets]
    losses_per_event : float
        Lost packets per loss event. [packets]
    timeouts : float
        Fraction of the loss events that end in a timeout. [-]
    freed, freed_squared : float
        Packets in flight by which loss events reduce the load of the network. The first value is
        the sum over the loss events of a round trip, the second the sum of the squares. [packets,
        packets^2]
    """

    sent: float
    cwnd: float
    growing: float
    events: float
    overflowed: float
    losses_per_event: float
    timeouts: float
    freed: float
    freed_squared: float


def respond(growth: Floats, decrease: float, hazard: Hazard, timer: Timer) -> Response:
    """Return the mean behaviour of a flow, averaged over its loss events by the renewal-reward
    theorem.

    Parameters
    ----------
    growth : ndarray
        Increase of the window per round trip, at windows 1, 2, ... up to the receive window.
        [packets]
    decrease : float
        Fraction of the window by which a loss event reduces it. [-]
    hazard : Hazard
    timer : Timer
    """
    window = np.arange(1.0, len(growth) + 1.0)
    # `window` is the integer part of the real window, which is larger by half a packet on average.
    climb = (1.0 - hazard.loss) ** ((window + 0.5) / growth)
    packets = (1.0 - climb) / hazard.loss
    result = np.minimum(window + growth, window[-1])
    flight = np.floor(result)
    landing = np.minimum(np.maximum((1.0 - decrease) * flight, MIN_SSTHRESH), window)
    landing = np.round(2.0 * landing) / 2.0
    lost = np.arange(1.0, MAX_LOST + 1.0)[:, None]

    in_time = timer.in_time(lost) * (flight - lost >= DUPACKS)
    repaired = hazard.lost * in_time * (1.0 - timer.retransmission_loss) ** lost
    timeout = np.clip(1.0 - repaired.sum(axis=0), 0.0, 1.0)
    recovery = (repaired * lost).sum(axis=0) + DUPACKS / result
    recovered = (repaired * lost * np.maximum(landing - lost + 1.0, 1.0)).sum(axis=0)
    slow_start = np.log2(np.maximum(landing, 1.0))
    event_rounds = recovery + timeout * (1.0 + timer.timeout() + slow_start)
    event_packets = flight + recovered + timeout * 2.0 * landing

    at = landing.astype(int) - 1
    landings = np.maximum(np.bincount(at, minlength=len(window)), 1)
    exposed = np.bincount(at, recovered + timeout * landing, len(window)) / landings
    again = 1.0 - (1.0 - hazard.loss) ** exposed
    seen = visits(climb, landing, again)
    grown, events = seen.grown, seen.events

    growing = float(grown @ (packets / window) + events.sum())
    total = growing + float(events @ event_rounds)
    sent = float(grown @ packets + events @ event_packets)
    # During recovery cwnd is larger than afterwards, by the amount of the reduction.
    windows = grown @ (packets * (window + 0.5) / window) + events @ (
        (result + 0.5) * (1.0 + recovery + timeout * (1.0 + timer.timeout())) + timeout * landing
    )
    freed = (1.0 - timeout) * (result - landing) + timeout * result
    freed_squared = (1.0 - timeout) * (result - landing) ** 2 + timeout * result**2
    count = float(events.sum())
    return Response(
        sent=sent / total,
        cwnd=min(float(windows) / total, float(window[-1])),
        growing=growing / total,
        events=count / total,
        overflowed=float(events @ hazard.overflow_losses) / total,
        losses_per_event=float(events @ (hazard.lost * lost).sum(axis=0)) / count,
        timeouts=float(events @ timeout) / count,
        freed=float(events @ freed) / total,
        freed_squared=float(events @ freed_squared) / total,
    )
