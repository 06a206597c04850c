//! The undo of a recovery in which no segment was lost.
//!
//! References: RFC 3522 (Eifel detection), RFC 4015 (its response); Linux's `tcp_try_undo_recovery`.
//!
//! The first ACK of new data after the first retransmission of a recovery echoes the time of the
//! segment that caused this ACK. If that segment was sent before the retransmission, the original
//! segment has arrived: it was late, not lost. In this case the window is restored, no further
//! segment is retransmitted, and RACK records reordering.
//!
//! If a timeout occurs before such an ACK arrives, the ACK decides whether both the recovery and
//! the timeout are undone. If the first retransmission arrives, the loss was real, even if the
//! timer expired too early.
//!
//! Differs from RFC 4015 in: the whole cwnd is restored immediately, as in Linux; the RTO is
//! increased only by the round-trip sample of the late original, and not by a separate rule.
//! Differs from Linux in: one ACK decides; there is no partial undo, and no undo by D-SACKs. F-RTO
//! (RFC 5682), which works without timestamps, is not needed, because every segment has a timestamp
//! here.

use super::super::congestion::PriorWindow;
use crate::kernel::time::Time;
use crate::tcp::Ack;

/// The window before a recovery, and the first retransmission, which decides whether the recovery
/// is undone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The window before the reduction.
    prior: PriorWindow,
    /// Segment that was retransmitted first, and the time of this retransmission (RetransmitTS);
    /// `None` before it is sent.
    first: Option<(u32, Time)>,
}

impl Undo {
    pub(super) fn new(prior: PriorWindow) -> Undo {
        Undo { prior, first: None }
    }

    /// Records a retransmission of `number`.
    pub(super) fn on_sent_again(&mut self, now: Time, number: u32) {
        self.first.get_or_insert((number, now));
    }

    /// Returns `Some` if this ACK of new data decides whether the recovery was unnecessary. The
    /// inner value is the window to restore if it was unnecessary.
    pub(super) fn decided_by(&self, ack: &Ack) -> Option<Option<PriorWindow>> {
        let (number, retransmit_ts) = self.first?;
        let is_needless = ack.echo < retransmit_ts && !ack.ece.is_set();
        (ack.next > number).then(|| is_needless.then_some(self.prior))
    }
}
