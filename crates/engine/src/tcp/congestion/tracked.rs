//! Stores the state that a congestion control attaches to each transmission, until the segment
//! arrives or the transmission is lost.
//!
//! The list contains at most one transmission of each segment: the last transmission, until an ACK
//! or a SACK block reports the segment for the first time. A retransmission replaces the earlier
//! transmission of its segment.

use std::collections::VecDeque;

use super::control::{Arrival, CongestionControl, Lost, Processed, RecoveryPhase, Sent};
use super::window::Window;
use crate::kernel::time::Time;
use crate::tcp::ring::Ring;
use crate::tcp::sack::Blocks;

/// A congestion control, with the state that it has attached to each transmission.
#[derive(Clone, Debug)]
pub(super) struct Tracked<C: CongestionControl> {
    pub(super) control: C,
    /// Segments from `snd_una` on whose arrival SACK blocks have reported, and that were not sent
    /// again since.
    reported: Ring,
    /// Last transmission of each segment from `snd_una` on.
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
            reported: Ring::new(receive),
            transmissions: VecDeque::new(),
            snd_una: 0,
            sent: 0,
        }
    }

    /// Returns the number of segments whose last transmission is neither known to have arrived nor
    /// considered lost.
    #[cfg(test)]
    pub(super) fn pending(&self) -> u32 {
        self.transmissions.len() as u32 - self.reported.held
    }
}

/// The segments that an ACK reports for the first time, so far.
struct AckUpdate<I> {
    segments: u32,
    /// The most recent transmission among them.
    newest: Option<Transmission<I>>,
}

impl<I: Copy> AckUpdate<I> {
    #[inline]
    fn add(&mut self, transmission: Transmission<I>) {
        self.segments += 1;
        if (self.newest).is_none_or(|newest| newest.order < transmission.order) {
            self.newest = Some(transmission);
        }
    }
}

/// The events of single segments, which the sender passes to a tracked congestion control.
impl<C: CongestionControl> Tracked<C> {
    /// Processes the transmission of a segment.
    #[inline]
    pub(super) fn on_sent(&mut self, window: &mut Window, sent: &Sent) {
        if !self.control.follows_arrivals() {
            self.control.on_sent(window, sent);
            return;
        }
        let place = (sent.number - self.snd_una) as usize;
        let is_again = place < self.transmissions.len();
        if is_again && self.reported.held > 0 {
            self.reported.remove(sent.number);
        }
        let transmission = Transmission {
            order: self.sent,
            info: self.control.on_sent(window, sent),
        };
        match is_again {
            true => self.transmissions[place] = transmission,
            false => self.transmissions.push_back(transmission),
        }
        self.sent += 1;
    }

    /// Processes losses: the last transmissions of the segments `numbers` were declared lost. The
    /// loss recovery is then in the phase `phase`.
    #[cold]
    pub(super) fn on_lost(
        &mut self,
        window: &mut Window,
        now: Time,
        phase: RecoveryPhase,
        numbers: &[u32],
    ) {
        for &number in numbers {
            let place = number.checked_sub(self.snd_una);
            let lost = place.and_then(|place| self.transmissions.get(place as usize));
            if let Some(&Transmission { info, .. }) = lost {
                let lost = Lost { now, number, phase };
                self.control.on_lost(window, &lost, info);
            }
        }
    }

    /// Processes an ACK that acknowledges all segments before `next`, with its SACK blocks.
    #[inline]
    pub(super) fn on_delivered(
        &mut self,
        window: &mut Window,
        now: Time,
        next: u32,
        blocks: &Blocks,
    ) {
        if !self.control.follows_arrivals() {
            return;
        }
        // most ACKs acknowledge one segment, while no segment is missing
        if next == self.snd_una + 1
            && self.reported.held == 0
            && blocks[0].1 == 0
            && let Some(newest) = self.transmissions.pop_front()
        {
            self.snd_una = next;
            #[cfg(feature = "bbr3-trace")]
            self.control.on_each_delivered(newest.info);
            let arrival = Arrival { now, segments: 1 };
            return self.control.on_delivered(window, &arrival, newest.info);
        }
        self.on_several_delivered(window, now, next, blocks);
    }

    /// Processes any ACK, like [`Tracked::on_delivered`].
    #[inline(never)]
    fn on_several_delivered(&mut self, window: &mut Window, now: Time, next: u32, blocks: &Blocks) {
        let mut news = AckUpdate {
            segments: 0,
            newest: None,
        };
        while self.snd_una < next
            && let Some(transmission) = self.transmissions.pop_front()
        {
            let arrived = self.reported.held > 0 && self.reported.remove(self.snd_una);
            self.snd_una += 1;
            if !arrived {
                #[cfg(feature = "bbr3-trace")]
                self.control.on_each_delivered(transmission.info);
                news.add(transmission);
            }
        }
        let end = self.snd_una + self.transmissions.len() as u32;
        for &(from, to) in blocks {
            let (from, to) = (from.max(self.snd_una), to.min(end));
            while from < to
                && let Some(number) = self.reported.first_absent(from, to)
            {
                self.reported.insert(number);
                let transmission = self.transmissions[(number - self.snd_una) as usize];
                #[cfg(feature = "bbr3-trace")]
                self.control.on_each_delivered(transmission.info);
                news.add(transmission);
            }
        }
        if let Some(newest) = news.newest {
            let arrival = Arrival {
                now,
                segments: news.segments,
            };
            self.control.on_delivered(window, &arrival, newest.info);
        }
    }

    /// Processes the end of the processing of an ACK.
    #[inline(always)]
    pub(super) fn on_ack_processed(&mut self, window: &mut Window, state: &Processed) {
        self.control.on_ack_processed(window, state);
    }

    /// Processes the end of the processing of a retransmission timeout.
    pub(super) fn on_timeout_processed(&mut self, window: &mut Window, state: &Processed) {
        self.control.on_timeout_processed(window, state);
    }

    /// Processes a pause of the application.
    pub(super) fn on_app_limited(&mut self, in_flight: u32) {
        self.control.on_app_limited(in_flight);
    }

    /// Processes the undo of a recovery.
    pub(super) fn on_undo(&mut self, window: &mut Window) {
        self.control.on_undo(window);
    }

    /// Processes a sign of congestion that is not the loss of a known transmission.
    pub(super) fn on_sign(&mut self, window: &mut Window) {
        self.control.on_sign(window);
    }
}

#[cfg(test)]
mod tests;
