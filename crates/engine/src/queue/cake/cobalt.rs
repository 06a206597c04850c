//! COBALT: CoDel, which sends congestion signals while packets wait too long, together with BLUE,
//! which drops packets of flows that do not react and overflow the queue ("Piece of CAKE", 2018,
//! section III-D).
//!
//! Differs from RFC 8289 as Linux's `cobalt_should_drop` does. One time, `drop_next`, is the time of
//! the next signal both for the first signal of a period and for later signals. After a period, the
//! number of signals decays at the rate at which it grew. The last packet of a queue is never
//! dropped.
//!
//! As in Linux, the first period of a queue signals at the second packet above the target, not after
//! an interval, because Linux's `rec_inv_sqrt` is 0 until the number of signals has changed. Differs
//! from Linux in one point: the square root is exact.

use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;

/// Increment of BLUE's drop probability when the queue overflows: 1/256. [2^-32]
const INCREMENT: u32 = 1 << 24;
/// Decrement of BLUE's drop probability when the queue is empty: 1/4096. [2^-32]
const DECREMENT: u32 = 1 << 20;
/// Length of a full Ethernet frame, whose sending time bounds the target from below. [bytes]
const MTU: u64 = 1514;

/// Parameters of COBALT in one tin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    /// Acceptable time in the queue, and minimum time between two changes of BLUE's probability.
    pub(super) target: Span,
    /// Time above target before the first signal.
    pub(super) interval: Span,
    /// Time to send a full frame at the threshold of the tin; 0 without a shaper.
    pub(super) mtu_time: Span,
}

impl Parameters {
    /// Returns the parameters for a round-trip time of `rtt`, and a tin with this rate threshold.
    /// The target is a twentieth of `rtt`, but at least 1.5 times the time to send a full frame
    /// (`cake_set_rate`). A rate of 0 means no shaper. [bytes/s]
    pub(super) fn new(rtt: Span, rate: u64) -> Parameters {
        let mtu_time = match rate {
            0 => Span::ZERO,
            rate => super::shaper::duration(MTU, rate),
        };
        let usual = Span(rtt.0 / 20);
        let target = Span(mtu_time.0 * 3 / 2).max(usual);
        Parameters {
            target,
            interval: (rtt + target - usual).max(target * 2),
            mtu_time,
        }
    }
}

/// The state of COBALT for one flow queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cobalt {
    /// Number of signals of CoDel, which determines the time between signals.
    count: u32,
    /// Whether `count` has changed by a signal or by decay.
    has_changed: bool,
    /// BLUE's drop probability. [2^-32]
    p_drop: u32,
    /// Time of the next signal while CoDel signals; at other times, the time until which the queue
    /// counts as active.
    drop_next: Time,
    /// Time of the last change of `p_drop`.
    blue_changed: Time,
    dropping: bool,
}

impl Cobalt {
    /// Returns the time of the next signal: `from` plus interval / sqrt(count).
    fn after(&self, from: Time, interval: Span) -> Time {
        match self.count {
            _ if !self.has_changed => from,
            0 | 1 => from + interval,
            count => {
                let gap = interval.nanoseconds() / f64::from(count).sqrt();
                from + Span::from_nanoseconds(gap)
            }
        }
    }

    /// Changes the number of signals to `count`, and the time of the next signal accordingly.
    fn schedule(&mut self, count: u32, interval: Span) {
        self.count = count;
        self.has_changed = true;
        self.drop_next = self.after(self.drop_next, interval);
    }

    /// Processes the overflow of the queue at `now`. Returns whether BLUE begins to drop.
    pub(super) fn overflow(&mut self, now: Time, parameters: &Parameters) -> bool {
        let mut begins = false;
        if now.since(self.blue_changed) > parameters.target {
            begins = self.p_drop == 0;
            self.p_drop = self.p_drop.saturating_add(INCREMENT);
            self.blue_changed = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
        begins
    }

    /// Processes a turn of the queue at `now` at which the queue is empty. Returns whether BLUE ends
    /// to drop.
    pub(super) fn empty(&mut self, now: Time, parameters: &Parameters) -> bool {
        let mut ends = false;
        if self.p_drop > 0 && now.since(self.blue_changed) > parameters.target {
            self.p_drop = self.p_drop.saturating_sub(DECREMENT);
            self.blue_changed = now;
            ends = self.p_drop == 0;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.schedule(self.count - 1, parameters.interval);
        }
        ends
    }

    /// Returns whether an empty queue must be kept, because its state has not decayed at `now`.
    pub(super) fn is_active(&self, now: Time) -> bool {
        self.p_drop > 0 || self.count > 0 || now < self.drop_next
    }

    /// Returns whether the departing `packet` is dropped, and whether it has been marked.
    /// `bulk_flows` is the number of flows in the bulk rotation if drops are charged to the shaper,
    /// and otherwise 0.
    pub(super) fn judge(
        &mut self,
        now: Time,
        parameters: &Parameters,
        bulk_flows: u32,
        packet: &mut Packet,
        stream: &mut Stream,
    ) -> (bool, bool) {
        let sojourn = now.since(packet.queued);
        let longest = parameters.mtu_time * u64::from(2 * bulk_flows).max(4);
        let over_target = sojourn > parameters.target && sojourn > longest;
        let mut is_due = self.count > 0 && now >= self.drop_next;
        let mut is_late = now > self.drop_next;
        if over_target {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.after(now, parameters.interval);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let (mut drops, mut marks) = (false, false);
        if is_due && self.dropping {
            marks = packet.mark();
            drops = !marks;
            self.schedule(self.count.saturating_add(1), parameters.interval);
            is_late = now > self.drop_next;
        } else {
            while is_due {
                self.schedule(self.count - 1, parameters.interval);
                is_late = now > self.drop_next;
                is_due = self.count > 0 && now >= self.drop_next;
            }
        }
        if self.p_drop > 0 && stream.up_to(u32::MAX) < self.p_drop {
            drops = true;
        }
        if self.count == 0 {
            self.drop_next = now + parameters.interval;
        } else if is_late && !drops {
            self.drop_next = now;
        }
        (drops, marks)
    }

    #[cfg(test)]
    pub(super) fn drop_probability(&self) -> f64 {
        f64::from(self.p_drop) / 4_294_967_296.0
    }

    #[cfg(test)]
    pub(super) fn signals(&self) -> u32 {
        self.count
    }
}
