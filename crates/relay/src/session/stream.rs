//! State of one stream of a session.

use std::time::Duration;

use super::merge::Merge;
use super::{MIN_WINDOW, READ_BYTES};
use crate::budget::Budget;

/// Time after which a credit frame is repeated for the first time, while the other relay waits for
/// credit, and maximum number of doublings of this time for further repetitions.
const REPEAT: Duration = Duration::from_secs(1);
const MAX_DOUBLINGS: u32 = 4;

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) is_open: bool,
    // outgoing data: offset up to which data were sent
    pub(super) sent: u64,
    /// Offset up to which this relay may send.
    pub(super) credit: u64,
    /// Number of times that this relay has returned credit.
    pub(super) epoch: u32,
    pub(super) readable: bool,
    pub(super) in_turn: bool,
    pub(super) last_sent: bool,
    pub(super) sent_at: Duration,
    // incoming data that the program has not read
    pub(super) merge: Merge,
    /// Maximum distance between the program's read offset and the offset up to which the other
    /// relay may send, if memory allows. [bytes]
    pub(super) window: u64,
    /// Offset up to which the other relay may send.
    pub(super) granted: u64,
    pub(super) their_epoch: u32,
    /// Whether the other relay has used up its credit since the last credit frame.
    pub(super) wants_more: bool,
    /// Last known offset at which the other relay had used up its credit, or `None` if it has never
    /// used up its credit.
    pub(super) spent_at: Option<u64>,
    /// Time of the last credit frame, and number of its repetitions.
    pub(super) announced_at: Duration,
    pub(super) repeats: u32,
    /// Whether the stream is in the queue of streams that may have to send credit.
    pub(super) is_due: bool,
    /// Whether the program was notified that no more data will come.
    pub(super) told_end: bool,
    /// Number of bytes that the stream has reserved in the memory budget.
    pub(super) charged: usize,
}

impl Stream {
    /// Returns a new stream. Its window must have been reserved in the budget before.
    pub(super) fn new(window: u64, credit: u64, now: Duration) -> Stream {
        Stream {
            is_open: false,
            sent: 0,
            credit,
            epoch: 0,
            readable: false,
            in_turn: false,
            last_sent: false,
            sent_at: now,
            merge: Merge::default(),
            window,
            granted: window,
            their_epoch: 0,
            wants_more: false,
            spent_at: None,
            announced_at: now,
            repeats: 0,
            is_due: false,
            told_end: false,
            charged: window as usize,
        }
    }

    pub(super) fn may_send(&self) -> bool {
        self.is_open && self.readable && !self.last_sent && self.sent < self.credit
    }

    /// Returns the new offset up to which the other relay may send, if the increase is large enough
    /// for a credit frame.
    ///
    /// Streams whose programs certainly read have priority. Other streams get credit only while
    /// much memory is free.
    pub(super) fn to_grant(&self, budget: &Budget, most: u64) -> Option<u64> {
        let is_read = self.merge.taken() >= READ_BYTES;
        let spare = if is_read {
            budget.spare()
        } else {
            budget.plenty()
        } as u64;
        let window = if self.wants_more {
            2 * self.window
        } else {
            self.window
        };
        let ahead = self.granted - self.merge.taken();
        // the stream gets at most half of the spare memory in addition to its present credit
        let window = window.min(most).min(ahead + spare / 2).max(MIN_WINDOW);
        let until = self.merge.taken() + window;
        (!self.merge.is_over() && until >= self.granted + window / 2).then_some(until)
    }

    /// Returns whether the other relay has waited for a long time for credit that was sent. The
    /// credit frame may have been lost.
    pub(super) fn lacks_credit(&self, now: Duration) -> bool {
        let pause = REPEAT * 2_u32.pow(self.repeats.min(MAX_DOUBLINGS));
        self.spent_at == Some(self.merge.highest())
            && self.granted > self.merge.highest()
            && now.saturating_sub(self.announced_at) > pause
    }

    /// Grants credit up to the offset `until` if the budget has enough memory. Returns whether it
    /// had.
    pub(super) fn grant(&mut self, until: u64, now: Duration, budget: &Budget) -> bool {
        let before = self.granted;
        self.granted = until;
        if !self.recharge(budget) {
            self.granted = before;
            return false;
        }
        self.window = (until - self.merge.taken()).max(MIN_WINDOW);
        self.wants_more = false;
        (self.announced_at, self.repeats) = (now, 0);
        true
    }

    pub(super) fn give_back(&mut self, until: u64, budget: &Budget) {
        self.granted = until;
        self.window = (until.saturating_sub(self.merge.taken())).max(MIN_WINDOW);
        self.recharge(budget);
    }

    /// Reserves memory in the budget for all data that may still arrive or were not read. Returns
    /// whether there was enough memory.
    pub(super) fn recharge(&mut self, budget: &Budget) -> bool {
        let until = self.merge.end().unwrap_or(self.granted);
        let ahead = until.saturating_sub(self.merge.taken());
        let needed = ahead.max(MIN_WINDOW) as usize;
        if needed > self.charged && !budget.take(needed - self.charged) {
            return false;
        }
        budget.give(self.charged.saturating_sub(needed));
        self.charged = needed;
        true
    }
}
