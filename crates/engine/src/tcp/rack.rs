//! RACK: loss detection by time, with the transmission time of each segment.
//!
//! Reference: RFC 8985, section 6. The names of the RFC are in the docstrings.
//!
//! ```text
//! sent --ACKed or SACKed--> delivered
//!  ^  '--sent before RACK.segment, and RACK.rtt + RACK.reo_wnd ago--> lost
//!  '------------------- sent again, from here on ---------------------'
//! ```
//!
//! RACK.segment is the segment that was sent last among the segments that have arrived. A segment
//! that was sent before RACK.segment and has not arrived is late. A late segment is lost when it is
//! late by more than the [reordering window](window). Until the segment is declared lost or
//! arrives, a timer runs. The rule also applies to retransmitted segments, so the loss of a
//! retransmission is detected as well. The segments are in a list in the order of transmission
//! ([`transmissions`]), so late segments are at the front of this list.
//!
//! Interpretations of the RFC:
//! - Segments with equal transmission times are compared by the order in which they were sent. The
//!   RFC compares their sequence numbers, because clocks may be coarse. Here a retransmission and a
//!   new segment are often sent at the same time.
//! - An echoed time shows which transmission of a segment arrived only if the ACK acknowledges the
//!   segment cumulatively. While a segment is missing, ACKs echo the time of a segment below the
//!   missing segment (RFC 7323, section 4.3), and therefore prove nothing about the segments that
//!   they SACK. Linux does not use the echo.
//! - An ACK of new data gives two samples of RACK.min_RTT. The first sample is the time since the
//!   echoed transmission time, and is added before the ACK is processed. The second sample is added
//!   afterwards. It is the time since the latest transmission among the segments that the ACK
//!   reports and that were sent only once.

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
    /// SACKed segments with higher numbers than `snd_una`.
    sacked: Ring,
    /// Lost segments that have not been retransmitted since.
    lost: Ring,
    /// Lower bound of the numbers of lost segments.
    lost_from: u32,
    /// Number of times that a segment was declared lost.
    losses: u32,
    /// Whether `newly_lost` lists segments.
    lists_losses: bool,
    /// Segments that were declared lost and are not reported to the congestion control yet.
    pub(super) newly_lost: Vec<u32>,
    /// Segments that were retransmitted and are not known to have arrived.
    again: Ring,
    /// Segments in the network, in the order of transmission. They are neither SACKed nor lost.
    transmissions: TransmissionList,
    /// Transmission of RACK.segment: its time RACK.xmit_ts, and its position in the order of all
    /// transmissions. The RFC uses RACK.end_seq in place of this position.
    latest: Sent,
    /// RACK.rtt: round-trip time of RACK.segment.
    rtt: Span,
    /// Latest transmission time of the segments that the last ACK reported for the first time and
    /// that were never retransmitted; `None` if there are no such segments.
    once: Option<Time>,
    /// RACK.fack: one more than the highest number of a segment known to have arrived.
    fack: u32,
    window: ReorderingWindow,
    /// Expiry of the reordering timer; [`Time::NEVER`] if the timer is off.
    deadline: Time,
}

/// The input of RACK for one ACK: the ACK, and the values that RACK requires from the sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'a> {
    pub(super) now: Time,
    /// `snd_una` before the ACK.
    pub(super) before: u32,
    /// `snd_una` after the ACK.
    pub(super) next: u32,
    pub(super) snd_max: u32,
    pub(super) echo: Time,
    pub(super) blocks: &'a Blocks,
}

/// The latest transmissions of the segments that an ACK reports for the first time.
#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    /// Latest transmission that is known to have arrived; `None` if there is no such transmission.
    /// The ACK of a retransmitted segment may not show which transmission of the segment arrived.
    latest: Option<Sent>,
    /// Latest transmission time of the segments that were sent only once; `None` if there are no
    /// such segments.
    once: Option<Time>,
}

impl Rack {
    /// Returns the state of a new connection with a receive window of `window` packets.
    pub(super) fn new(window: u32) -> Rack {
        Rack {
            sacked: Ring::new(window),
            lost: Ring::new(window),
            lost_from: 0,
            losses: 0,
            lists_losses: false,
            newly_lost: Vec::new(),
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

    /// Returns the same state, which lists newly lost segments in `newly_lost` if `lists_losses` is
    /// true.
    pub(super) fn listing_losses(self, lists_losses: bool) -> Rack {
        Rack {
            lists_losses,
            ..self
        }
    }

    /// Returns the number of segments in the network.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        self.transmissions.length()
    }

    /// RACK.segs_sacked: returns the number of SACKed segments with higher numbers than `snd_una`.
    #[inline]
    pub(super) fn sacked(&self) -> u32 {
        self.sacked.held
    }

    /// Returns whether a lost segment has not been retransmitted yet.
    #[inline]
    pub(super) fn has_lost(&self) -> bool {
        self.lost.held > 0
    }

    /// Returns the number of times that a segment was declared lost so far.
    pub(super) fn losses(&self) -> u32 {
        self.losses
    }

    /// RACK.min_RTT: returns the minimum round-trip time of the last minutes; the largest value
    /// before the first sample.
    pub(super) fn min_rtt(&self) -> Span {
        self.window.min_rtt()
    }

    /// Returns whether at least one segment was retransmitted and is not known to have arrived.
    pub(super) fn has_repeated(&self) -> bool {
        self.again.held > 0
    }

    /// Returns the latest transmission time of the segments that the last ACK reported for the
    /// first time and that were never retransmitted; `None` if there are no such segments.
    #[inline]
    pub(super) fn sent_once(&self) -> Option<Time> {
        self.once
    }

    /// Returns the time of the last transmission of a segment.
    #[inline]
    pub(super) fn sent(&self, number: u32) -> Time {
        self.transmissions.sent(number).xmit_ts
    }

    /// Returns the expiry of the reordering timer; [`Time::NEVER`] if the timer is off.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Returns the lowest-numbered lost segment from `snd_una` up to but excluding `snd_max`;
    /// `None` if no segment is lost.
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

    /// Processes the first transmission of segment `number`.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, snd_una: u32, number: u32) {
        self.transmissions.make_room(snd_una, number);
        self.transmissions.push(now, number);
    }

    /// Processes a retransmission of segment `number`, which was lost or is sent as a probe.
    pub(super) fn on_sent_again(&mut self, now: Time, number: u32) {
        if !self.lost.remove(number) {
            self.transmissions.remove(number);
        }
        self.again.insert(number);
        self.transmissions.push(now, number);
    }

    /// Processes an ACK (RFC 8985, section 6.2, steps 1 to 3).
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
            self.window.on_sample(now, now.since(echo)); // step 1: update RACK.min_RTT
        }
        let mut delivered = 0;
        for number in before..next {
            if self.sacked.held == 0 || !self.sacked.remove(number) {
                self.deliver(now, number, Some(echo), fack, &mut arrived);
                delivered += 1;
            }
        }
        let mut newly_sacked = 0;
        for &(from, to) in blocks {
            let (from, to) = (from.max(next + 1), to.min(snd_max));
            while let Some(number) = self.sacked.first_absent(from, to.max(from)) {
                self.sacked.insert(number);
                self.deliver(now, number, None, fack, &mut arrived);
                newly_sacked += 1;
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
            delivered: delivered + newly_sacked,
            sacked: newly_sacked,
            outstanding,
        }
    }

    /// Processes the arrival of a segment (section 6.2, steps 2 and 3). `echo` is the timestamp
    /// echo if the ACK acknowledges the segment cumulatively. A retransmitted segment is ignored if
    /// an earlier transmission may have caused the ACK.
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

    /// Processes a D-SACK (the report of a duplicate segment) on an ACK with the number `snd_una`.
    pub(super) fn on_dsack(&mut self, snd_una: u32, snd_nxt: u32) {
        self.window.on_dsack(snd_una, snd_nxt);
    }

    /// Processes the end of a recovery.
    pub(super) fn on_recovered(&mut self) {
        self.window.on_recovered();
    }

    /// Steps 4 and 5, RACK_detect_loss_and_arm_timer(): declares late segments lost and sets the
    /// reordering timer. Returns the number of newly lost segments.
    #[inline]
    pub(super) fn detect_loss(&mut self, now: Time, state: SenderState) -> u32 {
        self.deadline = Time::NEVER;
        let mut losses = 0;
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
                losses += 1;
            } else {
                self.deadline = due; // the list is in the order of transmission, so the last `due` is the latest
            }
        }
        losses
    }

    /// RACK_mark_losses_on_RTO(), section 6.3: declares segments lost after a retransmission
    /// timeout.
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

    /// Puts lost segments back into the list of segments in the network, unless they have been
    /// retransmitted. These segments were late, not lost.
    #[cold]
    pub(super) fn forgive(&mut self, snd_una: u32, snd_max: u32) {
        self.window.on_reordering();
        // in descending order, so that `put_back` finds most positions near the start of the list
        for number in (snd_una..snd_max).rev() {
            if self.lost.remove(number) {
                self.transmissions.put_back(number);
            }
        }
    }

    /// Returns the time at which a segment is declared lost, unless it arrives before this time.
    /// `xmit_ts` is its transmission time.
    #[inline]
    fn due(&self, xmit_ts: Time, state: SenderState) -> Time {
        xmit_ts
            .plus(self.rtt)
            .plus(self.window.size(self.sacked.held, state))
    }

    fn lose(&mut self, number: u32) {
        self.losses += 1;
        if self.lists_losses {
            self.newly_lost.push(number);
        }
        self.transmissions.remove(number);
        self.lost.insert(number);
        self.lost_from = self.lost_from.min(number);
    }
}

#[cfg(test)]
mod tests;
