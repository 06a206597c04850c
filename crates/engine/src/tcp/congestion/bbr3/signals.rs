//! The signals of BBR v3: samples of the delivery rate, rounds, bandwidth, aggregated ACKs and losses.
//!
//! Reference: draft-ietf-ccwg-bbr, "Delivery Rate Samples" and "Updating Network Path Model
//! Parameters". Docstrings have the names of its functions.

use super::state::{Sample, State, Undo};
use super::{BETA, Bbr3, Packet, RecoveryPhase, STARTUP_PACING_GAIN, UNKNOWN};
use crate::kernel::time::{Span, Time};
use crate::tcp::congestion::control::{Lost, Processed};
use crate::tcp::congestion::window::Window;

/// `BBR.ExtraAckedFilterLen`: number of rounds over which the largest aggregation is used.
const EXTRA_ACKED_ROUNDS: u32 = 10;

/// `BBRStartupFullLossCnt`: number of lost ranges of segments in a round that end Startup.
const STARTUP_LOST_RANGES: u32 = 6;

impl Bbr3 {
    /// `UpdateRateSample` and `GenerateRateSample`.
    #[inline]
    pub(super) fn generate_rate_sample(&mut self, state: &Processed) {
        self.sample = Sample::NONE;
        self.sample.rtt = state.rtt;
        if let Some(rtt) = state.rtt {
            self.connection_rtt = self.connection_rtt.min(rtt);
        }
        let Some(newest) = self.newest else { return };
        let sample = (self.rate).on_delivered(state.now, self.arrived, newest.rate);
        let is_long = sample.interval >= self.connection_rtt || self.connection_rtt == UNKNOWN;
        self.sample = Sample {
            delivery_rate: match is_long && sample.interval.0 > 0 {
                true => f64::from(sample.delivered) / sample.interval.nanoseconds(),
                false => 0.0,
            },
            newly_acked: f64::from(self.arrived),
            delivered: sample.delivered,
            prior_delivered: sample.prior_delivered,
            tx_in_flight: f64::from(newest.tx_in_flight),
            lost: f64::from(self.lost - newest.lost),
            rtt: state.rtt,
            has_data: true,
            is_app_limited: sample.is_app_limited,
        };
    }

    /// `UpdateLatestDeliverySignals`.
    #[inline]
    pub(super) fn update_latest_delivery_signals(&mut self) {
        self.loss_round_start = false;
        let sample = &self.sample;
        self.bw_latest = self.bw_latest.max(sample.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        if sample.has_data && sample.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = self.rate.delivered();
            self.loss_round_start = true;
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    #[inline]
    pub(super) fn advance_latest_delivery_signals(&mut self) {
        if self.loss_round_start {
            self.bw_latest = self.sample.delivery_rate;
            self.inflight_latest = self.sample.delivered;
        }
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0;
    }

    /// `UpdateCongestionSignals`.
    #[inline]
    pub(super) fn update_congestion_signals(&mut self, window: &Window) {
        self.update_max_bw();
        if self.loss_round_start {
            self.adapt_lower_bounds(window);
            self.is_loss_in_round = false;
        }
    }

    /// `UpdateMaxBw` and `UpdateRound`.
    #[inline]
    fn update_max_bw(&mut self) {
        self.round_start =
            self.sample.has_data && self.sample.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.rounds += 1;
            self.rounds_since_probe_up += 1;
            self.cwnd_limited = [false, self.cwnd_limited[0]];
        }
        let rate = self.sample.delivery_rate;
        if rate > 0.0 && (rate >= self.max_bw || !self.sample.is_app_limited) {
            self.cycle_bw[1] = self.cycle_bw[1].max(rate);
            self.max_bw = self.cycle_bw[0].max(self.cycle_bw[1]);
        }
    }

    /// `StartRound`.
    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.rate.delivered();
    }

    /// `AdvanceMaxBwFilter`.
    pub(super) fn advance_max_bw_filter(&mut self) {
        self.cycle_bw = [self.cycle_bw[1], 0.0];
    }

    /// `AdaptLowerBoundsFromCongestion`.
    fn adapt_lower_bounds(&mut self, window: &Window) {
        if !self.is_loss_in_round || self.state.accelerates() {
            return;
        }
        if self.bw_shortterm == f64::INFINITY {
            self.bw_shortterm = self.max_bw;
        }
        if self.inflight_shortterm == f64::INFINITY {
            self.inflight_shortterm = window.cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(BETA * self.bw_shortterm);
        self.inflight_shortterm =
            f64::from(self.inflight_latest).max(BETA * self.inflight_shortterm);
    }

    /// `ResetShortTermModel`.
    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// `UpdateACKAggregation`.
    #[inline]
    pub(super) fn update_ack_aggregation(&mut self, now: Time, window: &Window) {
        let mut expected = self.bw * now.since(self.extra_acked_start).nanoseconds();
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_start = now;
            expected = 0.0;
        }
        self.extra_acked_delivered += self.sample.newly_acked;
        let extra = (self.extra_acked_delivered - expected).min(window.cwnd);
        let rounds = match self.full_bw_reached {
            true => EXTRA_ACKED_ROUNDS,
            false => 1,
        };
        self.extra_acked.add(rounds, self.rounds, extra);
    }

    /// `CheckFullBWReached`.
    #[inline]
    pub(super) fn check_full_bw(&mut self) {
        if self.full_bw_now || !self.round_start || self.sample.is_app_limited {
            return;
        }
        if self.sample.delivery_rate >= self.full_bw * 1.25 {
            self.restart_full_bw();
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// `ResetFullBW`.
    pub(super) fn reset_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// Begins the search for the full pipe at the present delivery rate.
    pub(super) fn restart_full_bw(&mut self) {
        self.reset_full_bw();
        self.full_bw = self.sample.delivery_rate;
    }

    /// `CheckStartupHighLoss`.
    #[inline]
    pub(super) fn check_startup_high_loss(&mut self) {
        if !self.loss_round_start {
            return;
        }
        let ranges = std::mem::take(&mut self.lost_ranges);
        if self.full_bw_reached
            || self.phase != RecoveryPhase::Fast
            || ranges < STARTUP_LOST_RANGES
            || !self.is_inflight_too_high()
        {
            return;
        }
        self.undo.state = Some(State::Startup);
        self.full_bw_now = true;
        self.full_bw_reached = true;
        self.inflight_longterm = self.bdp.max(f64::from(self.inflight_latest));
    }

    // -- losses ---------------------------------------------------------------------------------

    /// `NoteLoss`.
    pub(super) fn note_loss(&mut self, window: &Window) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.rate.delivered();
            if self.phase == RecoveryPhase::Open {
                self.save_state_upon_loss(window);
            }
        }
        self.is_loss_in_round = true;
    }

    /// `HandleLostPacket`.
    pub(super) fn handle_lost_packet(&mut self, window: &mut Window, lost: &Lost, packet: &Packet) {
        self.lost += 1;
        self.in_flight = self.in_flight.saturating_sub(1);
        self.note_loss(window);
        self.lost_ranges += u32::from(lost.number != self.lost_end);
        self.lost_end = lost.number + 1;
        if !self.is_bw_probe_sample {
            return;
        }
        self.sample.tx_in_flight = f64::from(packet.tx_in_flight);
        self.sample.lost = f64::from(self.lost - packet.lost);
        self.sample.is_app_limited = packet.rate.is_app_limited();
        if self.is_inflight_too_high() {
            self.sample.tx_in_flight = self.inflight_at_loss();
            self.handle_inflight_too_high(window, lost.now);
        }
    }

    /// `IsInflightTooHigh`.
    #[inline]
    pub(super) fn is_inflight_too_high(&self) -> bool {
        self.sample.lost > self.sample.tx_in_flight * self.settings.loss_threshold
    }

    /// `InflightAtLoss`: returns the data in flight with which the loss exceeded the threshold.
    fn inflight_at_loss(&self) -> f64 {
        let threshold = self.settings.loss_threshold;
        let inflight_prev = self.sample.tx_in_flight - 1.0;
        let lost_prev = self.sample.lost - 1.0;
        inflight_prev + (threshold * inflight_prev - lost_prev) / (1.0 - threshold)
    }

    /// `HandleInflightTooHigh`.
    pub(super) fn handle_inflight_too_high(&mut self, window: &Window, now: Time) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !self.sample.is_app_limited {
            let target = self.target_inflight(window);
            self.inflight_longterm = self.sample.tx_in_flight.max(target * BETA);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(now);
        }
    }

    /// `SaveStateUponLoss`.
    pub(super) fn save_state_upon_loss(&mut self, window: &Window) {
        self.save_cwnd(window);
        self.undo = Undo {
            state: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// `HandleSpuriousLossDetection`.
    #[cold]
    pub(super) fn handle_spurious_loss(&mut self, window: &mut Window) {
        self.restore_cwnd(window);
        self.is_loss_in_round = false;
        self.reset_full_bw();
        let undo = self.undo;
        self.bw_shortterm = self.bw_shortterm.max(undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(undo.inflight_longterm);
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.enter(State::Startup);
                }
            }
            Some(State::Up) if self.state != State::Up && self.state != State::ProbeRtt => {
                self.start_refill();
            }
            _ => {}
        }
        self.undo.state = None;
    }

    // -- pacing rate before the first sample ----------------------------------------------------

    /// `InitPacingRate`.
    #[cold]
    pub(super) fn init_pacing_rate(&mut self, srtt: Option<Span>) {
        let rtt = srtt.map_or(Span(1_000_000), |srtt| Span(srtt.0.max(1)));
        self.has_seen_rtt |= srtt.is_some();
        self.pacing_rate = STARTUP_PACING_GAIN * self.initial_cwnd / rtt.nanoseconds();
    }
}
