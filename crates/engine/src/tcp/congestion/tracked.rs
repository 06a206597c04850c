//! Stores the state that a congestion control attaches to each transmission, until the segment
//! arrives or the transmission is lost.
//!
//! The list contains at most one transmission of each segment: the last transmission, until an ACK
//! or a SACK block reports the segment for the first time. If the segment is retransmitted before
//! that, the earlier transmission is considered lost, unless the retransmission is a probe.

use std::collections::VecDeque;

use super::control::{Arrival, CongestionControl, Processed, Sent};
use super::window::Window;
use crate::kernel::time::Time;
use crate::tcp::ring::Ring;
use crate::tcp::sack::Blocks;

/// The events of single segments, which the sender passes to a tracked congestion control.
pub(super) trait SegmentEvents {
    /// Processes the transmission of a segment.
    fn on_sent(&mut self, window: &mut Window, sent: &Sent);

    /// Processes an ACK that acknowledges all segments before `next`, with its SACK blocks.
    fn on_delivered(&mut self, window: &mut Window, now: Time, next: u32, blocks: &Blocks);

    /// Returns the time at which the next segment may be sent.
    fn earliest_departure(&self, now: Time) -> Time;

    /// Processes the end of the processing of an ACK.
    fn on_ack_processed(&mut self, window: &mut Window, state: &Processed);

    /// Processes the end of the processing of a retransmission timeout.
    fn on_timeout_processed(&mut self, window: &mut Window, state: &Processed);

    /// Processes a pause of the application.
    fn on_app_limited(&mut self, in_flight: u32);

    /// Processes the undo of a recovery.
    fn on_undo(&mut self);
}

/// A congestion control, with the state that it has attached to each transmission.
#[derive(Clone, Debug)]
pub(super) struct Tracked<C: CongestionControl> {
    pub(super) control: C,
    /// Segments whose last transmission is neither known to have arrived nor considered lost.
    pub(super) pending: Ring,
    /// Last transmission of each segment from `snd_una` on, including segments that are no longer
    /// in `pending`.
    transmissions: VecDeque<Transmission<C::PacketInfo>>,
    /// Number of the first segment in `transmissions`.
    snd_una: u32,
    /// Number of transmissions of all segments so far.
    sent: u64,
}

#[derive(Clone, Copy, Debug)]
struct Transmission<I> {
    /// Number of transmissions of all segments before this transmission.
    order: u64,
    info: I,
}

impl<C: CongestionControl> Tracked<C> {
    /// Returns the congestion control with an empty list of transmissions, for a receive window of
    /// `receive` packets.
    pub(super) fn new(control: C, receive: u32) -> Tracked<C> {
        Tracked {
            control,
            pending: Ring::new(receive),
            transmissions: VecDeque::new(),
            snd_una: 0,
            sent: 0,
        }
    }
}

impl<C: CongestionControl> SegmentEvents for Tracked<C> {
    fn on_sent(&mut self, window: &mut Window, sent: &Sent) {
        let place = (sent.number - self.snd_una) as usize;
        if self.pending.remove(sent.number) && !sent.is_probe {
            let lost = self.transmissions[place].info;
            self.control.on_lost(window, sent.now, lost);
        }
        let transmission = Transmission {
            order: self.sent,
            info: self.control.on_sent(window, sent),
        };
        match self.transmissions.get_mut(place) {
            Some(earlier) => *earlier = transmission,
            None => self.transmissions.push_back(transmission),
        }
        self.pending.insert(sent.number);
        self.sent += 1;
    }

    fn on_delivered(&mut self, window: &mut Window, now: Time, next: u32, blocks: &Blocks) {
        let next = next.max(self.snd_una);
        let end = self.snd_una + self.transmissions.len() as u32;
        let mut segments = 0;
        let mut newest: Option<Transmission<C::PacketInfo>> = None;
        for (from, to) in [(self.snd_una, next)].into_iter().chain(*blocks) {
            let (from, to) = (from.max(self.snd_una), to.min(end));
            while from < to
                && let Some(number) = self.pending.first_present(from, to)
            {
                self.pending.remove(number);
                segments += 1;
                let reported = self.transmissions[(number - self.snd_una) as usize];
                if newest.is_none_or(|newest| newest.order < reported.order) {
                    newest = Some(reported);
                }
            }
        }
        let acked = (next.min(end) - self.snd_una) as usize;
        self.transmissions.drain(..acked);
        self.snd_una = next;
        if let Some(newest) = newest {
            let arrival = Arrival { now, segments };
            self.control.on_delivered(window, &arrival, newest.info);
        }
    }

    fn earliest_departure(&self, now: Time) -> Time {
        self.control.earliest_departure(now)
    }

    fn on_ack_processed(&mut self, window: &mut Window, state: &Processed) {
        self.control.on_ack_processed(window, state);
    }

    fn on_timeout_processed(&mut self, window: &mut Window, state: &Processed) {
        self.control.on_timeout_processed(window, state);
    }

    fn on_app_limited(&mut self, in_flight: u32) {
        self.control.on_app_limited(in_flight);
    }

    fn on_undo(&mut self) {
        self.control.on_undo();
    }
}

#[cfg(test)]
mod tests;
