//! What a session knows of one stream.

use std::time::Duration;

use super::merge::Merge;
use super::{LEAST_WINDOW, READ_BYTES};
use crate::budget::Budget;

/// Time after which credit is announced again that the other side waits for: at first, and how often it doubles.
const REPEAT: Duration = Duration::from_secs(1);
const MOST_DOUBLINGS: u32 = 4;

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) is_open: bool,
    // what goes out
    pub(super) sent: u64,
    /// Offset up to which the other side lets this one send.
    pub(super) credit: u64,
    /// How often credit was given back.
    pub(super) epoch: u32,
    pub(super) readable: bool,
    pub(super) in_turn: bool,
    pub(super) last_sent: bool,
    pub(super) sent_at: Duration,
    // what comes in
    pub(super) merge: Merge,
    /// What the other side may send ahead, if memory allows.
    pub(super) window: u64,
    /// Offset up to which the other side may send.
    pub(super) granted: u64,
    pub(super) their_epoch: u32,
    /// Whether the other side has been held up by credit since the last announcement.
    pub(super) wants_more: bool,
    /// Offset at which the other side had used up its credit, as far as is known here.
    pub(super) spent_at: Option<u64>,
    /// When credit was announced last, and how often that has been said again.
    pub(super) announced_at: Duration,
    pub(super) repeats: u32,
    /// Whether it stands among those that may have credit to announce.
    pub(super) is_due: bool,
    /// Whether the program knows that nothing more comes.
    pub(super) told_end: bool,
    /// What the budget was charged.
    pub(super) charged: usize,
}

impl Stream {
    /// The budget has been charged for its window.
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

    /// Offset up to which the other side should be let send, if that is worth an announcement.
    ///
    /// Streams that are known to be read come first: others get credit only as long as memory is plentiful.
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
        // half of what is spare at most, beside what it has
        let window = window.min(most).min(ahead + spare / 2).max(LEAST_WINDOW);
        let until = self.merge.taken() + window;
        (!self.merge.is_over() && until >= self.granted + window / 2).then_some(until)
    }

    /// Whether the other side waits for credit that has been announced for long: it may have been lost on its way.
    pub(super) fn lacks_credit(&self, now: Duration) -> bool {
        let pause = REPEAT * 2_u32.pow(self.repeats.min(MOST_DOUBLINGS));
        self.spent_at == Some(self.merge.highest())
            && self.granted > self.merge.highest()
            && now.saturating_sub(self.announced_at) > pause
    }

    /// Announces credit, if there is memory for it.
    pub(super) fn grant(&mut self, until: u64, now: Duration, budget: &Budget) -> bool {
        let before = self.granted;
        self.granted = until;
        if !self.recharge(budget) {
            self.granted = before;
            return false;
        }
        self.window = (until - self.merge.taken()).max(LEAST_WINDOW);
        self.wants_more = false;
        (self.announced_at, self.repeats) = (now, 0);
        true
    }

    pub(super) fn give_back(&mut self, until: u64, budget: &Budget) {
        self.granted = until;
        self.window = (until.saturating_sub(self.merge.taken())).max(LEAST_WINDOW);
        self.recharge(budget);
    }

    /// Has the budget charged for what may come and is not taken; whether there was enough.
    pub(super) fn recharge(&mut self, budget: &Budget) -> bool {
        let until = self.merge.end().unwrap_or(self.granted);
        let ahead = until.saturating_sub(self.merge.taken());
        let needed = ahead.max(LEAST_WINDOW) as usize;
        if needed > self.charged && !budget.take(needed - self.charged) {
            return false;
        }
        budget.give(self.charged.saturating_sub(needed));
        self.charged = needed;
        true
    }
}
