//! Samples of the delivery rate: the rate at which the network delivers the segments of a sender.
//!
//! References: draft-cheng-iccrg-delivery-rate-estimation-02, section 3; Linux 6.12,
//! net/ipv4/tcp_rate.c. The names of the draft are in the docstrings.
//!
//! ```text
//!   P.first_sent_time          P.sent_time     P.delivered_time               now
//!          |------ send_elapsed ----|                  |------- ack_elapsed ---|
//!          delivered = C.delivered - P.delivered       interval = the larger of the two times
//! ```
//!
//! P is the most recent transmission among the segments that an ACK reports for the first time. The
//! rate is `delivered / interval`. The time in which the segments were sent is part of the rule,
//! because ACKs that were delayed together arrive faster than the path delivers segments.
//!
//! A sample is *application-limited* if the sender had no data to send at some time while the
//! segments of the sample were in flight. Such a sample may be smaller than the rate of the path.
//!
//! Differs from Linux in: transmissions with equal times are compared by the order in which they
//! were sent; Linux compares their sequence numbers.

use crate::kernel::time::{Span, Time};

/// The deliveries of a connection so far.
#[derive(Clone, Debug)]
pub(super) struct DeliveryRate {
    /// C.delivered: number of segments that have arrived. It begins with 1, because the SYN counts.
    delivered: u32,
    /// C.delivered_time: time at which the last arrival was reported.
    delivered_time: Time,
    /// C.first_sent_time: time of the most recent transmission that is known to have arrived.
    first_sent: Time,
    /// C.app_limited: value of `delivered` after which samples are no longer application-limited; 0
    /// if they are not application-limited now.
    app_limited: u32,
}

/// The deliveries of a connection when a segment was sent (P in the draft).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    delivered: u32,
    is_app_limited: bool,
    delivered_time: Time,
    first_sent: Time,
    sent: Time,
}

impl Snapshot {
    /// Returns whether the application limited the sender when the segment was sent.
    pub(super) fn is_app_limited(&self) -> bool {
        self.is_app_limited
    }
}

/// A sample of the delivery rate (rs in the draft).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RateSample {
    /// Time of the ACK that gave the sample.
    pub(super) now: Time,
    /// Number of segments that this ACK reports for the first time.
    pub(super) newly_delivered: u32,
    /// rs.prior_delivered: number of segments that had arrived when the segment was sent.
    pub(super) prior_delivered: u32,
    /// rs.delivered: number of segments that arrived in the interval.
    pub(super) delivered: u32,
    /// rs.interval: time in which these segments were sent or acknowledged, whichever is longer.
    pub(super) interval: Span,
    /// Whether the application limited the sender in the interval.
    pub(super) is_app_limited: bool,
}

impl RateSample {
    /// The absence of a sample: no ACK has this time.
    pub(super) const NONE: RateSample = RateSample {
        now: Time::NEVER,
        newly_delivered: 0,
        prior_delivered: 0,
        delivered: 0,
        interval: Span::ZERO,
        is_app_limited: false,
    };
}

impl DeliveryRate {
    pub(super) fn new() -> DeliveryRate {
        DeliveryRate {
            delivered: 1,
            delivered_time: Time::ZERO,
            first_sent: Time::ZERO,
            app_limited: 0,
        }
    }

    /// Returns the number of segments that have arrived so far.
    #[inline]
    pub(super) fn delivered(&self) -> u32 {
        self.delivered
    }

    /// Returns the time at which the last arrival was reported.
    #[inline]
    pub(super) fn delivered_time(&self) -> Time {
        self.delivered_time
    }

    /// Returns whether the segments that are sent now give application-limited samples.
    #[inline]
    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// Records that the sender has no data while `in_flight` segments are in the network. Samples
    /// are application-limited until these segments have arrived.
    pub(super) fn on_app_limited(&mut self, in_flight: u32) {
        self.app_limited = self.delivered + in_flight;
    }

    /// Processes the transmission of a segment. `is_first` says that no other segment is
    /// outstanding. Returns the state to attach to the transmission.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, is_first: bool) -> Snapshot {
        if is_first {
            self.first_sent = now;
            self.delivered_time = now;
        }
        Snapshot {
            delivered: self.delivered,
            is_app_limited: self.app_limited > 0,
            delivered_time: self.delivered_time,
            first_sent: self.first_sent,
            sent: now,
        }
    }

    /// Processes the arrival of `segments` segments. `newest` is the state that is attached to the
    /// most recent transmission among them.
    #[inline]
    pub(super) fn on_delivered(
        &mut self,
        now: Time,
        segments: u32,
        newest: Snapshot,
    ) -> RateSample {
        self.delivered += segments;
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        self.delivered_time = now;
        self.first_sent = newest.sent;
        let send_elapsed = newest.sent.since(newest.first_sent);
        let ack_elapsed = now.since(newest.delivered_time);
        RateSample {
            now,
            newly_delivered: segments,
            prior_delivered: newest.delivered,
            delivered: self.delivered - newest.delivered,
            interval: send_elapsed.max(ack_elapsed),
            is_app_limited: newest.is_app_limited,
        }
    }
}

#[cfg(test)]
mod tests;
