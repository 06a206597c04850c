//! The shaper in deficit mode: a virtual clock, without a bucket of tokens and without bursts
//! ("Piece of CAKE", 2018, section III-A). Each packet moves the clock forward by its sending time.
//! The next packet leaves when the clock has been reached.
//!
//! A second clock, the failsafe, moves by 1.5 times the sending time, and is not charged for dropped
//! packets (`cake_advance_shaper`). A packet leaves if either clock has been reached, so that drops
//! cannot stop the link.

use crate::kernel::time::{Span, Time};

/// Minimum rate. [bytes/s]
const MIN_RATE: u64 = 64;

/// Returns the time to send `bytes` at `rate`, which must not be 0. [bytes], [bytes/s]
#[inline]
pub(super) fn duration(bytes: u64, rate: u64) -> Span {
    Span(bytes * 1_000_000_000 / rate.max(MIN_RATE))
}

/// The shaper of a whole queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaper {
    /// Rate; 0 without a limit. [bytes/s]
    pub(super) rate: u64,
    next: Time,
    failsafe: Time,
}

impl Shaper {
    pub(super) fn new(rate: u64) -> Shaper {
        Shaper {
            rate,
            next: Time::ZERO,
            failsafe: Time::ZERO,
        }
    }

    /// Returns the earliest time at which a packet may leave.
    #[inline]
    pub(super) fn due(&self) -> Time {
        self.next.min(self.failsafe)
    }

    /// Processes the arrival of a packet in an empty queue: idle time gives no credit.
    pub(super) fn wake(&mut self, now: Time) {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
        }
    }

    /// Charges a packet of `bytes` on the line that has left, or that has been dropped.
    pub(super) fn charge(&mut self, bytes: u64, dropped: bool) {
        if self.rate == 0 {
            return;
        }
        let time = duration(bytes, self.rate);
        self.next += time;
        if !dropped {
            self.failsafe += Span(time.0 + time.0 / 2);
        }
    }
}

/// The clock of one tin, which says whether the tin is below its rate threshold.
#[derive(Clone, Copy, Debug)]
pub(super) struct TinClock {
    /// Rate threshold; 0 without a shaper. [bytes/s]
    pub(super) rate: u64,
    pub(super) next: Time,
}

impl TinClock {
    /// Processes the arrival of a packet in an empty tin.
    pub(super) fn wake(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// Charges a packet of `bytes` on the line at `now`. A tin below its threshold may catch up, but
    /// the clock of a tin above its threshold is at most one packet ahead.
    pub(super) fn charge(&mut self, now: Time, bytes: u64) {
        if self.rate == 0 {
            return;
        }
        let time = duration(bytes, self.rate);
        if self.next < now {
            self.next += time;
        } else if self.next < now + time {
            self.next = now + time;
        }
    }
}
