//! Prague: DCTCP for the Internet.
//!
//! References: draft-briscoe-iccrg-prague-congestion-control-04, 2024; the reference implementation, `tcp_prague.c` of
//! github.com/L4STeam/linux, version 0.6 (commit 02573a215581), whose names are in the comments below; RFC 9331,
//! section 4 (the Prague requirements).
//!
//! ```text
//! alpha: `marked_fraction.rs`, from the first mark on
//! cwnd (1 - alpha / 2)                      at most once per round trip, if a segment was marked in it
//! cwnd + (acked - marked) ai / cwnd         per ACK, also while marks arrive
//! ai = 1, or (RTT / virtual RTT)^2          after `transition` rounds, if the RTT is below the virtual RTT
//! cwnd / 2                                  a loss
//! ```
//!
//! alpha is the smoothed fraction of marked segments, and ai the additive increase per round trip.
//! With the reduced ai, a flow on a short path has the rate of a flow on a path with the virtual
//! round-trip time. In this case, alpha is updated and marks reduce the window at most once per
//! virtual round trip (`RTT_CONTROL_RATE`). The window grows by segments, not by ACKs, so
//! `byte_counting` has no effect. The receiver reports the number of marks (RFC 9768).
//!
//! Differs from the draft and the implementation in:
//! - Segments are not paced unless `pacing` is set.
//! - cwnd changes immediately, not by one packet per ACK. cwnd is rounded down to whole packets;
//!   Linux rounds cwnd up.
//! - There is no fall-back to classic ECN (`prague_ecn_fallback`, which is off in the
//!   implementation). Therefore a queue that marks ECT(1) by RFC 3168 is not detected.
//! - The smallest window is 2.

use super::control::{MarkReport, NewAck};
use super::marked_fraction::MarkedFraction;
use super::window::{MIN_SSTHRESH, Window};
use super::window_algorithm::WindowAlgorithm;
use crate::kernel::time::{Span, Time};
use crate::notation::setting::{S, count, duration};
use crate::table;

table! {
    /// Parameters of Prague (congestion = "prague").
    pub struct PragueSettings: Copy in "prague" {
        /// Virtual round-trip time. A path with a shorter round-trip time gets the throughput of a path with this time. With "0 s" every path uses its own round-trip time.
        virtual_rtt: Span = duration(0..=10 * S).depends("25 ms") => Span(25_000_000);
        /// Number of round trips after slow start from which the virtual round-trip time applies.
        transition_rounds as "transition": u32 = count(0..=1_000_000), fallback 500;
    }
}

#[derive(Clone, Debug)]
pub(super) struct Prague {
    settings: PragueSettings,
    fraction: MarkedFraction,
    /// `saw_ce`: whether an ACK has reported a mark so far.
    marked: bool,
    /// `round`: number of windows of data since slow start ended.
    rounds: u32,
    /// `alpha_stamp`: time of the last update of alpha.
    updated: Time,
    /// `cwr_stamp`: time of the last reduction by marks; `None` before the first reduction.
    reduced: Option<Time>,
    /// Number of marked segments that the ACK being processed reports.
    marked_now: u32,
    /// Whether the window was in slow start at the last ACK of new data.
    slow_start: bool,
}

impl Prague {
    pub(super) const fn new(settings: PragueSettings) -> Prague {
        Prague {
            settings,
            fraction: MarkedFraction::new(),
            marked: false,
            rounds: 0,
            updated: Time::ZERO,
            reduced: None,
            marked_now: 0,
            slow_start: true,
        }
    }

    /// `prague_is_rtt_indep`: returns whether the virtual round-trip time is in use.
    fn is_independent(&self) -> bool {
        let settings = &self.settings;
        settings.virtual_rtt > Span::ZERO
            && !self.slow_start
            && self.rounds >= settings.transition_rounds
    }

    /// Returns whether a virtual round trip has passed since `then`. Returns true if the virtual
    /// round-trip time is not in use.
    fn has_passed(&self, then: Time, now: Time) -> bool {
        !self.is_independent() || now.since(then) >= self.settings.virtual_rtt
    }

    /// Returns the additive increase ai: the growth of the window per window of acknowledged
    /// segments. [packets]
    fn increase(&self, srtt: Option<Span>) -> f64 {
        match srtt {
            Some(srtt) if self.is_independent() && srtt < self.settings.virtual_rtt => {
                let ratio = srtt.seconds() / self.settings.virtual_rtt.seconds();
                ratio * ratio
            }
            _ => 1.0,
        }
    }
}

impl WindowAlgorithm for Prague {
    fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
        let mut left = ack.delivered.saturating_sub(self.marked_now);
        self.slow_start = window.is_below_ssthresh();
        while left > 0 && window.slow_start() {
            left -= 1;
        }
        let increase = self.increase(ack.rtt.srtt());
        window.add(f64::from(left) * increase / window.cwnd);
    }

    fn on_marks(&mut self, report: &MarkReport) {
        self.marked_now = report.marked;
        self.marked |= report.marked > 0;
        if self.fraction.add(report) && self.has_passed(self.updated, report.now) {
            if self.marked {
                self.fraction.close(report);
            } else {
                self.fraction.begin(report);
            }
            self.updated = report.now;
            self.rounds += u32::from(!self.slow_start);
        }
    }

    fn decrease_by_marks(&mut self, window: &Window, report: &MarkReport, _: u32) -> Option<f64> {
        if self
            .reduced
            .is_some_and(|then| !self.has_passed(then, report.now))
        {
            return None;
        }
        self.reduced = Some(report.now);
        self.slow_start = false;
        let remaining = window.cwnd * (1.0 - self.fraction.alpha() / 2.0);
        Some(remaining.max(MIN_SSTHRESH))
    }
}

#[cfg(test)]
mod tests;
