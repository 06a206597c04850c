//! The state machine of BBR v3: Startup, Drain, the cycle of ProbeBW, and ProbeRTT.
//!
//! Reference: draft-ietf-ccwg-bbr, "State Machine Operation". Docstrings have the names of its
//! functions.

use super::{
    AckPhase, Bbr3, HEADROOM, MIN_PIPE_CWND, MIN_RTT_FILTER, PROBE_RTT_DURATION,
    PROBE_RTT_INTERVAL, STARTUP_PACING_GAIN, State, UNKNOWN,
};
use crate::kernel::time::{Span, Time};
use crate::notation::setting::S;
use crate::tcp::congestion::window::Window;

/// Largest number of rounds of Drain.
const DRAIN_ROUNDS: u32 = 3;

/// Number of rounds after which the bandwidth is probed at the latest (T_reno_bound).
const RENO_ROUNDS: f64 = 63.0;

/// Largest number of doublings of the growth of inflight_longterm.
const MAX_UP_ROUNDS: u32 = 30;

impl State {
    /// Returns the pacing gain and the cwnd gain of this state.
    pub(super) const fn gains(self) -> (f64, f64) {
        match self {
            State::Startup => (STARTUP_PACING_GAIN, 2.0),
            State::Drain => (0.5, 2.0),
            State::Down => (0.9, 2.0),
            State::Cruise | State::Refill => (1.0, 2.0),
            State::Up => (1.25, 2.25),
            State::ProbeRtt => (1.0, 0.5),
        }
    }

    /// `IsInAProbeBWState`.
    #[inline]
    pub(super) fn probes_bw(self) -> bool {
        matches!(
            self,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }

    /// `IsProbingBW`.
    #[inline]
    pub(super) fn accelerates(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

impl Bbr3 {
    /// Enters a state, with its gains.
    pub(super) fn enter(&mut self, state: State) {
        self.state = state;
        (self.pacing_gain, self.cwnd_gain) = state.gains();
    }

    /// `CheckStartupDone` and `EnterDrain`.
    #[inline]
    pub(super) fn check_startup_done(&mut self, _: &mut Window, _: Time) {
        if self.state == State::Startup {
            self.check_startup_high_loss();
            if self.full_bw_reached {
                self.enter(State::Drain);
                self.drain_start_round = self.rounds;
            }
        }
    }

    /// `CheckDrainDone` and `EnterProbeBW`.
    #[inline]
    pub(super) fn check_drain_done(&mut self, _: &mut Window, now: Time) {
        if self.state == State::Drain
            && (f64::from(self.in_flight) <= self.inflight(self.bw, 1.0)
                || self.rounds > self.drain_start_round + DRAIN_ROUNDS)
        {
            self.start_down(now);
        }
    }

    // -- the cycle of ProbeBW -------------------------------------------------------------------

    /// `StartProbeBW_DOWN` and `PickProbeWait`.
    pub(super) fn start_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = f64::INFINITY;
        self.rounds_since_probe_up = (2.0 * self.draw()) as u32;
        let more = Span::from_nanoseconds(self.draw() * S as f64);
        self.bw_probe_wait = Span(2 * S) + more;
        self.cycle_start = now;
        self.ack_phase = AckPhase::Stopping;
        self.start_round();
        self.enter(State::Down);
    }

    /// Returns a random number in [0, 1).
    fn draw(&mut self) -> f64 {
        let drawn = self.draws.unit();
        self.trace.drawn(drawn);
        drawn
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.enter(State::Refill);
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, window: &Window) {
        self.ack_phase = AckPhase::Starting;
        self.start_round();
        self.restart_full_bw();
        self.enter(State::Up);
        self.raise_inflight_longterm_slope(window);
    }

    /// `UpdateProbeBWCyclePhase`.
    #[inline]
    pub(super) fn update_cycle(&mut self, window: &mut Window, now: Time) {
        if !self.full_bw_reached || self.adapt_long_term_model(window) {
            return;
        }
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe_bw(window, now) => {
                self.start_refill();
            }
            State::Down if self.is_time_to_cruise() => self.enter(State::Cruise),
            State::Refill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_up(window);
            }
            State::Up if self.is_time_to_go_down(window) => {
                self.prev_probe_too_high = false;
                self.start_down(now);
            }
            _ => {}
        }
    }

    /// `IsTimeToProbeBW` and `IsRenoCoexistenceProbeTime`.
    #[inline]
    fn is_time_to_probe_bw(&self, window: &Window, now: Time) -> bool {
        now > self.cycle_start + self.bw_probe_wait
            || f64::from(self.rounds_since_probe_up)
                >= self.target_inflight(window).min(RENO_ROUNDS)
    }

    /// `TargetInflight`.
    #[inline]
    pub(super) fn target_inflight(&self, window: &Window) -> f64 {
        self.bdp.min(window.cwnd)
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self) -> bool {
        let in_flight = f64::from(self.in_flight);
        in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight(self.max_bw, 1.0)
    }

    /// `InflightWithHeadroom`.
    #[inline]
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm == f64::INFINITY {
            return f64::INFINITY;
        }
        let headroom = (HEADROOM * self.inflight_longterm).max(1.0);
        (self.inflight_longterm - headroom).max(MIN_PIPE_CWND)
    }

    /// C.is_cwnd_limited.
    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited[0] || self.cwnd_limited[1]
    }

    /// `IsTimeToGoDown`. A probe that goes down early is recorded.
    fn is_time_to_go_down(&mut self, window: &Window) -> bool {
        if self.prev_probe_too_high && f64::from(self.in_flight) >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && window.cwnd >= self.inflight_longterm {
            self.restart_full_bw();
            return false;
        }
        self.full_bw_now
    }

    /// `AdaptLongTermModel`: returns whether the state has changed.
    #[inline]
    fn adapt_long_term_model(&mut self, window: &Window) -> bool {
        if self.round_start {
            let phase = self.ack_phase;
            match phase {
                AckPhase::Starting => self.ack_phase = AckPhase::Feedback,
                AckPhase::Stopping if self.end_probe() => return true,
                _ => {}
            }
        }
        if self.inflight_longterm == f64::INFINITY || self.is_inflight_too_high() {
            return false;
        }
        self.inflight_longterm = self.inflight_longterm.max(self.sample.tx_in_flight);
        if self.state == State::Up {
            self.probe_inflight_longterm_upward(window);
        }
        false
    }

    /// Ends the samples of a probe of the bandwidth. Returns whether the next probe begins.
    fn end_probe(&mut self) -> bool {
        self.is_bw_probe_sample = false;
        self.ack_phase = AckPhase::Init;
        if !self.state.probes_bw() {
            return false;
        }
        if !self.sample.is_app_limited {
            self.advance_max_bw_filter();
        }
        let is_safe = self.prev_probe_precautionary && !self.prev_probe_too_high;
        if is_safe {
            self.start_refill();
        }
        is_safe
    }

    /// `RaiseInflightLongtermSlope`.
    fn raise_inflight_longterm_slope(&mut self, window: &Window) {
        let growth = f64::from(1_u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(MAX_UP_ROUNDS);
        self.probe_up_acked_per_inc = (window.cwnd / growth).max(1.0);
    }

    /// `ProbeInflightLongtermUpward`.
    fn probe_inflight_longterm_upward(&mut self, window: &Window) {
        if !self.is_cwnd_limited() || window.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += self.sample.newly_acked;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = libm::floor(self.bw_probe_up_acked / self.probe_up_acked_per_inc);
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta;
        }
        if self.round_start {
            self.raise_inflight_longterm_slope(window);
        }
    }

    // -- ProbeRTT -------------------------------------------------------------------------------

    /// `UpdateMinRTT`.
    #[inline]
    pub(super) fn update_min_rtt(&mut self, now: Time) {
        self.probe_rtt_expired = now > self.probe_rtt_min_at + PROBE_RTT_INTERVAL;
        if let Some(rtt) = self.sample.rtt
            && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            self.probe_rtt_min_delay = rtt;
            self.probe_rtt_min_at = now;
        }
        let has_expired = now > self.min_rtt_at + MIN_RTT_FILTER;
        if self.probe_rtt_min_delay < self.min_rtt || has_expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_at = self.probe_rtt_min_at;
        }
    }

    /// `CheckProbeRTT`.
    #[inline]
    pub(super) fn check_probe_rtt(&mut self, window: &mut Window, now: Time) {
        if self.probe_rtt_expired && self.state != State::ProbeRtt && !self.idle_restart {
            self.enter(State::ProbeRtt);
            self.save_cwnd(window);
            self.probe_rtt_end = None;
            self.ack_phase = AckPhase::Stopping;
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(window, now);
        }
        if self.sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// `HandleProbeRTT`.
    #[cold]
    fn handle_probe_rtt(&mut self, window: &mut Window, now: Time) {
        self.rate.on_app_limited(self.in_flight);
        if self.probe_rtt_end.is_none() {
            if f64::from(self.in_flight) <= self.probe_rtt_cwnd() {
                self.probe_rtt_end = Some(now + PROBE_RTT_DURATION);
                self.probe_rtt_round_done = false;
                self.start_round();
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(window, now);
        }
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT`.
    #[cold]
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time) {
        if self.probe_rtt_end.is_none_or(|end| now <= end) {
            return;
        }
        self.probe_rtt_min_at = now;
        self.restore_cwnd(window);
        self.reset_short_term_model();
        match self.full_bw_reached {
            true => {
                self.start_down(now);
                self.enter(State::Cruise);
            }
            false => self.enter(State::Startup),
        }
    }

    /// Returns whether a round-trip time is known.
    #[inline]
    pub(super) fn knows_rtt(&self) -> bool {
        self.min_rtt != UNKNOWN
    }
}
