//! The events that a sender passes to a congestion control that attaches a state to each
//! transmission: the state of the sender after an ACK or a timeout, and pauses of the application.
//!
//! Reference: Linux 6.12, `tcp_cong_control` in net/ipv4/tcp_input.c and
//! `tcp_rate_check_app_limited` in net/ipv4/tcp_rate.c.

use super::board::Board;
use super::rack_tlp::RackTlp;
use super::{Recovery, Sender};
use crate::kernel::time::Time;
use crate::tcp::congestion::{Processed, RecoveryPhase};

/// The state of a sender before an ACK or a timeout.
#[derive(Clone, Copy)]
pub(super) struct Before {
    in_flight: u32,
    losses: u32,
}

impl Before {
    pub(super) fn of(timed: &RackTlp) -> Before {
        Before {
            in_flight: timed.rack.in_flight(),
            losses: timed.rack.losses(),
        }
    }
}

impl Sender {
    /// Returns whether the congestion control draws random numbers.
    pub fn draws_random_numbers(&self) -> bool {
        self.congestion.draws_random_numbers()
    }

    /// Sets the seed of the random numbers of the congestion control.
    pub fn set_seed(&mut self, seed: u32) {
        self.congestion.set_seed(seed);
    }

    /// Returns the state of the sender after an ACK or a timeout, without a round-trip sample.
    fn processed(&self, now: Time, before: Before, timed: &RackTlp) -> Processed {
        let losses = timed.rack.losses();
        Processed {
            now,
            in_flight_before: before.in_flight,
            in_flight: timed.rack.in_flight(),
            newly_lost: losses - before.losses,
            lost: losses,
            phase: self.phase(),
            rtt: None,
            min_rtt: timed.rack.min_rtt(),
            srtt: self.rtt.srtt(),
        }
    }

    fn phase(&self) -> RecoveryPhase {
        match self.recovery {
            Recovery::Open { .. } => RecoveryPhase::Open,
            Recovery::Fast { .. } => RecoveryPhase::Fast,
            Recovery::Careful { .. } => RecoveryPhase::Timeout,
        }
    }

    /// Passes newly lost segments to the congestion control, if it processes losses.
    #[inline]
    pub(super) fn report_losses(&mut self, now: Time, timed: &mut RackTlp) {
        if !timed.rack.newly_lost.is_empty() {
            let phase = self.phase();
            (self.congestion).on_lost(now, phase, &timed.rack.newly_lost);
            timed.rack.newly_lost.clear();
        }
    }

    /// Passes the losses and the end of the processing of an ACK to the congestion control.
    #[inline(never)]
    pub(super) fn report_ack(&mut self, now: Time, before: Before, timed: &mut RackTlp) {
        self.report_losses(now, timed);
        let rtt = timed.rack.sent_once().map(|sent| now.since(sent));
        let state = Processed {
            rtt,
            ..self.processed(now, before, timed)
        };
        self.congestion.on_ack_processed(&state);
    }

    /// Passes the losses and the end of the processing of a retransmission timeout to the congestion
    /// control.
    #[cold]
    pub(super) fn report_timeout(&mut self, now: Time, before: Before, timed: &mut RackTlp) {
        self.report_losses(now, timed);
        let state = self.processed(now, before, timed);
        self.congestion.on_timeout_processed(&state);
    }

    /// Reports to the congestion control if the application has paused: all data has been sent
    /// before it supplies more, all lost segments have been retransmitted, and the window has room.
    #[inline]
    pub(super) fn check_app_limited(&mut self) {
        if self.congestion.follows_arrivals() {
            self.report_pause();
        }
    }

    #[cold]
    fn report_pause(&mut self) {
        let in_flight = match self.scoreboard.as_deref() {
            Some(Board::Timed(timed)) if timed.rack.has_lost() => return,
            Some(Board::Timed(timed)) => timed.rack.in_flight(),
            Some(Board::Counted(_)) | None => self.flight(),
        };
        if self.snd_nxt >= self.granted && in_flight < self.congestion.usable() {
            self.congestion.on_app_limited(in_flight);
        }
    }
}
