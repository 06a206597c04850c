//! BBR, version 3: sends at the measured delivery rate of the path, and bounds the rate and the data in
//! flight after losses.
//!
//! Reference: draft-ietf-ccwg-bbr, commit 4ce5e87d5f58 of 2026-08-03 in the repository
//! ietf-wg-ccwg/draft-ietf-ccwg-bbr, after version 06. Comments and docstrings have its names.
//!
//! ```text
//!   Startup --no growth for 3 rounds, or losses--> Drain --in flight <= BDP, or 3 rounds--> ProbeBW
//!
//!   ProbeBW:  DOWN --in flight <= BDP, with headroom--> CRUISE --2 to 3 s, or 62 rounds--> REFILL
//!              ^                                                                             |
//!              '---- losses, no growth, or the inflight of the last losses ----- UP <--1 round'
//!
//!   any state --no new minimum RTT for 5 s--> ProbeRTT --200 ms with half a BDP--> CRUISE or Startup
//!
//! state            Startup   Drain   DOWN   CRUISE   REFILL   UP     ProbeRTT
//! pacing gain      2.77      0.5     0.9    1        1        1.25   1
//! cwnd gain        2         2       2      2        2        2.25   0.5
//!
//! rate = 0.99 pacing_gain min(max_bw, bw_shortterm)          max_bw: of this and the previous cycle
//! cwnd = cwnd_gain BDP + extra_acked, at least 3 bursts and 4 segments
//! cwnd <= inflight_longterm, inflight_shortterm
//! ```
//!
//! A probe of the bandwidth with more than 2 % of loss sets inflight_longterm. Losses at other times
//! multiply bw_shortterm and inflight_shortterm by at least 0.7 per round, until the next probe.
//!
//! | file | contents |
//! |---|---|
//! | `signals.rs` | samples, rounds, bandwidth, aggregation, and the response to losses |
//! | `cycle.rs` | the state machine |
//! | `control.rs` | pacing rate, burst and cwnd |
//! | `trace.rs` | a trace of all events of one connection, with the feature `bbr3-trace` |
//!
//! Readings of the draft, where its parts disagree or leave something open:
//! - The gains are those of the table in "Summary of Control Behavior", since the pseudocode of the
//!   states of ProbeBW does not set them. In Drain, inflight_longterm does not bound cwnd, as in the
//!   pseudocode and unlike the table.
//! - `Inflight(BBR.max_bw, 1.0)` uses max_bw, and `Inflight(1.0)` uses bw.
//! - T_reno compares rounds with the target in segments.
//! - `CheckStartupHighLoss` ends Startup at the end of a round with losses, in fast recovery, if the
//!   newest arrival has more than 2 % of loss and the round lost six ranges of sequence numbers.
//! - `is_cwnd_limited` is true if a transmission in this or the last round left no room in cwnd.
//! - At a retransmission timeout, state is saved before the timeout declares losses. cwnd is set
//!   after them. Losses that an ACK declares are processed before its arrivals.
//! - The state for an undo is saved at the start of a recovery, as in the text. In the pseudocode, each
//!   round of a recovery also saves it, and even a second loss of the ACK that ended a probe.
//! - Before the first round-trip sample, the pacing rate assumes 1 ms, and is computed again with this
//!   sample.
//! - A mark (ECN), or a loss that a probe has repaired, has the effect of a loss, at most once per
//!   window of data. In a probe of the bandwidth, it has the effect of too many losses.
//!
//! Differs from the draft in:
//! - Segments leave one at a time, unless `tso` is set. The bound of three bursts remains.
//! - cwnd never exceeds the receive window.
//! - Volumes are in segments of equal size. Only the last segment of a message may be shorter.
//! - RTT samples come only from segments that were sent once.
//! - The frequency of ACKs cannot be requested.
//!
//! Differs from Linux's BBR v3 (branch v3 of github.com/google/bbr, 2023) in:
//! - Linux has none of: precautionary probing, the bound of three rounds in Drain, a response to marks
//!   except those of L4S.
//! - Linux drains with a gain of 0.35, adds three bursts to cwnd, and limits `extra_acked` to 100 ms.
//! - Linux counts ACKs with losses, not ranges of lost segments, to leave Startup.
//! - Rates and gains are floating-point numbers; Linux rounds them to 2^-24 packets/us and 1/256.

mod control;
mod cycle;
mod signals;
mod state;
mod trace;

#[cfg(feature = "bbr3-trace")]
pub use trace::take as take_trace;

use super::control::{
    Arrival, CongestionControl, CongestionSign, Lost, MarkReport, NewAck, Processed, RecoveryAck,
    RecoveryPhase, Sent,
};
use super::delivery_rate::{DeliveryRate, Snapshot};
use super::max_filter::MaxFilter;
use super::pacer::Pacer;
use super::window::Window;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::notation::setting::{S, flag, number};
use crate::table;
use crate::tcp::TcpSettings;
use state::{Sample, State, Undo};
use trace::Trace;

table! {
    /// Parameters of BBR version 3 (congestion = "bbr3").
    pub struct Bbr3Settings: Copy in "bbr3" {
        /// Fraction of lost segments per round trip above which a probe of the bandwidth ends and the data in flight is bounded (`BBR.LossThresh`).
        loss_threshold: f64 = number(0.001..=0.5), fallback 0.02;
        /// If true, a tail loss probe or a retransmission timeout stops all other transmissions until the next ACK, after which BBR returns to Startup. The rule is for Wi-Fi radios that pause for 100 to 200 ms (draft-huitema-ccwg-bbr-realtime-00).
        suspension: bool = flag(), fallback false;
    }
}

/// `BBR.StartupPacingGain`: 4 ln 2.
const STARTUP_PACING_GAIN: f64 = 2.77;

/// `BBR.MinPipeCwnd`: smallest window. [packets]
const MIN_PIPE_CWND: f64 = 4.0;

/// `BBR.Beta`: smallest factor of a reduction.
const BETA: f64 = 0.7;

/// `BBR.Headroom`: part of inflight_longterm that is left to other flows.
const HEADROOM: f64 = 0.15;

/// `BBR.MinRTTFilterLen`: time for which a minimum round-trip time is used.
const MIN_RTT_FILTER: Span = Span(10 * S);

/// `BBR.ProbeRTTInterval`: time without a new minimum after which the round-trip time is probed.
const PROBE_RTT_INTERVAL: Span = Span(5 * S);

/// `BBR.ProbeRTTDuration`: minimum time with little data in flight.
const PROBE_RTT_DURATION: Span = Span(S / 5);

/// A round-trip time that is not known yet.
const UNKNOWN: Span = Span(u64::MAX);

/// `BBR.ack_phase`: which part of a probe of the bandwidth the ACKs report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// The state of a transmission (P in the draft).
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    rate: Snapshot,
    /// P.tx_in_flight: segments in flight after the transmission.
    tx_in_flight: u32,
    /// P.lost: segments lost before the transmission.
    lost: u32,
    /// Number of the transmission in the trace.
    #[cfg(feature = "bbr3-trace")]
    id: u64,
}

/// The state of BBR. Volumes are in packets, and rates in packets per nanosecond.
#[derive(Clone, Debug)]
pub(super) struct Bbr3 {
    settings: Bbr3Settings,
    /// Payload of a segment. [bytes]
    mss: f64,
    has_tso: bool,
    draws: Stream,
    rate: DeliveryRate,
    pacer: Pacer,
    trace: Trace,
    /// C.InitialCwnd.
    initial_cwnd: f64,
    /// C.inflight.
    in_flight: u32,
    /// C.lost.
    lost: u32,
    /// C.min_rtt.
    connection_rtt: Span,
    /// C.pacing_rate; 0 before the first transmission.
    pacing_rate: f64,
    /// Whether the pacing rate was computed from a round-trip time.
    has_seen_rtt: bool,
    /// C.send_quantum.
    send_quantum: f64,
    /// C.cwnd after the last ACK or timeout.
    cwnd: f64,
    /// Whether a transmission left no room in cwnd, in this round and in the last round.
    cwnd_limited: [bool; 2],
    /// Loss recovery after the last event.
    phase: RecoveryPhase,
    /// Arrivals of the ACK in progress, and the newest transmission among them.
    arrived: u32,
    newest: Option<Packet>,
    /// RS.
    sample: Sample,

    state: State,
    pacing_gain: f64,
    cwnd_gain: f64,
    ack_phase: AckPhase,
    max_bw: f64,
    /// `BBR.max_bw_filter`: largest rates of the previous and of the current cycle.
    cycle_bw: [f64; 2],
    bw: f64,
    bw_shortterm: f64,
    bw_latest: f64,
    /// `BBR.bdp`.
    bdp: f64,
    max_inflight: f64,
    inflight_longterm: f64,
    inflight_shortterm: f64,
    inflight_latest: u32,
    min_rtt: Span,
    min_rtt_at: Time,
    probe_rtt_min_delay: Span,
    probe_rtt_min_at: Time,
    probe_rtt_expired: bool,
    /// `BBR.probe_rtt_done_stamp`.
    probe_rtt_end: Option<Time>,
    probe_rtt_round_done: bool,
    next_round_delivered: u32,
    round_start: bool,
    rounds: u32,
    drain_start_round: u32,
    loss_round_delivered: u32,
    loss_round_start: bool,
    is_loss_in_round: bool,
    /// Number of ranges of segments lost in this round, and one past the last lost segment.
    lost_ranges: u32,
    lost_end: u32,
    full_bw: f64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    extra_acked_start: Time,
    extra_acked_delivered: f64,
    extra_acked: MaxFilter<f64>,
    is_bw_probe_sample: bool,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: u32,
    bw_probe_wait: Span,
    /// `BBR.cycle_stamp`.
    cycle_start: Time,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    idle_restart: bool,
    prior_cwnd: f64,
    undo: Undo,
    /// Whether a probe or a timeout has stopped transmissions (`suspension`).
    is_suspended: bool,
}

impl Bbr3 {
    pub(super) fn new(settings: Bbr3Settings, tcp: &TcpSettings) -> Bbr3 {
        let initial_cwnd = f64::from(tcp.initial_cwnd_packets.min(tcp.window_packets));
        Bbr3 {
            settings,
            mss: f64::from(tcp.mss_bytes),
            has_tso: tcp.tso,
            draws: Streams::new(0, 0).stream("bbr3"),
            rate: DeliveryRate::new(),
            pacer: Pacer::new(),
            trace: Trace::new(),
            initial_cwnd,
            in_flight: 0,
            lost: 0,
            connection_rtt: UNKNOWN,
            pacing_rate: 0.0,
            has_seen_rtt: false,
            send_quantum: 2.0,
            cwnd: initial_cwnd,
            cwnd_limited: [false; 2],
            phase: RecoveryPhase::Open,
            arrived: 0,
            newest: None,
            sample: Sample::NONE,
            state: State::Startup,
            pacing_gain: STARTUP_PACING_GAIN,
            cwnd_gain: State::Startup.gains().1,
            ack_phase: AckPhase::Init,
            max_bw: 0.0,
            cycle_bw: [0.0; 2],
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            bw_latest: 0.0,
            bdp: 0.0,
            max_inflight: 0.0,
            inflight_longterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_latest: 0,
            min_rtt: UNKNOWN,
            min_rtt_at: Time::ZERO,
            probe_rtt_min_delay: UNKNOWN,
            probe_rtt_min_at: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_end: None,
            probe_rtt_round_done: false,
            next_round_delivered: 0,
            round_start: false,
            rounds: 0,
            drain_start_round: 0,
            loss_round_delivered: 0,
            loss_round_start: false,
            is_loss_in_round: false,
            lost_ranges: 0,
            lost_end: 0,
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            extra_acked_start: Time::ZERO,
            extra_acked_delivered: 0.0,
            extra_acked: MaxFilter::new(0.0),
            is_bw_probe_sample: false,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Span::ZERO,
            cycle_start: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            idle_restart: false,
            prior_cwnd: 0.0,
            undo: Undo::NONE,
            is_suspended: false,
        }
    }

    /// Sets the seed of the random numbers.
    pub(super) fn set_seed(&mut self, seed: u32) {
        self.draws = Streams::new(u64::from(seed), 0).stream("bbr3");
    }

    /// `OnInit`: begins the connection with its first transmission.
    #[cold]
    fn begin(&mut self, window: &Window, sent: &Sent) {
        let rtt = sent.srtt.unwrap_or(UNKNOWN);
        (self.min_rtt, self.min_rtt_at) = (rtt, sent.now);
        (self.probe_rtt_min_delay, self.probe_rtt_min_at) = (rtt, sent.now);
        self.connection_rtt = rtt;
        self.extra_acked_start = sent.now;
        self.initial_cwnd = window.cwnd;
        self.cwnd = window.cwnd;
        self.init_pacing_rate(sent.srtt);
        self.trace_start(sent.now, sent.srtt);
    }

    /// Processes the start of a loss recovery.
    #[inline]
    fn enter_recovery(&mut self, window: &Window, now: Time, phase: RecoveryPhase) {
        if self.phase == RecoveryPhase::Open && phase != RecoveryPhase::Open {
            self.save_state_upon_loss(window);
            self.trace.recovery(now, true);
            self.phase = phase;
        }
    }

    /// `HandleRestartFromIdle`.
    #[cold]
    fn restart(&mut self, window: &mut Window, now: Time) {
        self.idle_restart = true;
        self.extra_acked_start = now;
        if self.state.probes_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(window, now);
        }
    }

    /// Stops transmissions until the next ACK, if the setting `suspension` is on.
    fn suspend(&mut self, window: &mut Window, room: u32) {
        if self.settings.suspension {
            if !self.is_suspended {
                self.save_cwnd(window);
            }
            self.is_suspended = true;
            window.cwnd = f64::from(self.in_flight + room).min(window.receive);
        }
    }

    /// Returns to Startup after a suspension.
    #[cold]
    fn resume(&mut self, window: &mut Window) {
        self.is_suspended = false;
        self.restore_cwnd(window);
        self.reset_full_bw();
        self.full_bw_reached = false;
        self.reset_short_term_model();
        self.enter(State::Startup);
    }

    /// `UpdateOnACK`.
    fn update_on_ack(&mut self, window: &mut Window, state: &Processed) {
        let now = state.now;
        self.generate_rate_sample(state);
        self.update_latest_delivery_signals();
        self.update_congestion_signals(window);
        self.update_ack_aggregation(now, window);
        self.check_full_bw();
        self.check_startup_done(window, now);
        self.check_drain_done(window, now);
        self.update_cycle(window, now);
        self.update_min_rtt(now);
        self.check_probe_rtt(window, now);
        self.advance_latest_delivery_signals();
        self.bw = self.max_bw.min(self.bw_shortterm);
        if !self.has_seen_rtt && state.rtt.is_some() {
            self.init_pacing_rate(state.rtt);
        }
        self.set_pacing_rate(self.pacing_gain);
        self.set_send_quantum();
        self.set_cwnd(window);
    }
}

impl CongestionControl for Bbr3 {
    type PacketInfo = Packet;

    fn on_sent(&mut self, window: &mut Window, sent: &Sent) -> Packet {
        if self.pacing_rate == 0.0 {
            self.begin(window, sent);
        }
        let is_first = self.in_flight == 0;
        if is_first && self.rate.is_app_limited() {
            self.restart(window, sent.now);
        }
        // a probe that repeats a segment replaces its transmission, which is not lost
        let repeats = sent.is_probe && sent.is_retransmission;
        if !repeats || is_first {
            self.in_flight += 1;
        }
        if f64::from(self.in_flight + 1) > window.cwnd {
            self.cwnd_limited[0] = true;
        }
        let gap = self.pace(sent.now);
        let packet = Packet {
            rate: self.rate.on_sent(sent.now, is_first),
            tx_in_flight: self.in_flight,
            lost: self.lost,
            #[cfg(feature = "bbr3-trace")]
            id: self.trace.next_id(),
        };
        self.trace.sent(sent, self.mss, gap);
        if sent.is_probe {
            self.suspend(window, 0);
        }
        packet
    }

    fn on_delivered(&mut self, _: &mut Window, arrival: &Arrival, newest: Packet) {
        self.arrived = arrival.segments;
        self.newest = Some(newest);
    }

    #[cfg(feature = "bbr3-trace")]
    fn on_each_delivered(&mut self, info: Packet) {
        self.trace.delivered(info.id);
    }

    /// `HandleLostPacket`.
    fn on_lost(&mut self, window: &mut Window, lost: &Lost, info: Packet) {
        self.enter_recovery(window, lost.now, lost.phase);
        #[cfg(feature = "bbr3-trace")]
        self.trace.lost(lost.now, info.id);
        self.handle_lost_packet(window, lost, &info);
    }

    fn earliest_departure(&self, now: Time) -> Time {
        self.pacer.earliest_departure(now)
    }

    fn on_ack_processed(&mut self, window: &mut Window, state: &Processed) {
        self.enter_recovery(window, state.now, state.phase);
        self.in_flight = state.in_flight;
        if self.phase != RecoveryPhase::Open && state.phase == RecoveryPhase::Open {
            self.restore_cwnd(window);
            self.trace.recovery(state.now, false);
        }
        self.phase = state.phase;
        if self.is_suspended {
            self.resume(window);
        }
        self.update_on_ack(window, state);
        self.trace_ack(state);
        self.newest = None;
        self.arrived = 0;
    }

    /// `OnEnterRTO`, before losses are declared.
    fn on_timeout(&mut self, window: &mut Window, _: u32, _: bool) {
        match self.phase {
            RecoveryPhase::Open | RecoveryPhase::Fast => self.save_state_upon_loss(window),
            RecoveryPhase::Timeout => self.save_cwnd(window),
        }
    }

    /// `OnEnterRTO`, after losses are declared.
    fn on_timeout_processed(&mut self, window: &mut Window, state: &Processed) {
        self.phase = RecoveryPhase::Timeout;
        self.in_flight = state.in_flight;
        window.cwnd = f64::from(self.in_flight + 1).min(window.receive);
        self.suspend(window, 1);
        self.cwnd = window.cwnd;
        self.trace_timeout(state.now);
    }

    fn on_app_limited(&mut self, in_flight: u32) {
        self.rate.on_app_limited(in_flight);
        self.trace.app_limited();
    }

    /// `CheckIfApplicationLimited`: the application has no more data now, and none is supplied before
    /// the next event.
    fn on_out_of_data(&mut self, _: Time) {
        if f64::from(self.in_flight + 1) <= self.cwnd {
            self.rate.on_app_limited(self.in_flight);
            self.trace.app_limited();
        }
    }

    fn on_undo(&mut self, window: &mut Window) {
        self.phase = RecoveryPhase::Open;
        self.handle_spurious_loss(window);
        self.trace.undo();
    }

    /// Processes a mark or a repaired loss as a loss, and in a probe of the bandwidth as too many.
    fn on_sign(&mut self, window: &mut Window) {
        self.note_loss(window);
        if self.is_bw_probe_sample {
            self.sample.tx_in_flight = f64::from(self.in_flight);
            self.handle_inflight_too_high(window, self.rate.delivered_time());
        }
    }

    /// Losses are processed in [`on_lost`](CongestionControl::on_lost), and marks in
    /// [`on_sign`](CongestionControl::on_sign).
    fn on_loss(&mut self, _: &mut Window, _: u32, _: CongestionSign) {}

    /// The window changes in [`on_ack_processed`](CongestionControl::on_ack_processed).
    fn on_ack(&mut self, _: &mut Window, _: NewAck) {}

    fn on_recovery_ack(&mut self, _: &mut Window, _: RecoveryAck) {}

    fn on_marks(&mut self, _: &MarkReport) {}

    fn decrease_by_marks(&mut self, _: &mut Window, _: &MarkReport, _: u32) -> bool {
        false
    }
}

#[cfg(test)]
mod cases;
