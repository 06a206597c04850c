//! Undoing a recovery that nothing was lost for.
//!
//! References: RFC 3522 (Eifel detection), RFC 4015 (its response); Linux's `tcp_try_undo_recovery`.
//!
//! The first ACK of new data after the first retransmission of a recovery echoes the time of the segment that
//! called for it. If that left before the retransmission, the original has arrived: it was late, not lost.
//! Then the window is what it was, nothing more is sent again, and RACK knows of reordering.
//!
//! A timeout in a recovery that is not decided is decided with it: where the first retransmission arrives the loss
//! was real, however early the timer was.
//!
//! Differs from RFC 4015 in: cwnd comes back as a whole, as in Linux, so that what it has room for may leave at
//! once; the sample of the late original alone makes the RTO longer.
//! Differs from Linux in: one ACK decides, no partial undo and none by D-SACKs. F-RTO (RFC 5682), which does
//! without timestamps, is not needed: every segment has one here.

use super::super::congestion::PriorWindow;
use crate::kernel::time::Time;
use crate::tcp::Ack;

/// What is undone if the recovery turns out to be needless.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The window before the reduction.
    prior: PriorWindow,
    /// The segment first sent again, and RetransmitTS.
    first: Option<(u32, Time)>,
}

impl Undo {
    pub(super) fn new(prior: PriorWindow) -> Undo {
        Undo { prior, first: None }
    }

    /// `number` is sent again.
    pub(super) fn on_sent_again(&mut self, now: Time, number: u32) {
        self.first.get_or_insert((number, now));
    }

    /// Whether this ACK of new data decides; if so, the window to restore, if it says that the recovery was
    /// needless.
    pub(super) fn decided_by(&self, ack: &Ack) -> Option<Option<PriorWindow>> {
        let (number, retransmit_ts) = self.first?;
        let needless = ack.echo < retransmit_ts && !ack.ece.is_set();
        (ack.next > number).then(|| needless.then_some(self.prior))
    }
}
