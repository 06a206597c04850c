//! BBR, version 1: sends at the measured delivery rate of the path, and keeps about two
//! bandwidth-delay products in flight.
//!
//! References: N. Cardwell, Y. Cheng, C. S. Gunn, S. H. Yeganeh, V. Jacobson, "BBR:
//! congestion-based congestion control", ACM Queue 14(5), 2016; Linux 6.12, net/ipv4/tcp_bbr.c,
//! whose names are in the comments below. This file and net/ipv4/tcp_rate.c have the same contents
//! in Linux 6.12 and 6.18 (Git objects 760941e55153 and a8f6d9d06f2e), so that this module is also
//! BBR of Linux 6.18.
//!
//! ```text
//!             Startup --3 rounds without 25 % growth--> Drain --in flight <= BDP--> ProbeBw
//!                 ^                                                                |  ^  |
//!                 '--- pipe not full --- ProbeRtt --- 200 ms with 4 segments ------|--'  |
//!                                           ^----- no new minimum RTT for 10 s ----'-----'
//!
//! state     pacing gain                             cwnd gain
//! Startup   2.89                                    2.89
//! Drain     0.35                                    2.89
//! ProbeBw   1.25, 0.75, 1, 1, 1, 1, 1, 1            2
//! ProbeRtt  1                                       cwnd = 4
//!
//! bw      = largest delivery rate of the last 10 rounds       min_rtt = least RTT of the last 10 s
//! rate    = 0.99 pacing_gain bw
//! cwnd    = cwnd_gain bw min_rtt + extra_acked + 3 bursts, rounded up to an even number
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `bandwidth.rs` | units of the bandwidth |
//! | `aggregation.rs` | allowance for aggregated ACKs (`extra_acked`) |
//! | `policer.rs` | long-term bandwidth, for paths with a token-bucket policer |
//! | `window.rs` | bandwidth-delay product and cwnd |
//!
//! Losses do not change the model, except for the long-term bandwidth. In the first round of a
//! recovery, cwnd follows packet conservation: a segment is sent for each segment that arrives. At
//! the end of the recovery, the window before the recovery is restored. BBR requires SACK and
//! RACK-TLP, and replaces proportional rate reduction (`prr`). ECN marks have no effect.
//!
//! Differs from Linux in:
//! - Bursts (TSO) are sent only with `tso`; by default segments leave one at a time. cwnd always
//!   includes the space of three bursts. A sender does not wait for a larger window to send a
//!   longer burst (`tcp_tso_should_defer`).
//! - cwnd never exceeds the receive window.
//! - Round-trip samples come only from segments that were sent once. Linux also uses timestamps.
//! - Segments are full, so that no sample is suspected of a delayed ACK (`is_ack_delayed`). Only
//!   the last segment of a message may be shorter.
//! - An ACK below the first unacknowledged segment gives no sample of the delivery rate.
//! - A retransmission on an empty path does not count as a restart after an idle time.

mod aggregation;
mod bandwidth;
mod policer;
mod window;

use super::control::{
    Arrival, CongestionControl, CongestionSign, Lost, MarkReport, NewAck, Processed, RecoveryAck,
    RecoveryPhase, Sent,
};
use super::delivery_rate::{DeliveryRate, RateSample, Snapshot};
use super::max_filter::MaxFilter;
use super::pacer::{Pacer, burst_segments};
use super::window::Window;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::notation::setting::{S, count, flag};
use crate::table;
use crate::tcp::TcpSettings;
use aggregation::Aggregation;
use bandwidth::{Bandwidth, UNIT_GAIN, WINDOW};
use policer::Policer;

table! {
    /// Parameters of BBR (congestion = "bbr").
    pub struct BbrSettings: Copy in "bbr" {
        /// If true, the window has an allowance for aggregated ACKs: it is larger by the number of segments that ACKs report together (`extra_acked`).
        ack_aggregation: bool = flag(), fallback true;
        /// If true, BBR sends at the long-term bandwidth after two intervals with equal bandwidth and at least 20 % loss, because a policer may limit the path (`lt_bw`).
        policer: bool = flag(), fallback true;
        /// Timer ticks per second of the clock with which BBR times its measurements of the minimum round-trip time: `CONFIG_HZ` of the kernel, often 250 or 1000.
        hz: u32 = count(100..=1_000), fallback 1_000;
    }
}

/// `bbr_min_rtt_win_sec`: time without a new minimum round-trip time after which it is measured
/// again.
const MIN_RTT_WINDOW: Span = Span(10 * S);

/// `bbr_probe_rtt_mode_ms`: minimum time with four segments in flight.
const PROBE_RTT: Span = Span(S / 5);

/// `bbr_high_gain`: 2/ln 2, the smallest gain with which the rate doubles per round trip. [1/256]
const HIGH_GAIN: u64 = UNIT_GAIN * 2885 / 1000 + 1;

/// `bbr_drain_gain`: the inverse of `HIGH_GAIN`. [1/256]
const DRAIN_GAIN: u64 = UNIT_GAIN * 1000 / 2885;

/// `bbr_cwnd_gain`: cwnd divided by the bandwidth-delay product in ProbeBw. [1/256]
const CWND_GAIN: u64 = UNIT_GAIN * 2;

/// `bbr_pacing_gain`: gains of the phases of ProbeBw. [1/256]
const CYCLE: [u64; 8] = [
    UNIT_GAIN * 5 / 4,
    UNIT_GAIN * 3 / 4,
    UNIT_GAIN,
    UNIT_GAIN,
    UNIT_GAIN,
    UNIT_GAIN,
    UNIT_GAIN,
    UNIT_GAIN,
];

/// `bbr_cycle_rand`: number of phases with which ProbeBw may begin: all except the phase with gain
/// 3/4.
const FIRST_PHASES: u32 = 7;

/// `bbr_full_bw_thresh`: growth per round that shows that the pipe is not full yet. [1/256]
const FULL_GROWTH: u64 = UNIT_GAIN * 5 / 4;

/// `bbr_full_bw_cnt`: number of rounds without this growth after which the pipe is full.
const FULL_ROUNDS: u32 = 3;

/// Number of segments that Linux does not pace at the beginning of a connection.
const UNPACED: u32 = 10;

/// `enum bbr_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The state of BBR.
#[derive(Clone, Debug)]
pub(super) struct Bbr {
    settings: BbrSettings,
    /// Payload of a segment. [bytes]
    mss: u64,
    /// Random numbers for the first phase of ProbeBw.
    phases: Stream,
    rate: DeliveryRate,
    /// Last sample of the delivery rate. Its time is [`Time::NEVER`] after its ACK has been
    /// processed.
    sample: RateSample,
    pacer: Pacer,
    /// `sk_pacing_rate`. It is 0 before the first transmission. [bytes/s]
    pacing_rate: u64,
    /// Number of transmissions without pacing that remain.
    unpaced: u32,
    /// `has_seen_rtt`: whether the pacing rate was computed from a round-trip time.
    has_seen_rtt: bool,
    mode: Mode,
    pacing_gain: u64,
    cwnd_gain: u64,
    /// `bw`: maximum bandwidth over rounds.
    max_bw: MaxFilter<Bandwidth>,
    /// `next_rtt_delivered`: value of `delivered` with which the current round ends.
    round_end: u32,
    /// `rtt_cnt`: number of rounds so far.
    rounds: u32,
    /// `round_start`: whether this ACK begins a round.
    round_start: bool,
    /// `full_bw`, `full_bw_cnt`: bandwidth when it last grew by a quarter, and rounds since then.
    full_bw: (Bandwidth, u32),
    /// `full_bw_reached`: whether the pipe is full.
    is_full: bool,
    /// `cycle_idx`, `cycle_mstamp`: phase of ProbeBw, and its start.
    phase: usize,
    phase_start: Time,
    /// `min_rtt_us`; `None` before the first sample. [us]
    min_rtt_us: Option<u64>,
    /// `min_rtt_stamp`: time of the minimum round-trip time.
    min_rtt_at: Time,
    /// Minimum round-trip time of the last minutes (`tcp_min_rtt`).
    path_rtt: Span,
    /// `probe_rtt_done_stamp`: tick after which ProbeRtt may end; `None` above four segments.
    probe_rtt_end: Option<u64>,
    /// `probe_rtt_round_done`: whether a round with four segments in flight has ended.
    probe_rtt_round_done: bool,
    /// `idle_restart`: whether no segment has arrived since the restart after an idle time.
    idle_restart: bool,
    /// `prior_cwnd`: window before a recovery or ProbeRtt. [packets]
    prior_cwnd: u32,
    /// `prev_ca_state`: loss recovery after the last ACK.
    last_phase: RecoveryPhase,
    /// `packet_conservation`: whether cwnd follows packet conservation.
    conserves: bool,
    aggregation: Aggregation,
    policer: Policer,
    has_tso: bool,
}

impl Bbr {
    pub(super) fn new(settings: BbrSettings, tcp: &TcpSettings) -> Bbr {
        Bbr {
            settings,
            mss: u64::from(tcp.mss_bytes),
            phases: Streams::new(0, 0).stream("bbr"),
            rate: DeliveryRate::new(),
            sample: RateSample::NONE,
            pacer: Pacer::new(),
            pacing_rate: 0,
            unpaced: UNPACED,
            has_seen_rtt: false,
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            max_bw: MaxFilter::new(Bandwidth::ZERO),
            round_end: 1,
            rounds: 0,
            round_start: false,
            full_bw: (Bandwidth::ZERO, 0),
            is_full: false,
            phase: 0,
            phase_start: Time::ZERO,
            min_rtt_us: None,
            min_rtt_at: Time::ZERO,
            path_rtt: Span(u64::MAX),
            probe_rtt_end: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            prior_cwnd: 0,
            last_phase: RecoveryPhase::Open,
            conserves: false,
            aggregation: Aggregation::new(),
            policer: Policer::new(),
            has_tso: tcp.tso,
        }
    }

    /// Sets the seed of the random numbers.
    pub(super) fn set_seed(&mut self, seed: u32) {
        self.phases = Streams::new(u64::from(seed), 0).stream("bbr");
    }

    /// `bbr_bw`: returns the estimated bandwidth of the path.
    fn bw(&self) -> Bandwidth {
        self.policer.bw().unwrap_or(self.max_bw.max())
    }

    /// `tcp_jiffies32`: returns the timer tick at a time.
    fn tick(&self, now: Time) -> u64 {
        now.0 / (S / u64::from(self.settings.hz))
    }

    /// Returns the number of timer ticks in a span.
    fn ticks(&self, span: Span) -> u64 {
        span.0.div_ceil(S / u64::from(self.settings.hz))
    }

    // -- pacing ---------------------------------------------------------------------------------

    /// `bbr_init`: begins the connection with its first transmission.
    fn begin(&mut self, window: &Window, sent: &Sent) {
        self.min_rtt_us = sent.srtt.map(|rtt| rtt.0 / 1_000);
        self.min_rtt_at = sent.now;
        if let Some(rtt) = sent.srtt {
            self.path_rtt = rtt;
        }
        self.init_pacing_rate(window, sent.srtt);
    }

    /// `bbr_init_pacing_rate_from_rtt`: paces the window over a round-trip time, or over 1 ms
    /// before the first sample.
    fn init_pacing_rate(&mut self, window: &Window, srtt: Option<Span>) {
        let rtt_us = srtt.map_or(1_000, |srtt| (srtt.0 / 1_000).max(1));
        self.has_seen_rtt |= srtt.is_some();
        let bw = Bandwidth::of(window.cwnd as u32, rtt_us);
        self.pacing_rate = bw.pacing_rate(self.mss, HIGH_GAIN);
    }

    /// `bbr_set_pacing_rate`: in Startup, the rate never decreases.
    fn set_pacing_rate(&mut self, window: &Window, srtt: Option<Span>, gain: u64) {
        let rate = self.bw().pacing_rate(self.mss, gain);
        if !self.has_seen_rtt && srtt.is_some() {
            self.init_pacing_rate(window, srtt);
        }
        if self.is_full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Returns the time between two segments at the pacing rate.
    fn gap(&mut self) -> Span {
        if self.unpaced > 1 {
            self.unpaced -= 1;
            return Span::ZERO;
        }
        Span((self.mss * S).checked_div(self.pacing_rate).unwrap_or(0))
    }

    /// `CA_EVENT_TX_START`: processes the first transmission after an idle time.
    fn restart(&mut self, window: &mut Window, sent: &Sent) {
        self.idle_restart = true;
        self.aggregation.restart(sent.now);
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(window, sent.srtt, UNIT_GAIN),
            Mode::ProbeRtt => self.check_probe_rtt_done(window, sent.now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    // -- the model ------------------------------------------------------------------------------

    /// `bbr_update_bw`: counts rounds, and adds a sample to the maximum bandwidth.
    #[inline(always)]
    fn update_bw(&mut self, sample: &RateSample, interval_us: u64, state: &Processed) {
        if sample.prior_delivered >= self.round_end {
            self.round_end = self.rate.delivered();
            self.rounds += 1;
            self.round_start = true;
            self.conserves = false;
        }
        self.sample_policer(state, sample.is_app_limited, state.newly_lost);
        let bw = Bandwidth::of(sample.delivered, interval_us);
        if !sample.is_app_limited || bw >= self.max_bw.max() {
            self.max_bw.add(WINDOW, self.rounds, bw);
        }
    }

    /// `bbr_lt_bw_sampling`: `losses` segments were lost.
    #[inline(always)]
    fn sample_policer(&mut self, state: &Processed, is_app_limited: bool, losses: u32) {
        if self.settings.policer && (losses > 0 || !self.policer.is_idle()) {
            self.on_policer_sample(state, is_app_limited, losses);
        }
    }

    #[inline(never)]
    fn on_policer_sample(&mut self, state: &Processed, is_app_limited: bool, losses: u32) {
        let event = policer::Event {
            delivered_time: self.rate.delivered_time(),
            delivered: self.rate.delivered(),
            lost: state.lost,
            losses,
            round_start: self.round_start,
            is_app_limited,
            probes_bw: self.mode == Mode::ProbeBw,
        };
        match self.policer.on_sample(&event, self.mss) {
            policer::Change::None => {}
            policer::Change::Begins => self.pacing_gain = UNIT_GAIN,
            policer::Change::Ends => self.begin_probe_bw(),
        }
    }

    /// `bbr_is_next_cycle_phase`: returns whether the phase of ProbeBw ends.
    #[inline(always)]
    fn phase_ends(&self, state: &Processed) -> bool {
        let elapsed_us = self.rate.delivered_time().since(self.phase_start).0 / 1_000;
        let is_full_length = self.min_rtt_us.is_some_and(|rtt_us| elapsed_us > rtt_us);
        if self.pacing_gain == UNIT_GAIN {
            return is_full_length;
        }
        self.probe_ends(state, is_full_length)
    }

    /// Returns whether the phase of ProbeBw with a pacing gain above or below 1 ends.
    /// `is_full_length` says whether the phase is longer than the minimum round-trip time.
    #[inline(never)]
    fn probe_ends(&self, state: &Processed, is_full_length: bool) -> bool {
        let in_network = self.in_network_at_departure(state.now, state.in_flight_before);
        let bw = self.max_bw.max();
        if self.pacing_gain > UNIT_GAIN {
            let target = self.target_in_flight(bw, self.pacing_gain);
            return is_full_length && (state.newly_lost > 0 || in_network >= target);
        }
        is_full_length || in_network <= self.target_in_flight(bw, UNIT_GAIN)
    }

    /// `bbr_advance_cycle_phase`: begins the next phase of ProbeBw.
    fn next_phase(&mut self) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_start = self.rate.delivered_time();
    }

    /// `bbr_reset_probe_bw_mode`: enters ProbeBw with a random phase, but not the phase with gain
    /// 3/4.
    fn begin_probe_bw(&mut self) {
        self.mode = Mode::ProbeBw;
        self.phase = CYCLE.len() - 1 - self.phases.up_to(FIRST_PHASES - 1) as usize;
        self.next_phase();
    }

    /// `bbr_check_full_bw_reached`: the pipe is full after three rounds in which the bandwidth has
    /// not grown by a quarter.
    fn check_full(&mut self, sample: &RateSample) {
        if self.is_full || !self.round_start || sample.is_app_limited {
            return;
        }
        let max = self.max_bw.max();
        if max >= self.full_bw.0.times(FULL_GROWTH) {
            self.full_bw = (max, 0);
            return;
        }
        self.full_bw.1 += 1;
        self.is_full = self.full_bw.1 >= FULL_ROUNDS;
    }

    /// `bbr_check_drain`: leaves Startup when the pipe is full, and Drain when the queue is empty.
    fn check_drain(&mut self, window: &mut Window, state: &Processed) {
        let bw = self.max_bw.max();
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
            window.ssthresh = f64::from(self.target_in_flight(bw, UNIT_GAIN));
        }
        if self.mode == Mode::Drain
            && self.in_network_at_departure(state.now, state.in_flight)
                <= self.target_in_flight(bw, UNIT_GAIN)
        {
            self.begin_probe_bw();
        }
    }

    /// `bbr_update_min_rtt`: updates the minimum round-trip time, and enters and leaves ProbeRtt.
    fn update_min_rtt(&mut self, window: &mut Window, state: &Processed) {
        let has_expired = state.now.since(self.min_rtt_at) >= MIN_RTT_WINDOW
            && self.tick(state.now) > self.tick(self.min_rtt_at) + self.ticks(MIN_RTT_WINDOW);
        if let Some(rtt_us) = state.rtt.map(|rtt| rtt.0 / 1_000)
            && (has_expired || self.min_rtt_us.is_none_or(|min| rtt_us < min))
        {
            self.min_rtt_us = Some(rtt_us);
            self.min_rtt_at = state.now;
        }
        if has_expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window);
            self.probe_rtt_end = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.stay_in_probe_rtt(window, state);
        }
    }

    fn stay_in_probe_rtt(&mut self, window: &mut Window, state: &Processed) {
        // the low rates in this state are not the rate of the path
        self.rate.on_app_limited(state.in_flight);
        if self.probe_rtt_end.is_none() {
            if state.in_flight <= window::MIN_CWND {
                let end = self.tick(state.now) + self.ticks(PROBE_RTT);
                self.probe_rtt_end = Some(end);
                self.probe_rtt_round_done = false;
                self.round_end = self.rate.delivered();
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(window, state.now);
        }
    }

    /// `bbr_check_probe_rtt_done`: leaves ProbeRtt if its time is over.
    fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time) {
        if self.probe_rtt_end.is_none_or(|end| self.tick(now) <= end) {
            return;
        }
        self.min_rtt_at = now;
        window.cwnd = window.cwnd.max(f64::from(self.prior_cwnd));
        match self.is_full {
            true => self.begin_probe_bw(),
            false => self.mode = Mode::Startup,
        }
    }

    /// `bbr_update_gains`: sets the gains of the pacing rate and of cwnd for the mode.
    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.bw().is_some() => (UNIT_GAIN, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.phase], CWND_GAIN),
            Mode::ProbeRtt => (UNIT_GAIN, UNIT_GAIN),
        };
    }

    /// `bbr_update_model`: updates the model with an ACK, and sets the pacing rate and cwnd.
    fn update_model(&mut self, window: &mut Window, state: &Processed) {
        let sample = &{ self.sample };
        self.sample.now = Time::NEVER;
        let is_new = sample.now == state.now;
        self.path_rtt = self.path_rtt.min(state.min_rtt);
        // a sample over less than the minimum round-trip time is too large
        let interval_us = sample.interval.0 / 1_000;
        let is_valid = is_new && interval_us > 0 && interval_us >= self.path_rtt.0 / 1_000;
        self.round_start = false;
        if is_valid {
            self.update_bw(sample, interval_us, state);
            if self.settings.ack_aggregation {
                let (time, bw) = (self.rate.delivered_time(), self.bw());
                let newly = sample.newly_delivered;
                let cwnd = window.cwnd as u32;
                (self.aggregation).on_ack(time, newly, bw, self.round_start, cwnd);
            }
        }
        if self.mode == Mode::ProbeBw && self.phase_ends(state) {
            self.next_phase();
        }
        if is_valid {
            self.check_full(sample);
        }
        self.check_drain(window, state);
        self.update_min_rtt(window, state);
        if is_new && sample.delivered > 0 {
            self.idle_restart = false;
        }
        self.update_gains();
        let newly_delivered = if is_new { sample.newly_delivered } else { 0 };
        self.set_pacing_rate(window, state.srtt, self.pacing_gain);
        self.set_cwnd(window, state, newly_delivered);
    }
}

impl CongestionControl for Bbr {
    type PacketInfo = Snapshot;

    fn on_sent(&mut self, window: &mut Window, sent: &Sent) -> Snapshot {
        let is_first = sent.flight == 1 && !sent.is_retransmission;
        if self.pacing_rate == 0 {
            self.begin(window, sent);
        }
        if is_first && self.rate.is_app_limited() {
            self.restart(window, sent);
        }
        let burst = match self.has_tso {
            true => burst_segments(
                self.pacing_rate,
                self.path_rtt,
                self.mss as u32,
                self.min_burst(),
            ),
            false => 1,
        };
        let gap = self.gap();
        self.pacer.on_sent(sent.now, gap, burst);
        self.rate.on_sent(sent.now, is_first)
    }

    fn on_delivered(&mut self, _: &mut Window, arrival: &Arrival, newest: Snapshot) {
        let Arrival { now, segments } = *arrival;
        self.sample = self.rate.on_delivered(now, segments, newest);
    }

    fn on_lost(&mut self, _: &mut Window, _: &Lost, _: Snapshot) {}

    fn earliest_departure(&self, now: Time) -> Time {
        self.pacer.earliest_departure(now)
    }

    /// `bbr_main`: updates the model, the pacing rate and cwnd after an ACK.
    fn on_ack_processed(&mut self, window: &mut Window, state: &Processed) {
        self.update_model(window, state);
    }

    /// `bbr_set_state`: sets cwnd after a retransmission timeout (`tcp_enter_loss`).
    fn on_timeout_processed(&mut self, window: &mut Window, state: &Processed) {
        window.cwnd = f64::from(state.in_flight + 1).min(window.receive);
        self.last_phase = RecoveryPhase::Timeout;
        self.full_bw.0 = Bandwidth::ZERO;
        self.round_start = true;
        self.sample_policer(state, false, 1);
    }

    fn on_app_limited(&mut self, in_flight: u32) {
        self.rate.on_app_limited(in_flight);
    }

    /// `bbr_undo_cwnd`: searches for the full pipe and for a policer again.
    fn on_undo(&mut self, _: &mut Window) {
        self.full_bw = (Bandwidth::ZERO, 0);
        self.policer.reset();
    }

    /// The window changes in [`on_ack_processed`](CongestionControl::on_ack_processed).
    fn on_ack(&mut self, _: &mut Window, _: NewAck) {}

    fn on_recovery_ack(&mut self, _: &mut Window, _: RecoveryAck) {}

    /// `bbr_ssthresh`: stores the window before a recovery.
    fn on_loss(&mut self, window: &mut Window, _: u32, _: CongestionSign) {
        self.save_cwnd(window);
    }

    fn on_timeout(&mut self, window: &mut Window, _: u32, first: bool) {
        if first {
            self.save_cwnd(window);
        }
    }

    fn on_marks(&mut self, _: &MarkReport) {}

    fn decrease_by_marks(&mut self, _: &mut Window, _: &MarkReport, _: u32) -> bool {
        false
    }
}

#[cfg(test)]
mod link_tests;
#[cfg(test)]
mod tests;
