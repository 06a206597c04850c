//! How long a segment may be late before RACK takes it for lost.
//!
//! Reference: RFC 8985, section 6.2, steps 1 and 4.
//!
//! ```text
//! RACK.reo_wnd = 0                                            no reordering seen, and in recovery
//!                                                             or DupThresh segments SACKed
//!              = min(RACK.min_RTT / 4 * RACK.reo_wnd_mult, SRTT)   otherwise
//! ```
//!
//! RACK.reo_wnd_mult grows by one a round trip in which a D-SACK tells of a segment sent twice for
//! nothing, and is 1 again after sixteen recoveries without.
//!
//! RACK.min_RTT is the least of the last 150 to 300 s; Linux keeps three samples of 300 s
//! (`tcp_min_rtt_wlen`).

use crate::kernel::time::{Span, Time};

/// DupThresh.
const DUP_THRESH: u32 = 3;

/// Recoveries without a D-SACK after which the multiplier is 1 again.
const PERSIST: u32 = 16;

/// Each of two stretches of time of which the least round-trip time is known.
const STRETCH: Span = Span(150_000_000_000);

/// Where a connection stands when the window is asked for.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct SenderState {
    /// Whether it is in fast recovery or in that of a timeout.
    pub(in crate::tcp) recovers: bool,
    /// SRTT, if there was a sample.
    pub(in crate::tcp) srtt: Option<Span>,
}

#[derive(Clone, Debug)]
pub(super) struct ReorderingWindow {
    /// RACK.reordering_seen.
    seen: bool,
    /// RACK.reo_wnd_mult.
    mult: u32,
    /// RACK.reo_wnd_persist.
    persist: u32,
    /// RACK.dsack_round.
    dsack_round: Option<u32>,
    /// Least round-trip time of this stretch and of the one before.
    least: [Span; 2],
    stretch_began: Time,
}

impl ReorderingWindow {
    pub(super) fn new() -> ReorderingWindow {
        ReorderingWindow {
            seen: false,
            mult: 1,
            persist: PERSIST,
            dsack_round: None,
            least: [Span(u64::MAX); 2],
            stretch_began: Time::ZERO,
        }
    }

    /// RACK.min_RTT; beyond all bounds before the first sample.
    #[inline]
    pub(super) fn min_rtt(&self) -> Span {
        self.least[0].min(self.least[1])
    }

    /// Step 1: takes a round-trip time.
    #[inline]
    pub(super) fn on_sample(&mut self, now: Time, rtt: Span) {
        if now.since(self.stretch_began) >= STRETCH {
            self.stretch_began = now;
            self.least = [rtt, self.least[0]];
        }
        self.least[0] = self.least[0].min(rtt);
    }

    /// A segment sent once arrived after one sent later.
    pub(super) fn on_reordering(&mut self) {
        self.seen = true;
    }

    /// An ACK up to `snd_una` bore a D-SACK.
    pub(super) fn on_dsack(&mut self, snd_una: u32, snd_nxt: u32) {
        if self.dsack_round.is_some_and(|round| snd_una < round) {
            return;
        }
        self.dsack_round = Some(snd_nxt);
        self.mult += 1;
        self.persist = PERSIST;
    }

    /// A recovery is over.
    pub(super) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.mult = 1;
        }
    }

    /// Step 4: RACK.reo_wnd while `sacked` segments are SACKed.
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

    /// One step a round trip, up to SRTT; sixteen recoveries without a D-SACK take it all back.
    #[test]
    fn dsacks_widen_the_window_once_a_round_trip() {
        let mut window = window();
        window.on_dsack(10, 20);
        assert_eq!(window.size(0, OPEN), Span(50 * MS));
        window.on_dsack(19, 30); // the same round trip
        assert_eq!(window.size(0, OPEN), Span(50 * MS));
        window.on_dsack(20, 30);
        assert_eq!(window.size(0, OPEN), Span(75 * MS));
        (3..9).for_each(|round| window.on_dsack(10 * round, 10 * round + 10));
        assert_eq!(window.size(0, OPEN), Span(110 * MS)); // SRTT
        (0..15).for_each(|_| window.on_recovered());
        assert_eq!(window.size(0, OPEN), Span(110 * MS));
        window.on_recovered();
        assert_eq!(window.size(0, OPEN), Span(25 * MS));
    }

    #[test]
    fn the_least_round_trip_time_is_forgotten() {
        let mut window = window();
        window.on_sample(Time(149_000 * MS), Span(140 * MS));
        assert_eq!(window.min_rtt(), Span(100 * MS));
        window.on_sample(Time(151_000 * MS), Span(150 * MS));
        assert_eq!(window.min_rtt(), Span(100 * MS)); // of the stretch before
        window.on_sample(Time(302_000 * MS), Span(160 * MS));
        assert_eq!(window.min_rtt(), Span(150 * MS));
    }
}
