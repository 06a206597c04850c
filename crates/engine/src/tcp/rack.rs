//! RACK: losses found by time, with the send time of each segment on the scoreboard.
//!
//! Reference: RFC 8985, section 6; its names stand in the docstrings.
//!
//! ```text
//! sent --ACKed or SACKed--> delivered
//!  ^  '--sent before RACK.segment, and RACK.rtt + RACK.reo_wnd ago--> lost
//!  '------------------- sent again, from here on ---------------------'
//! ```
//!
//! RACK.segment is the one sent last of those that have arrived. What was sent before it and has not
//! arrived is late, and lost once it is late by more than the [reordering window](window); until then a
//! timer waits. This says the same of what was sent again, so that a retransmission that gets lost is
//! found as well. Segments are kept in the order in which they were sent ([`transmissions`]): whatever is late
//! stands at the front.
//!
//! Readings:
//! - Segments sent at once count in the order in which they left. The RFC goes by sequence numbers, for coarse
//!   clocks; here a segment sent again often leaves at the very instant of a new one.
//! - An echoed time says which transmission of a segment arrived only if the ACK acknowledges it
//!   cumulatively. An ACK that leaves a gap echoes the time of a segment below it (RFC 7323, section
//!   4.3), and proves nothing of what it SACKs. Linux does not look at the echo.
//! - RACK.min_RTT takes the sample of an ACK of new data before that ACK is judged, and the one of the
//!   segment sent last of those sent once after it.

mod transmissions;
mod window;

use super::ring::Ring;
use super::sack::Blocks;
use super::scoreboard::Update;
use crate::kernel::time::{Span, Time};
use transmissions::{Sent, TransmissionList};
use window::ReorderingWindow;
pub(super) use window::SenderState;

#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// SACKed segments above `snd_una`.
    sacked: Ring,
    /// Lost segments that have not been sent again since.
    lost: Ring,
    /// No segment below is lost.
    lost_from: u32,
    /// Segments sent more than once and not known to have arrived.
    again: Ring,
    /// Segments in the network, neither SACKed nor lost.
    transmissions: TransmissionList,
    /// RACK.segment's transmission: RACK.xmit_ts, and what the RFC has RACK.end_seq for.
    latest: Sent,
    /// RACK.rtt.
    rtt: Span,
    /// When that segment left that was sent last of those which the last ACK tells of and which were sent once.
    once: Option<Time>,
    /// RACK.fack: one past the highest segment known to have arrived.
    fack: u32,
    window: ReorderingWindow,
    /// When the reordering timer expires.
    deadline: Time,
}

/// An ACK that moves `snd_una`, or leaves it where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'a> {
    pub(super) now: Time,
    /// `snd_una` before it.
    pub(super) before: u32,
    /// `snd_una` after it.
    pub(super) next: u32,
    pub(super) snd_max: u32,
    pub(super) echo: Time,
    pub(super) blocks: &'a Blocks,
}

/// What the segments that an ACK tells of have in common.
#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    /// The one sent last of those whose transmission is known.
    latest: Option<Sent>,
    /// The one sent last of those sent once.
    once: Option<Time>,
}

impl Rack {
    /// For a receive window of `window` packets.
    pub(super) fn new(window: u32) -> Rack {
        Rack {
            sacked: Ring::new(window),
            lost: Ring::new(window),
            lost_from: 0,
            again: Ring::new(window),
            transmissions: TransmissionList::new(),
            latest: Sent::NEVER,
            rtt: Span::ZERO,
            once: None,
            fack: 0,
            window: ReorderingWindow::new(),
            deadline: Time::NEVER,
        }
    }

    /// Segments in the network.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        self.transmissions.held()
    }

    /// RACK.segs_sacked.
    #[inline]
    pub(super) fn sacked(&self) -> u32 {
        self.sacked.held
    }

    /// Whether a lost segment waits to be sent again.
    #[inline]
    pub(super) fn has_lost(&self) -> bool {
        self.lost.held > 0
    }

    /// Whether a segment was sent again and is not known to have arrived.
    pub(super) fn has_repeated(&self) -> bool {
        self.again.held > 0
    }

    /// When that segment left that was sent last of those which the last ACK tells of and which were sent once.
    #[inline]
    pub(super) fn sent_once(&self) -> Option<Time> {
        self.once
    }

    /// When a segment left last.
    #[inline]
    pub(super) fn sent(&self, number: u32) -> Time {
        self.transmissions.sent(number).xmit_ts
    }

    /// When the reordering timer expires; [`Time::NEVER`] when it is off.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// The lowest lost segment.
    #[inline]
    pub(super) fn first_lost(&mut self, snd_una: u32, snd_max: u32) -> Option<u32> {
        if self.lost.held == 0 {
            return None;
        }
        let first = self
            .lost
            .first_present(self.lost_from.max(snd_una), snd_max);
        self.lost_from = first.unwrap_or(snd_max);
        first
    }

    /// `number` leaves for the first time.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, snd_una: u32, number: u32) {
        self.transmissions.make_room(snd_una, number);
        self.transmissions.push(now, number);
    }

    /// `number` leaves again: it was lost, or probes for losses.
    pub(super) fn on_sent_again(&mut self, now: Time, number: u32) {
        if !self.lost.remove(number) {
            self.transmissions.remove(number);
        }
        self.again.insert(number);
        self.transmissions.push(now, number);
    }

    /// Steps 1 to 3: an ACK arrived.
    pub(super) fn on_ack(&mut self, step: Step) -> Update {
        let Step {
            now,
            before,
            next,
            snd_max,
            echo,
            blocks,
        } = step;
        let outstanding = snd_max - before - self.sacked.held;
        let fack = self.fack;
        let mut arrived = Arrived::default();
        if next > before {
            self.window.on_sample(now, now.since(echo)); // step 1
        }
        let mut delivered = 0;
        for number in before..next {
            if self.sacked.held == 0 || !self.sacked.remove(number) {
                self.deliver(now, number, Some(echo), fack, &mut arrived);
                delivered += 1;
            }
        }
        let mut news = 0;
        for &(from, to) in blocks {
            let (from, to) = (from.max(next + 1), to.min(snd_max));
            while let Some(number) = self.sacked.first_absent(from, to.max(from)) {
                self.sacked.insert(number);
                self.deliver(now, number, None, fack, &mut arrived);
                news += 1;
            }
        }
        if let Some(latest) = arrived.latest {
            self.rtt = now.since(latest.xmit_ts);
            self.latest = self.latest.max(latest);
        }
        self.once = arrived.once;
        if let Some(sent) = arrived.once {
            self.window.on_sample(now, now.since(sent));
        }
        Update {
            delivered: delivered + news,
            news,
            outstanding,
        }
    }

    /// Steps 2 and 3 for a segment; `echo` where it is acknowledged cumulatively. Of what was sent again only
    /// that counts which cannot be the answer to an earlier transmission.
    #[inline]
    fn deliver(
        &mut self,
        now: Time,
        number: u32,
        echo: Option<Time>,
        fack: u32,
        arrived: &mut Arrived,
    ) {
        if self.lost.held == 0 || !self.lost.remove(number) {
            self.transmissions.remove(number);
        }
        let sent = self.transmissions.sent(number);
        let end_seq = number + 1;
        self.fack = self.fack.max(end_seq);
        if self.again.held > 0 && self.again.remove(number) {
            let of_an_earlier_one = echo.is_some_and(|echo| echo < sent.xmit_ts);
            if of_an_earlier_one || now.since(sent.xmit_ts) < self.window.min_rtt() {
                return;
            }
        } else {
            arrived.once = arrived.once.max(Some(sent.xmit_ts));
            if end_seq < fack {
                self.window.on_reordering();
            }
        }
        arrived.latest = arrived.latest.max(Some(sent));
    }

    /// A D-SACK arrived with an ACK up to `snd_una`.
    pub(super) fn on_dsack(&mut self, snd_una: u32, snd_nxt: u32) {
        self.window.on_dsack(snd_una, snd_nxt);
    }

    /// A recovery is over.
    pub(super) fn on_recovered(&mut self) {
        self.window.on_recovered();
    }

    /// Steps 4 and 5, RACK_detect_loss_and_arm_timer(): how many segments are lost that were not before.
    #[inline]
    pub(super) fn detect_loss(&mut self, now: Time, state: SenderState) -> u32 {
        self.deadline = Time::NEVER;
        let mut found = 0;
        let mut next = self.transmissions.oldest();
        while let Some(number) = next {
            let sent = self.transmissions.sent(number);
            if sent >= self.latest {
                break;
            }
            next = self.transmissions.after(number);
            let due = self.due(sent.xmit_ts, state);
            if due <= now {
                self.lose(number);
                found += 1;
            } else {
                self.deadline = due; // of what was sent last: the latest
            }
        }
        found
    }

    /// RACK_mark_losses_on_RTO(), section 6.3.
    pub(super) fn on_rto(&mut self, now: Time, snd_una: u32, state: SenderState) {
        self.deadline = Time::NEVER;
        while let Some(number) = self.transmissions.oldest()
            && self.due(self.transmissions.sent(number).xmit_ts, state) <= now
        {
            self.lose(number);
        }
        if !self.lost.contains(snd_una) {
            self.lose(snd_una);
        }
    }

    /// Segments were late, not lost: those that were not sent again may be under way.
    #[cold]
    pub(super) fn forgive(&mut self, snd_una: u32, snd_max: u32) {
        self.window.on_reordering();
        // each before those put back already, unless it was sent again in between
        for number in (snd_una..snd_max).rev() {
            if self.lost.remove(number) {
                self.transmissions.put_back(number);
            }
        }
    }

    /// When a segment sent at `xmit_ts` is lost, unless it has arrived.
    #[inline]
    fn due(&self, xmit_ts: Time, state: SenderState) -> Time {
        xmit_ts
            .plus(self.rtt)
            .plus(self.window.size(self.sacked.held, state))
    }

    fn lose(&mut self, number: u32) {
        self.transmissions.remove(number);
        self.lost.insert(number);
        self.lost_from = self.lost_from.min(number);
    }
}

#[cfg(test)]
mod tests;
