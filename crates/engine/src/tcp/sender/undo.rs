//! The undo of a recovery in which nothing was lost.
//!
//! References: RFC 3522 (Eifel detection), RFC 4015 (its response); Linux's `tcp_try_undo_recovery`.
//!
//! The first ACK of new data after the first retransmission of a recovery echoes the time of the segment
//! that caused this ACK. If that segment left before the retransmission, the original has arrived: it
//! was late, not lost. In this case the window is restored, no further segment is sent again, and RACK
//! notes reordering.
//!
//! A timeout in an undecided recovery is decided together with it: if the first retransmission arrives,
//! the loss was real, even if the timer expired early.
//!
//! Differs from RFC 4015 in: the whole cwnd is restored immediately, as in Linux; only the sample of the
//! late original makes the RTO longer.
//! Differs from Linux in: one ACK decides; there is no partial undo, and no undo by D-SACKs. F-RTO (RFC
//! 5682), which needs no timestamps, is not needed, since every segment has a timestamp here.

use super::super::congestion::PriorWindow;
use crate::kernel::time::Time;
use crate::tcp::Ack;

/// The data that is needed to undo a recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The window before the reduction.
    prior: PriorWindow,
    /// The segment that was sent again first, and RetransmitTS.
    first: Option<(u32, Time)>,
}

impl Undo {
    pub(super) fn new(prior: PriorWindow) -> Undo {
        Undo { prior, first: None }
    }

    /// Notes that `number` is sent again.
    pub(super) fn on_sent_again(&mut self, now: Time, number: u32) {
        self.first.get_or_insert((number, now));
    }

    /// Returns `Some` if this ACK of new data decides whether the recovery was needless. The inner value is
    /// the window to restore if it was.
    pub(super) fn decided_by(&self, ack: &Ack) -> Option<Option<PriorWindow>> {
        let (number, retransmit_ts) = self.first?;
        let is_needless = ack.echo < retransmit_ts && !ack.ece.is_set();
        (ack.next > number).then(|| is_needless.then_some(self.prior))
    }
}
