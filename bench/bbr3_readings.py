"""The ambiguous places of draft-ietf-ccwg-bbr, the chosen readings, and the constants.

Part of the independent implementation of BBR v3 in `bbr3_second.py`.
"""

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, NamedTuple

NANOSECONDS_PER_SECOND = 1_000_000_000
BITS_PER_BYTE = 8


class Ambiguity(NamedTuple):
    """A place where the draft is ambiguous or contradicts itself."""

    section: str
    readings: str
    chosen: str
    switch: str = ""  # The field of `Readings` that selects another reading, if there is one.


AMBIGUOUS: list[Ambiguity] = [
    Ambiguity(
        "5.6.2 and 5.2.1, InitPacingRate",
        "(a) The text says that the initial rate uses 'the initial C.srtt after the first non-zero"
        " RTT sample', so the rate is computed again at that sample. (b) The pseudocode calls"
        " InitPacingRate() only in OnInit(), so 1 ms is used whenever there is no RTT at the start,"
        " and the rate cannot fall before full_bw_reached.",
        "(a)",
        "initial_pacing",
    ),
    Ambiguity(
        "5.6.1 and 5.3.3.9, gains in the ProbeBW states",
        "The pseudocode of StartProbeBW_*() sets no gain. The table and the text give the pacing"
        " gains 0.90, 1.0, 1.0 and 1.25, and the cwnd gain 2.25 in UP and 2 elsewhere."
        " EnterProbeBW() alone sets cwnd_gain, and ExitProbeRTT() does not call it.",
        "Every StartProbeBW_*() sets both gains from the table.",
    ),
    Ambiguity(
        "5.3.3.9 IsTimeToCruise() and 5.6.4.2 Inflight()",
        "(a) The call Inflight(BBR.max_bw, 1.0) means the BDP from max_bw. (b) The definition"
        " Inflight(gain), the text of 5.3.3.1 ('less than or equal to BBR.bdp') and the appendix"
        " (BBRInflight(1.0)) mean the BDP from BBR.bw.",
        "(a), because the call names its argument; BBR.bdp is left alone by it.",
        "cruise_bandwidth",
    ),
    Ambiguity(
        "5.3.3.8, IsRenoCoexistenceProbeTime()",
        "(a) TargetInflight() is converted to packets of C.SMSS, as the text (62 packets, 62 round"
        " trips) requires, without rounding. (b) The same, rounded down. (c) Taken literally in"
        " bytes, which makes the bound always 63 rounds.",
        "(a)",
        "reno_unit",
    ),
    Ambiguity(
        "5.3.1.3, CheckStartupHighLoss()",
        "There is no pseudocode. When is a 'full packet-timed round trip' in fast recovery over?"
        " (a) At an ACK with loss_round_start during recovery, since the loss round starts with the"
        " first loss. (b) At an ACK with round_start during recovery.",
        "(a); the loss rate is tested with IsInflightTooHigh() on the rate sample of that ACK.",
        "startup_loss_round",
    ),
    Ambiguity(
        "5.3.1.3, 'discontiguous sequence ranges lost'",
        "(a) Runs of transmissions marked lost in the round: a lost transmission whose neighbour in"
        " the order of transmission was not marked lost in the round starts a range. (b) Every ACK"
        " that marks losses counts as one range. (c) Every lost transmission counts.",
        "(a); sequence numbers are not known here, so the order of transmission stands for them.",
        "loss_ranges",
    ),
    Ambiguity(
        "5.3.1.3 and appendix, full_bw_now on the exit by loss",
        "The text sets only full_bw_reached; the appendix expects full_bw_now as well.",
        "Both are set. This has no consequence, since ResetFullBW() runs before the next use.",
    ),
    Ambiguity(
        "2.3 and 4.1.2.3, fields of the rate sample",
        "UpdateRateSample() sets neither RS.tx_in_flight nor RS.lost nor RS.newly_acked, and"
        " InitRateSample() leaves RS.delivered and RS.prior_delivered as they were.",
        "They follow their definitions in 2.3, for the newest packet; without data they are 0, and"
        " an ACK without data starts no round and no loss round.",
    ),
    Ambiguity(
        "4.1.2.3, the time 0 as a mark",
        "P.delivered_time == 0 and RS.prior_time == 0 mark 'acknowledged' and 'no data'; but a"
        " clock that starts at 0 gives valid times 0.",
        "Separate booleans serve as marks; the time 0 is valid.",
    ),
    Ambiguity(
        "4.1.2.3, C.min_rtt in GenerateRateSample()",
        "Is the RTT sample of this ACK already part of C.min_rtt? The draft does not say.",
        "Yes: the transport takes the RTT before it calls BBR.",
        "transport_min_rtt",
    ),
    Ambiguity(
        "2.2, C.is_cwnd_limited",
        "'fully utilized C.cwnd': (a) no further packet of C.SMSS fits, or (b) C.inflight >="
        " C.cwnd. 'at any point in the last packet-timed round trip': (c) the round"
        " before the current or the current one up to now, (d) only the complete round before,"
        " (e) only the current one.",
        "(a) and (c), tested after each transmission and after each ACK.",
        "cwnd_limited_test, cwnd_limited_rounds",
    ),
    Ambiguity(
        "5.5.10.2 NoteLoss(), 5.6.4.4 and 5.5.11.1, SaveStateUponLoss()",
        "(a) The pseudocode saves at the first loss of every loss round and once more on entry to"
        " recovery, which overwrites the undo state during the episode (also when"
        " StartProbeBW_DOWN() has cleared is_loss_in_round between two losses of one ACK). (b)"
        " The text saves 'when a"
        " loss recovery episode starts', that is once per episode.",
        "(a)",
        "save_state",
    ),
    Ambiguity(
        "5.3.4.3 CheckProbeRTT() and 5.6.4.4 SaveCwnd()",
        "(a) SaveCwnd() runs after EnterProbeRTT() has set the state, so it takes the maximum with"
        " an old prior_cwnd. (b) The purpose ('last known good cwnd') wants it before.",
        "(a)",
        "probe_rtt_save",
    ),
    Ambiguity(
        "5.6.4.5, cwnd in ProbeRTT",
        "The text (and 2.16.2) bound cwnd by MinPipeCwnd; the pseudocode and the table by"
        " 0.5 BDP with the floor MinPipeCwnd.",
        "The pseudocode.",
    ),
    Ambiguity(
        "5.6.1 (table) and 5.6.4.7 BoundCwndForModel(), Drain",
        "(a) The pseudocode does not bound cwnd by inflight_longterm in Drain. (b) The table does.",
        "(a)",
        "drain_cap",
    ),
    Ambiguity(
        "5.3.2, end of Drain by time",
        "(a) round_count > drain_start_round + 3, so at the fourth round start. (b) 'after 3 round"
        " trips', so at the third.",
        "(a)",
        "drain_rounds",
    ),
    Ambiguity(
        "5.5.10.2 HandleInflightTooHigh() and appendix, application-limited",
        "(a) The pseudocode and the text leave inflight_longterm alone if the sample is"
        " application-limited. (b) The appendix wants an update 'regardless of the"
        " application-limited state'.",
        "(a)",
        "too_high_limited",
    ),
    Ambiguity(
        "5.5.8, offload_budget",
        "(a) 3 * C.send_quantum for TCP. (b) C.send_quantum for QUIC.",
        "(a), since the traces speak of selective acknowledgments and retransmission timeouts.",
        "offload",
    ),
    Ambiguity(
        "5.6.3, '64 KBytes'",
        "65536 or 64000 bytes.",
        "65536",
    ),
    Ambiguity(
        "2.5 and 5.3.1.1, StartupPacingGain",
        "2.77 or 4 ln 2 = 2.7726.",
        "2.77, unless the constants of the trace differ.",
    ),
    Ambiguity(
        "5.5.5 and 2.10, length of the max_bw filter",
        "(a) The current and the previous cycle. (b) The algorithm of Nichols, which keeps a sample"
        " while its age is at most the window length, which makes three cycles.",
        "(a). BBR.max_bw changes only in UpdateMaxBw(), not when the cycle advances.",
        "max_bw_window",
    ),
    Ambiguity(
        "5.5.9 and 2.11, length of the extra_acked filter",
        "(a) The last filter_len rounds including the current one ('just remember 1 round'). (b)"
        " The algorithm of Nichols, which includes one round more.",
        "(a)",
        "extra_acked_window",
    ),
    Ambiguity(
        "5.6.4.4, OnEnterRTO()",
        "C.cwnd = C.inflight + 1: bytes or packets, and C.inflight before or after the losses of"
        " the timeout?",
        "One packet of C.SMSS after the losses, since the text wants 1 C.SMSS to be transmitted.",
        "timeout_order",
    ),
    Ambiguity(
        "5.4.1, pacing rate on restart from idle",
        "The text sets C.pacing_rate to exactly BBR.bw; SetPacingRateWithGain(1) gives 99 % of it.",
        "The pseudocode, that is 99 %.",
    ),
    Ambiguity(
        "5.3.3.9, UpdateProbeBWCyclePhase() without new data",
        "(a) The text runs it 'on each ACK that acknowledges new data'. (b) UpdateModelAndState()"
        " calls it always.",
        "(a)",
        "empty_ack",
    ),
    Ambiguity(
        "5.2.1, variables without an initial value",
        "BBR.bw, BBR.bdp, extra_acked, loss_round_delivered, probe_rtt_min_delay,"
        " probe_rtt_min_stamp, cycle_count and drain_start_round are not set in OnInit().",
        "0, except probe_rtt_min_delay (as min_rtt) and probe_rtt_min_stamp (now).",
    ),
    Ambiguity(
        "5.3.3.9, ProbeInflightLongtermUpward(), division",
        "delta = bw_probe_up_acked / probe_up_acked_per_inc: integer or real quotient?",
        "Integer, since inflight_longterm 'is increased by C.SMSS' and the rest is carried over.",
    ),
    Ambiguity(
        "5.6.2, P.send_time",
        "P.send_time is the departure time chosen by pacing, max(Now(), C.next_send_time).",
        "The caller gives it; the replayer takes the time of the event 'sent'.",
    ),
    Ambiguity(
        "5.6.2 SetPacingRate() and 5.6.4.5 ProbeRTTCwnd(), names",
        "C.pacing_gain and `bw` are written for BBR.pacing_gain and BBR.bw;"
        " BDPMultiple(BBR.bw, gain) is called with two arguments but takes one.",
        "BBR.pacing_gain, BBR.bw and BDPMultiple(gain).",
    ),
    Ambiguity(
        "5.5.1, P.delivered in UpdateRound()",
        "P is not determined if an ACK covers several packets.",
        "RS.prior_delivered, the value of the newest packet.",
    ),
]


@dataclass
class Readings:
    """Selects the readings of the ambiguous places; the defaults are those chosen above."""

    initial_pacing: Literal["first_rtt", "init_only"] = "first_rtt"
    cruise_bandwidth: Literal["max_bw", "bw"] = "max_bw"
    reno_unit: Literal["packets", "whole_packets", "bytes"] = "packets"
    startup_loss_round: Literal["loss_round", "round"] = "loss_round"
    loss_ranges: Literal["runs", "acks", "packets"] = "runs"
    transport_min_rtt: Literal["before", "after"] = "before"
    cwnd_limited_test: Literal["no_room", "reached"] = "no_room"
    cwnd_limited_rounds: Literal["both", "previous", "current"] = "both"
    save_state: Literal["every_round", "once"] = "every_round"
    probe_rtt_save: Literal["after", "before"] = "after"
    drain_cap: Literal["none", "longterm"] = "none"
    drain_rounds: Literal["more_than_3", "at_least_3"] = "more_than_3"
    too_high_limited: Literal["keep", "update"] = "keep"
    offload: Literal["tcp", "quic"] = "tcp"
    max_bw_window: Literal["exact", "nichols"] = "exact"
    extra_acked_window: Literal["exact", "nichols"] = "exact"
    timeout_order: Literal["losses_first", "save_first"] = "losses_first"
    empty_ack: Literal["skip", "run"] = "skip"


@dataclass
class Constants:
    """The constants of the draft (sections 2.5 to 2.16) in SI units."""

    startup_pacing_gain: float = 2.77
    drain_pacing_gain: float = 0.5
    probe_down_pacing_gain: float = 0.90
    probe_up_pacing_gain: float = 1.25
    pacing_margin_percent: float = 1.0
    default_cwnd_gain: float = 2.0
    probe_up_cwnd_gain: float = 2.25
    loss_thresh: float = 0.02
    beta: float = 0.7
    headroom: float = 0.15
    min_pipe_cwnd_packets: int = 4
    max_bw_filter_len_cycles: int = 2
    extra_acked_filter_len_rounds: int = 10
    startup_full_loss_count: int = 6
    min_rtt_filter_len_ns: int = 10 * NANOSECONDS_PER_SECOND
    probe_rtt_cwnd_gain: float = 0.5
    probe_rtt_duration_ns: int = 200_000_000
    probe_rtt_interval_ns: int = 5 * NANOSECONDS_PER_SECOND
    full_bw_growth: float = 1.25
    full_bw_rounds: int = 3
    reno_bound_rounds: int = 63
    probe_wait_base_s: float = 2.0
    send_quantum_interval_s: float = 0.001
    send_quantum_max_bytes: int = 64 * 1024
    initial_rtt_s: float = 0.001


class State(Enum):
    """The states of the state machine (section 5.1.1)."""

    STARTUP = "Startup"
    DRAIN = "Drain"
    PROBE_BW_DOWN = "ProbeBW_DOWN"
    PROBE_BW_CRUISE = "ProbeBW_CRUISE"
    PROBE_BW_REFILL = "ProbeBW_REFILL"
    PROBE_BW_UP = "ProbeBW_UP"
    PROBE_RTT = "ProbeRTT"


class AckPhase(Enum):
    """What the ACKs tell about the bandwidth probe (section 2.13)."""

    INIT = "ACKS_INIT"
    REFILLING = "ACKS_REFILLING"
    PROBE_STARTING = "ACKS_PROBE_STARTING"
    PROBE_FEEDBACK = "ACKS_PROBE_FEEDBACK"
    PROBE_STOPPING = "ACKS_PROBE_STOPPING"


@dataclass
class Packet:
    """The state per packet (section 4.1.2.1.2)."""

    packet_id: int
    size_bytes: int
    send_time_ns: int
    delivered_bytes: int
    lost_bytes: int
    delivered_time_ns: int
    first_send_time_ns: int
    is_app_limited: bool
    tx_in_flight_bytes: int
    is_in_flight: bool = True


@dataclass
class RateSample:
    """The rate sample of one ACK (sections 2.3 and 4.1.2.1.3)."""

    rtt_ns: int | None = None
    has_data: bool = False
    prior_delivered_bytes: int = 0
    prior_time_ns: int = 0
    is_app_limited: bool = False
    send_elapsed_ns: int = 0
    ack_elapsed_ns: int = 0
    interval_ns: int = 0
    delivered_bytes: int = 0
    delivery_rate_bytes_per_s: float = 0.0
    last_acked_packet_id: int = -1
    tx_in_flight_bytes: float = 0.0
    lost_bytes: int = 0
    newly_acked_bytes: int = 0
    newly_lost_bytes: int = 0


@dataclass
class WindowedMaxFilter:
    """An exact maximum over the samples of the last `length` units of a virtual time."""

    samples: deque[tuple[int, float]] = field(default_factory=deque)

    def update(self, value: float, time: int, length: int) -> float:
        """Add a sample and return the maximum of those younger than `length`."""
        while self.samples and self.samples[-1][1] <= value:
            self.samples.pop()
        self.samples.append((time, value))
        while self.samples[0][0] <= time - length:
            self.samples.popleft()
        return self.samples[0][1]


@dataclass
class NicholsMaxFilter:
    """The approximate windowed maximum of Kathleen Nichols, which section 5.5.5 permits.

    It keeps the best sample and two later ones that could follow it. A sample counts while its age
    is at most the length, so that the window spans one unit more than in `WindowedMaxFilter`. It
    may lose a sample that an exact filter would still find.
    """

    best: list[tuple[int, float]] = field(default_factory=list)

    def update(self, value: float, time: int, length: int) -> float:
        """Add a sample and return the estimate of the maximum."""
        new = (time, value)
        best = self.best
        if not best or value >= best[0][1] or time - best[2][0] > length:
            self.best = [new, new, new]
            return value
        if value >= best[1][1]:
            best[1] = best[2] = new
        elif value >= best[2][1]:
            best[2] = new
        age = time - best[0][0]
        if age > length:
            best[:] = [best[1], best[2], new]
            if time - best[0][0] > length:
                best[:] = [best[1], best[2], new]
        elif best[1][0] == best[0][0] and age > length / 4:
            best[1] = best[2] = new
        elif best[2][0] == best[1][0] and age > length / 2:
            best[2] = new
        return best[0][1]


def make_max_filter(reading: str) -> WindowedMaxFilter | NicholsMaxFilter:
    """Make the filter that a reading asks for."""
    return NicholsMaxFilter() if reading == "nichols" else WindowedMaxFilter()
