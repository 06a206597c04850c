//! The reordering window: the time by which a segment may be late before RACK declares it lost.
//!
//! Reference: RFC 8985, section 6.2, steps 1 and 4.
//!
//! ```text
//! RACK.reo_wnd = 0                                            no reordering so far, and in recovery
//!                                                             or DupThresh segments SACKed
//!              = min(RACK.min_RTT / 4 * RACK.reo_wnd_mult, SRTT)   otherwise
//! ```
//!
//! RACK.reo_wnd_mult grows by one per round trip in which a D-SACK reports an unnecessary
//! retransmission. It returns to 1 after sixteen recoveries without a D-SACK.
//!
//! RACK.min_RTT is the minimum of the last 150 to 300 s. In Linux it is the minimum of the last 300
//! s (`tcp_min_rtt_wlen`), computed from three stored samples.

use crate::kernel::time::{Span, Time};

/// DupThresh: number of SACKed segments that makes the reordering window zero.
const DUP_THRESH: u32 = 3;

/// Number of recoveries without a D-SACK after which the multiplier returns to 1.
const PERSIST: u32 = 16;

/// Length of one of the two periods over which the minimum round-trip time is taken.
const PERIOD: Span = Span(150_000_000_000);

/// The state of a sender on which the reordering window depends.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct SenderState {
    /// Whether the sender is in fast recovery or in recovery from a timeout.
    pub(in crate::tcp) recovers: bool,
    /// Smoothed round-trip time SRTT; `None` before the first sample.
    pub(in crate::tcp) srtt: Option<Span>,
}

#[derive(Clone, Debug)]
pub(super) struct ReorderingWindow {
    /// RACK.reordering_seen: whether reordering has been observed on this connection.
    seen: bool,
    /// RACK.reo_wnd_mult: multiplier of the reordering window.
    mult: u32,
    /// RACK.reo_wnd_persist: number of recoveries until the multiplier returns to 1.
    persist: u32,
    /// RACK.dsack_round: segment whose acknowledgement ends the round trip of the last D-SACK;
    /// `None` if no such round trip is in progress.
    dsack_round: Option<u32>,
    /// Minimum round-trip times of the current period and of the previous period.
    minima: [Span; 2],
    period_start: Time,
}

impl ReorderingWindow {
    pub(super) fn new() -> ReorderingWindow {
        ReorderingWindow {
            seen: false,
            mult: 1,
            persist: PERSIST,
            dsack_round: None,
            minima: [Span(u64::MAX); 2],
            period_start: Time::ZERO,
        }
    }

    /// RACK.min_RTT: returns the minimum round-trip time of the current and the previous period. It
    /// is infinite before the first sample.
    #[inline]
    pub(super) fn min_rtt(&self) -> Span {
        self.minima[0].min(self.minima[1])
    }

    /// Adds a round-trip time sample (step 1).
    #[inline]
    pub(super) fn on_sample(&mut self, now: Time, rtt: Span) {
        if now.since(self.period_start) >= PERIOD {
            self.period_start = now;
            self.minima = [rtt, self.minima[0]];
        }
        self.minima[0] = self.minima[0].min(rtt);
    }

    /// Records reordering: a segment that was sent once arrived after a segment that was sent
    /// later.
    pub(super) fn on_reordering(&mut self) {
        self.seen = true;
    }

    /// Processes a D-SACK (the report of a duplicate segment) on an ACK with the number `snd_una`.
    pub(super) fn on_dsack(&mut self, snd_una: u32, snd_nxt: u32) {
        if self.dsack_round.is_some_and(|round| snd_una < round) {
            return;
        }
        self.dsack_round = Some(snd_nxt);
        self.mult += 1;
        self.persist = PERSIST;
    }

    /// Processes the end of a recovery.
    pub(super) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.mult = 1;
        }
    }

    /// Returns the reordering window RACK.reo_wnd while `sacked` segments are SACKed (step 4).
    #[inline]
    pub(super) fn size(&self, sacked: u32, state: SenderState) -> Span {
        if !self.seen && (state.recovers || sacked >= DUP_THRESH) {
            return Span::ZERO;
        }
        let quarters = (self.min_rtt().0 / 4).saturating_mul(u64::from(self.mult));
        Span(quarters).min(state.srtt.unwrap_or(Span(quarters)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::pipe::MS;

    const OPEN: SenderState = SenderState {
        recovers: false,
        srtt: Some(Span(110 * MS)),
    };
    const RECOVERY: SenderState = SenderState {
        recovers: true,
        ..OPEN
    };

    fn window() -> ReorderingWindow {
        let mut window = ReorderingWindow::new();
        window.on_sample(Time(100 * MS), Span(100 * MS));
        window
    }

    #[test]
    fn without_reordering_recovery_and_three_sacked_segments_leave_no_window() {
        let mut window = window();
        assert_eq!(window.size(0, OPEN), Span(25 * MS));
        assert_eq!(window.size(2, OPEN), Span(25 * MS));
        assert_eq!(window.size(3, OPEN), Span::ZERO);
        assert_eq!(window.size(1, RECOVERY), Span::ZERO);
        window.on_reordering();
        assert_eq!(window.size(3, OPEN), Span(25 * MS));
        assert_eq!(window.size(3, RECOVERY), Span(25 * MS));
    }

    /// The reordering window grows by a quarter of the minimum round-trip time per round trip with
    /// a D-SACK, up to SRTT. After sixteen recoveries without a D-SACK it returns to its initial
    /// size.
    #[test]
    fn dsacks_widen_the_window_once_per_round_trip() {
        let mut window = window();
        window.on_dsack(10, 20);
        assert_eq!(window.size(0, OPEN), Span(50 * MS));
        window.on_dsack(19, 30); // a second D-SACK in the same round trip has no effect
        assert_eq!(window.size(0, OPEN), Span(50 * MS));
        window.on_dsack(20, 30);
        assert_eq!(window.size(0, OPEN), Span(75 * MS));
        (3..9).for_each(|round| window.on_dsack(10 * round, 10 * round + 10));
        assert_eq!(window.size(0, OPEN), Span(110 * MS)); // limited to SRTT
        (0..15).for_each(|_| window.on_recovered());
        assert_eq!(window.size(0, OPEN), Span(110 * MS));
        window.on_recovered();
        assert_eq!(window.size(0, OPEN), Span(25 * MS));
    }

    #[test]
    fn the_minimum_round_trip_time_expires() {
        let mut window = window();
        window.on_sample(Time(149_000 * MS), Span(140 * MS));
        assert_eq!(window.min_rtt(), Span(100 * MS));
        window.on_sample(Time(151_000 * MS), Span(150 * MS));
        assert_eq!(window.min_rtt(), Span(100 * MS)); // the minimum of the previous period is still used
        window.on_sample(Time(302_000 * MS), Span(160 * MS));
        assert_eq!(window.min_rtt(), Span(150 * MS));
    }
}
