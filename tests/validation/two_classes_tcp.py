"""TCP of the Monte Carlo of two classes: a sender that always has data, and a receiver.

The program follows RFC 5681, 6298, 6582, 6675 and 7323, and Compound by Tan et al. 2006. Each rule
that the RFCs leave open, or that simulators and kernels implement differently, is a field of
`Rules`, so that a single rule can be switched. The program was written before its author had read
`crates/engine`.
"""

import math
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple

NEVER = math.inf
THRESHOLD = 3
"""A segment is considered lost after this number of duplicate ACKs. With SACK, it is also
considered lost if this number of later segments has been SACKed.
"""


@dataclass(frozen=True)
class Rules:
    """Rules of TCP. If the RFCs specify a rule, its default follows the RFCs."""

    congestion: Literal["newreno", "compound"] = "newreno"
    window: int = 45
    """Receive window. [packets]"""
    initial_window: int = 2
    sack: bool = False
    """Whether SACK is used. All segments that are known as lost are then retransmitted within one
    round trip (RFC 6675).
    """
    rack: bool = False
    """Whether, with SACK, a retransmitted segment is considered lost when a later segment has
    arrived (RFC 8985). The segment is then sent once more, without waiting for the timer.
    """
    timer_at_retransmit: bool = False
    """Whether fast retransmit restarts the timer. No RFC specifies this restart; ns-2 and Linux do
    it.
    """
    timer_at_partial: Literal["first", "every"] = "first"
    """Partial ACKs that restart the retransmission timer. "first" and "every" are the variants
    Impatient and Slow-but-Steady of RFC 6582.
    """
    whole_segments: bool = False
    """Whether windows are whole numbers of segments, as in Linux. A window of w segments then grows
    by one after w ACKs, and half a window is rounded down. If False, the window grows by 1 / w with
    each ACK (RFC 5681, eq. 3).
    """
    limited_transmit: bool = False
    """Whether limited transmit is used (RFC 3042)."""
    limited_counts: bool = False
    """Whether the window that a loss halves includes the segments of limited transmit, contrary to
    RFC 5681.
    """
    decrease: Literal["flight", "cwnd"] = "flight"
    """Window that a loss halves: the flight size (RFC 5681, eq. 4), or cwnd as in ns-2."""
    timeout_in_recovery: Literal["flight", "keep", "ssthresh"] = "flight"
    """Value of ssthresh after a timeout in fast recovery: half of the flight (RFC 5681), the value
    set at the start of the recovery, or half of this value (ns-2).
    """
    min_rto_s: float = 0.2
    floor: Literal["sum", "variance"] = "sum"
    """Quantity that is at least min_rto: the timeout ("sum", RFC 6298), or its term 4 RTTVAR
    ("variance", Linux).
    """
    samples: Literal["each", "half", "round"] = "each"
    """Samples of the round-trip time. With "each" and "half", every ACK gives a sample, by its
    timestamp. The gains of the mean are then divided by the number of ACKs in a round ("each"), or
    by half of this number ("half", RFC 7323, appendix G, for delayed ACKs). With "round", one
    segment at a time is timed, never a retransmission (RFC 6298).
    """
    granularity_s: float = 0.0
    """Granularity of the clock, to which samples are rounded up."""

    # parameters of Compound
    alpha: float = 0.125
    beta: float = 0.5
    k: float = 0.75
    gamma: float = 30.0
    zeta: float = 0.5


class Segment(NamedTuple):
    """A segment, or an ACK whose number is that of the next expected segment."""

    flow: int
    number: int
    sent_s: float
    """Time at which the segment was sent; in an ACK, the echoed time."""
    sacked: frozenset[int] = frozenset()


@dataclass
class Counts:
    """Numbers of a flow's events since the end of the warm-up."""

    delivered: int = 0
    offered: int = 0
    overflowed: int = 0
    given_up: int = 0
    again: int = 0
    recoveries: int = 0
    timeouts: int = 0
    timeouts_in_recovery: int = 0
    spurious: int = 0
    """Number of timeouts whose segment was not lost: it had arrived, or was still queued."""
    windows: float = 0.0
    """Sum of the windows over all samples, for the mean."""
    samples: int = 0


class Receiver:
    """A receiver, which acknowledges each segment immediately."""

    def __init__(self, flow: int, rules: Rules) -> None:
        self.flow = flow
        self.rules = rules
        self.next = 0
        self.ahead: set[int] = set()
        self.recent_s = 0.0
        """Time at which the last segment in order was sent, which ACKs echo (RFC 7323, 4.3)."""

    def take(self, segment: Segment) -> Segment:
        """Process a segment, and return its ACK."""
        if segment.number == self.next:
            self.recent_s = segment.sent_s
            self.next += 1
            while self.next in self.ahead:
                self.ahead.remove(self.next)
                self.next += 1
        elif segment.number > self.next:
            self.ahead.add(segment.number)
        sacked = frozenset(self.ahead) if self.rules.sack else frozenset()
        return Segment(self.flow, self.next, self.recent_s, sacked)


class Sender:
    """A sender that always has data."""

    def __init__(self, flow: int, rules: Rules, counts: Counts) -> None:
        self.flow = flow
        self.rules = rules
        self.counts = counts
        self.una = 0
        self.next = 0
        self.end = 0
        """Number of the first segment that has never been sent."""
        self.cwnd = float(rules.initial_window)
        self.dwnd = 0.0
        self.ssthresh = NEVER
        self.duplicates = 0
        self.counted = 0
        """Number of ACKs since the last growth of the window, if windows are whole segments."""
        self.limited = 0
        """Number of segments that limited transmit has sent since the last ACK of new data."""
        self.recovering = False
        self.recover = -1
        self.partials = 0
        self.sacked: set[int] = set()
        self.repaired: set[int] = set()
        self.sent_s: dict[int, float] = {}
        """With RACK, the time at which each outstanding segment was last sent."""
        self.newest_s = 0.0
        """Latest send time of all segments that have arrived."""
        # The following attributes are the state of the retransmission timer.
        self.srtt_s = 0.0
        self.rttvar_s = 0.0
        self.rto_s = 1.0
        self.doublings = 0
        self.timer_s = NEVER
        self.timed: tuple[int, float] | None = None
        # state of Compound's rounds
        self.base_s = NEVER
        self.round_end = 0
        self.round_rtts_s: list[float] = []
        self.round_window = 0.0

    # -- windows ------------------------------------------------------------------------------

    @property
    def window(self) -> float:
        """Congestion window. [packets]"""
        return self.cwnd + self.dwnd

    def flight(self) -> int:
        """Number of outstanding segments."""
        return self.end - self.una

    def reduce(self) -> None:
        """Reduce the window after a loss."""
        extra = 0 if self.rules.limited_counts else self.limited
        base = self.window if self.rules.decrease == "cwnd" else float(self.flight() - extra)
        base = min(base, float(self.rules.window))
        left = base / 2.0
        if self.rules.congestion == "compound":
            left = base * (1.0 - self.rules.beta)
            own = min(self.cwnd, base) / 2.0
            self.dwnd = max(0.0, left - own)
            left = own + self.dwnd
        if self.rules.whole_segments:
            left = float(int(left))
        self.ssthresh = max(left, 2.0)

    def set_window(self, window: float) -> None:
        """Set the sum of cwnd and Compound's delay window."""
        self.dwnd = min(self.dwnd, max(0.0, window - 1.0))
        self.cwnd = window - self.dwnd

    def grow(self) -> None:
        """Increase the window for an ACK of new data outside recovery."""
        window = self.window
        if window < self.ssthresh:
            self.cwnd += 1.0
        elif self.rules.whole_segments:
            self.counted += 1
            if self.counted >= int(window):
                self.counted = 0
                self.cwnd += 1.0
        else:
            self.cwnd += 1.0 / window

    # -- sending ------------------------------------------------------------------------------

    def send(self, number: int, now_s: float, out: list[Segment]) -> None:
        """Send a segment, either new or a retransmission."""
        again = number < self.end
        out.append(Segment(self.flow, number, now_s))
        if self.rules.rack:
            self.sent_s[number] = now_s
        if again:
            self.counts.again += 1
            if self.timed is not None and self.timed[0] >= number:
                self.timed = None  # Karn's algorithm: a retransmitted segment gives no sample
        else:
            self.end = number + 1
            if self.timed is None:
                self.timed = (number, now_s)
        if self.timer_s == NEVER:
            self.start_timer(now_s)

    def fill(self, now_s: float, out: list[Segment], extra: int = 0) -> None:
        """Send as many segments as the window allows."""
        if self.rules.sack and self.recovering:
            self.fill_by_pipe(now_s, out)
            return
        limit = self.una + min(int(self.window + 1e-9) + extra, self.rules.window)
        while self.next < limit:
            if not (self.next < self.end and self.next in self.sacked):
                self.send(self.next, now_s, out)
            self.next += 1

    def fill_by_pipe(self, now_s: float, out: list[Segment]) -> None:
        """Send segments during a recovery, by the pipe algorithm of RFC 6675."""
        sacked = self.sacked
        above = sorted(sacked)
        third = above[-THRESHOLD] if len(above) >= THRESHOLD else -1
        lost = [
            number
            for number in range(self.una, self.end)
            if number not in sacked and (number < third or number == self.una)
        ]
        unrepaired = [number for number in lost if number not in self.repaired]
        pipe = self.flight() - len(sacked) - len(unrepaired)
        while pipe < int(self.window + 1e-9):
            if unrepaired:
                number = unrepaired.pop(0)
                self.repaired.add(number)
                self.send(number, now_s, out)
            elif self.end < self.una + self.rules.window:
                self.send(self.end, now_s, out)
                self.next = self.end
            else:
                break
            pipe += 1

    # -- timer --------------------------------------------------------------------------------

    def start_timer(self, now_s: float) -> None:
        """Restart the retransmission timer."""
        self.timer_s = now_s + min(60.0, self.rto_s * 2**self.doublings)

    def measure(self, rtt_s: float) -> None:
        """Process a sample of the round-trip time."""
        rules = self.rules
        if rules.granularity_s:
            rtt_s = math.ceil(rtt_s / rules.granularity_s) * rules.granularity_s
        if self.srtt_s == 0.0:
            self.srtt_s, self.rttvar_s = rtt_s, rtt_s / 2.0
        else:
            samples = 1.0
            if rules.samples != "round":
                expected = self.flight() / (1.0 if rules.samples == "each" else 2.0)
                samples = max(1.0, math.ceil(expected))
            self.rttvar_s += (abs(self.srtt_s - rtt_s) - self.rttvar_s) / (4.0 * samples)
            self.srtt_s += (rtt_s - self.srtt_s) / (8.0 * samples)
        spread_s = max(rules.granularity_s, 4.0 * self.rttvar_s)
        if rules.floor == "variance":
            self.rto_s = self.srtt_s + max(spread_s, rules.min_rto_s)
        else:
            self.rto_s = max(self.srtt_s + spread_s, rules.min_rto_s)
        self.doublings = 0

    def expire(self, now_s: float, out: list[Segment]) -> None:
        """Process an expiry of the retransmission timer."""
        self.counts.timeouts += 1
        again_in_a_row = self.doublings > 0
        if self.recovering:
            self.counts.timeouts_in_recovery += 1
            match self.rules.timeout_in_recovery:
                case "flight":
                    self.ssthresh = max(self.flight() / 2.0, 2.0)
                case "ssthresh":
                    self.ssthresh = max(self.ssthresh / 2.0, 2.0)
        elif not again_in_a_row:
            self.reduce()
        self.recovering = False
        self.repaired.clear()
        self.dwnd = 0.0
        self.cwnd = 1.0
        self.recover = self.end - 1
        self.duplicates = 0
        self.next = self.una
        self.doublings += 1
        self.timer_s = NEVER
        self.timed = None
        self.fill(now_s, out)
        self.start_timer(now_s)

    # -- ACKs ---------------------------------------------------------------------------------

    def take(self, ack: Segment, now_s: float, out: list[Segment]) -> None:
        """Process an ACK: of new data, or a duplicate ACK."""
        if self.rules.rack:
            self.find_lost_again(ack)
        if ack.sacked:
            self.sacked = {number for number in ack.sacked if number >= ack.number}
        if ack.number > self.una:
            self.advance(ack, now_s, out)
        elif ack.number == self.una and self.flight() > 0:
            self.duplicate(now_s, out)

    def find_lost_again(self, ack: Segment) -> None:
        """Mark retransmissions that were lost, so that they are sent once more. A retransmission is
        considered lost if a later segment has arrived.
        """
        arrived = [number for number in self.sent_s if number < ack.number or number in ack.sacked]
        for number in arrived:
            self.newest_s = max(self.newest_s, self.sent_s.pop(number))
        for number in list(self.repaired):
            if self.sent_s.get(number, NEVER) < self.newest_s:
                self.repaired.remove(number)

    def advance(self, ack: Segment, now_s: float, out: list[Segment]) -> None:
        """Process an ACK of new data."""
        gained = ack.number - self.una
        self.limited = 0
        self.una = ack.number
        self.next = max(self.next, self.una)
        self.sacked = {number for number in self.sacked if number >= self.una}
        if self.rules.samples != "round":
            self.measure(now_s - ack.sent_s)
        elif self.timed is not None and ack.number > self.timed[0]:
            self.measure(now_s - self.timed[1])
            self.timed = None
        self.watch_round(now_s - ack.sent_s, ack.number)
        restart = True
        if self.recovering and ack.number <= self.recover:
            self.partials += 1
            restart = self.partials == 1 or self.rules.timer_at_partial == "every"
            if not self.rules.sack:
                self.set_window(max(1.0, self.window - gained + 1.0))
                self.send(self.una, now_s, out)
        elif self.recovering:
            self.recovering = False
            self.duplicates = 0
            self.repaired.clear()
            self.set_window(self.ssthresh)
        else:
            self.duplicates = 0
            self.grow()
        if self.flight() == 0:
            self.timer_s = NEVER
        elif restart:
            self.start_timer(now_s)
        self.fill(now_s, out)

    def duplicate(self, now_s: float, out: list[Segment]) -> None:
        """Process an ACK that acknowledges no new data."""
        self.duplicates += 1
        if self.recovering:
            if not self.rules.sack:
                self.cwnd += 1.0
            self.fill(now_s, out)
        elif self.duplicates == THRESHOLD:
            # A timeout may have retransmitted segments that had arrived.
            # These segments cause duplicate ACKs up to `recover`, which do not show a new loss.
            if self.una > self.recover:
                self.begin_recovery(now_s, out)
        elif (
            (self.rules.limited_transmit or self.rules.sack)
            and self.duplicates < THRESHOLD
            and self.next == self.end
        ):
            before = self.end
            self.fill(now_s, out, extra=self.duplicates)
            self.limited += self.end - before

    def begin_recovery(self, now_s: float, out: list[Segment]) -> None:
        """Begin a recovery by fast retransmit."""
        self.counts.recoveries += 1
        self.reduce()
        self.recovering = True
        self.partials = 0
        self.recover = self.end - 1
        self.set_window(self.ssthresh)
        if self.rules.timer_at_retransmit:
            self.timer_s = NEVER
        if self.rules.sack:
            self.repaired = {self.una}
        else:
            self.cwnd += 3.0
        self.send(self.una, now_s, out)
        self.fill(now_s, out)

    # -- Compound -----------------------------------------------------------------------------

    def watch_round(self, rtt_s: float, number: int) -> None:
        """Update Compound's delay window once per round trip."""
        if self.rules.congestion != "compound":
            return
        rules = self.rules
        self.base_s = min(self.base_s, rtt_s)
        self.round_rtts_s.append(rtt_s)
        if number <= self.round_end:
            return
        if not self.recovering and self.round_window > 0.0 and self.window >= self.ssthresh:
            window = self.round_window
            queued = window * (1.0 - self.base_s / fmean(self.round_rtts_s))
            if queued < rules.gamma:
                self.dwnd += max(0.0, rules.alpha * window**rules.k - 1.0)
            else:
                self.dwnd = max(0.0, self.dwnd - rules.zeta * queued)
        self.round_end = self.end
        self.round_rtts_s.clear()
        self.round_window = min(self.window, float(rules.window))
