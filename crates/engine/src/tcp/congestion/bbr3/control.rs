//! The outputs of BBR v3: pacing rate, burst and congestion window.
//!
//! Reference: draft-ietf-ccwg-bbr, "Updating Control Parameters". Docstrings have the names of its
//! functions.

use super::{Bbr3, MIN_PIPE_CWND, RecoveryPhase, State};
use crate::kernel::time::{Span, Time};
use crate::tcp::congestion::window::Window;

/// Part of the bandwidth that the pacing rate uses (`BBR.PacingMarginPercent`).
const MARGIN: f64 = 0.99;

/// Length of a burst. [ns]
const BURST_NS: f64 = 1e6;

/// Largest burst. [bytes]
const MAX_BURST_BYTES: f64 = 65_536.0;

/// Smallest burst. [packets]
const MIN_BURST: f64 = 2.0;

/// Number of bursts that end systems hold.
const BURSTS_AT_ENDS: f64 = 3.0;

impl Bbr3 {
    /// Sets the departure time of the next segment after a transmission at `now`. Returns the time
    /// between two segments at the pacing rate.
    #[inline]
    pub(super) fn pace(&mut self, now: Time) -> Span {
        let gap = Span::from_nanoseconds(1.0 / self.pacing_rate);
        match self.has_tso {
            false => self.pacer.on_sent_singly(now, gap),
            true => self.pacer.on_sent(now, gap, self.send_quantum as u32),
        }
        gap
    }

    /// `SetPacingRateWithGain`.
    #[inline]
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * MARGIN;
        if rate > self.pacing_rate || self.full_bw_reached && rate > 0.0 {
            self.pacing_rate = rate;
        }
    }

    /// `SetSendQuantum`.
    #[inline]
    pub(super) fn set_send_quantum(&mut self) {
        let quantum = (self.pacing_rate * BURST_NS).min(MAX_BURST_BYTES / self.mss);
        self.send_quantum = quantum.max(MIN_BURST);
    }

    /// `BDPMultiple` at the bandwidth `bw`.
    #[inline]
    fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        match self.knows_rtt() {
            true => gain * (bw * self.min_rtt.nanoseconds()),
            false => self.initial_cwnd,
        }
    }

    /// `QuantizationBudget`.
    #[inline]
    fn quantization_budget(&self, inflight: f64) -> f64 {
        let least = (BURSTS_AT_ENDS * self.send_quantum).max(MIN_PIPE_CWND);
        match self.state {
            State::Up => inflight.max(least) + 2.0,
            _ => inflight.max(least),
        }
    }

    /// `Inflight` at the bandwidth `bw`.
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        let gain = State::ProbeRtt.gains().1;
        self.bdp_multiple(self.bw, gain).max(MIN_PIPE_CWND)
    }

    /// `SaveCwnd`.
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let is_usual = self.phase == RecoveryPhase::Open && self.state != State::ProbeRtt;
        self.prior_cwnd = match is_usual {
            true => window.cwnd,
            false => self.prior_cwnd.max(window.cwnd),
        };
    }

    /// `RestoreCwnd`.
    pub(super) fn restore_cwnd(&self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.prior_cwnd);
    }

    /// `SetCwnd`.
    #[inline]
    pub(super) fn set_cwnd(&mut self, window: &mut Window) {
        if self.knows_rtt() {
            self.bdp = self.bw * self.min_rtt.nanoseconds();
        }
        let target = self.bdp_multiple(self.bw, self.cwnd_gain) + self.extra_acked.max();
        self.max_inflight = self.quantization_budget(target);
        let grown = window.cwnd + self.sample.newly_acked;
        // the first value of `delivered` is 1
        let is_new = f64::from(self.rate.delivered()) < self.initial_cwnd + 1.0;
        let mut cwnd = match self.full_bw_reached {
            true => grown.min(self.max_inflight),
            false if window.cwnd < self.max_inflight || is_new => grown,
            false => window.cwnd,
        };
        cwnd = cwnd.max(MIN_PIPE_CWND);
        if self.state == State::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        cwnd = cwnd.min(self.model_cap());
        window.cwnd = cwnd.min(window.receive);
        self.cwnd = window.cwnd;
    }

    /// `BoundCwndForModel`: returns the largest window that the model permits.
    #[inline]
    fn model_cap(&self) -> f64 {
        let cap = match self.state {
            State::Startup | State::Drain => f64::INFINITY,
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
        };
        cap.min(self.inflight_shortterm).max(MIN_PIPE_CWND)
    }
}
