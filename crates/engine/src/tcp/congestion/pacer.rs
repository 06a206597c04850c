//! Departure times of the segments of a paced sender.
//!
//! References: Linux 6.12, `tcp_update_skb_after_send`, `tcp_pacing_check` and `tcp_tso_autosize` in
//! net/ipv4/tcp_output.c; net/sched/sch_fq.c. Linux stores the departure time of the next segment in
//! `tcp_wstamp_ns`. Either a timer of TCP or the queue discipline `fq` holds the segment until then
//! (earliest departure time).
//!
//! ```text
//! departure = max(departure, now) + gap - min(gap / 2, credit)        gap = 1 / rate
//! credit    = the time by which the segment was sent after its departure time
//! ```
//!
//! The credit compensates for late timers, and for a window that was used up at the departure time.
//! With segmentation offload (TSO), segments are sent in bursts: all segments of a burst leave at
//! the same time, and the next burst follows after the gaps of all these segments.

use crate::kernel::time::{Span, Time};

/// `sk_gso_max_size`: maximum size of a burst. It is 64 KiB without the space for headers. [bytes]
const MAX_BURST: u64 = 65_215;

/// `sk_pacing_shift`: a burst is 1/2^10 s (about 1 ms) of the pacing rate.
const PACING_SHIFT: u32 = 10;

/// `tcp_tso_rtt_log`: bursts are larger on paths with a minimum round-trip time below 2^9 us times
/// 16.
const RTT_LOG: u32 = 9;

/// The departure times of a paced sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// Earliest departure time of the next burst.
    departure: Time,
    /// Departure time of the last burst.
    burst_at: Time,
    /// Number of segments that may still leave with the last burst.
    burst_left: u32,
    /// Part of the lateness of the last burst that has not shortened a gap yet.
    credit: Span,
}

impl Pacer {
    pub(super) const fn new() -> Pacer {
        Pacer {
            departure: Time::ZERO,
            burst_at: Time::ZERO,
            burst_left: 0,
            credit: Span::ZERO,
        }
    }

    /// Returns the time at which the next segment may be sent.
    #[inline]
    pub(super) fn earliest_departure(&self, now: Time) -> Time {
        match self.burst_left > 0 && self.burst_at == now {
            true => now,
            false => self.departure,
        }
    }

    /// Returns the departure time of the next burst, which may be in the past.
    #[inline]
    pub(super) fn next_burst(&self) -> Time {
        self.departure
    }

    /// Processes the transmission of a segment: the next segment follows after `gap`, without bursts
    /// and credit.
    #[inline]
    pub(super) fn on_sent_singly(&mut self, now: Time, gap: Span) {
        self.departure = now + gap;
    }

    /// Processes the transmission of a segment as Linux does. `gap` is the time between segments at
    /// the pacing rate, and `burst` the number of segments of a burst.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, gap: Span, burst: u32) {
        if self.burst_left == 0 || self.burst_at != now {
            self.credit = now.since(self.departure.min(now));
            self.departure = self.departure.max(now);
            self.burst_at = now;
            self.burst_left = burst.max(1);
        }
        self.burst_left -= 1;
        let shorter = Span(gap.0 / 2).min(self.credit);
        self.credit = Span(self.credit.0 - shorter.0);
        self.departure += Span(gap.0 - shorter.0);
    }
}

/// `tcp_tso_autosize`: returns the number of segments of a burst at the pacing rate `rate` [bytes/s].
/// `min_rtt` is the minimum round-trip time, `mss` the payload of a segment [bytes], and `min` the
/// minimum number of segments.
pub(super) fn burst_segments(rate: u64, min_rtt: Span, mss: u32, min: u32) -> u32 {
    let halvings = (min_rtt.0 / 1_000) >> RTT_LOG;
    let on_short_paths = match halvings < 32 {
        true => MAX_BURST >> halvings,
        false => 0,
    };
    let bytes = ((rate >> PACING_SHIFT) + on_short_paths).min(MAX_BURST);
    ((bytes / u64::from(mss)) as u32).max(min)
}

/// `bbr_tso_segs_goal`: returns the number of segments of a burst as in [`burst_segments`], but
/// without the rule for short paths, and at most 127.
pub(super) fn burst_goal(rate: u64, mss: u32, min: u32) -> u32 {
    let bytes = (rate >> PACING_SHIFT).min(MAX_BURST);
    ((bytes / u64::from(mss)) as u32).max(min).min(127)
}

#[cfg(test)]
mod tests;
