//! Explicit congestion notification: a mark in place of a loss.
//!
//! References: RFC 3168, sections 6.1.2 and 6.1.5; RFC 8257, section 3.3; RFC 9331, section 4.
//!
//! New segments may be marked, retransmissions and ACKs may not. The echo of a mark (ECE) reduces
//! the window as the loss of a segment does, with nothing to repair, and once a window of data: marks
//! and losses of segments sent before a reduction cause no other one. An ACK with ECE lets nothing
//! grow. The first new segment after a reduction for whatever reason says so (CWR).
//!
//! Where the algorithm answers to how many segments are marked ([`Feedback::Each`], [`Feedback::Count`]), it hears of each
//! ACK what part was, and says what a mark leaves; that is also once a window of data.
//!
//! Differs from the RFCs in: a window of two segments, the least that a reduction leaves, still sends
//! at once, where RFC 3168 has a window of one wait for the retransmission timer; both ends are capable,
//! so that the handshake always agrees on it; SYNs and ACKs carry no ECT.
//! Differs from Linux in: the window falls at once, not over a round trip (RFC 9937).

use super::{Recovery, Segment, Sender};
use crate::kernel::time::Time;
use crate::packet::{Ecn, EcnEcho};
use crate::tcp::congestion::{CongestionSign, MarkReport};
use crate::tcp::{Feedback, TcpSettings};

/// What a sender knows of marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    feedback: Feedback,
    /// Whether the next new segment must say that the window was reduced.
    cwr: bool,
    /// What new segments are labelled as.
    ecn: Ecn,
    /// One past the highest segment sent when the window was last reduced.
    recover: u32,
    /// Reductions by marks so far.
    heeded: u32,
    /// The last count that was told.
    counted: u8,
}

impl Marks {
    pub(super) fn new(settings: &TcpSettings) -> Marks {
        let feedback = settings.feedback();
        Marks {
            feedback,
            cwr: false,
            ecn: settings.ect(),
            recover: 0,
            heeded: 0,
            counted: 0,
        }
    }

    #[inline(always)]
    fn enabled(&self) -> bool {
        self.feedback != Feedback::None
    }

    /// Segments that an ACK is the first to tell the marks of, where it covers `acked` new ones.
    fn newly_marked(&mut self, echo: EcnEcho, acked: u32) -> u32 {
        match echo.counted() {
            Some(counted) => {
                let more = EcnEcho::MODULUS + counted - u32::from(self.counted);
                self.counted = counted as u8; // less than the modulus
                more % EcnEcho::MODULUS
            }
            None if echo.is_set() => acked,
            None => 0,
        }
    }
}

impl Sender {
    /// An ACK up to `next` says something of marks. To be called before it takes effect, so that the flight is
    /// that of the window to be reduced.
    #[cold]
    pub(super) fn on_echo(&mut self, now: Time, next: u32, echo: EcnEcho) {
        match self.marks.feedback {
            Feedback::None => {}
            Feedback::Flag => {
                if self.may_reduce(next) {
                    self.congestion
                        .on_loss(self.flight(), CongestionSign::Selective);
                    self.reduced();
                    self.marks.heeded += 1;
                }
            }
            Feedback::Each | Feedback::Count => self.on_marks(now, next, echo),
        }
    }

    /// An ACK tells how many segments were marked; one that was overtaken tells nothing.
    fn on_marks(&mut self, now: Time, next: u32, echo: EcnEcho) {
        let Some(acked) = next.checked_sub(self.snd_una) else {
            return;
        };
        let report = MarkReport {
            now,
            acked,
            marked: self.marks.newly_marked(echo, acked),
            snd_una: next,
            snd_nxt: self.snd_nxt,
            srtt: self.rtt.srtt(),
        };
        self.congestion.on_marks(&report);
        if report.marked > 0
            && self.may_reduce(next)
            && self.congestion.decrease_by_marks(&report, self.flight())
        {
            self.reduced();
            self.marks.heeded += 1;
        }
    }

    /// Whether a mark on a segment before `next` is one that the window was not reduced for.
    fn may_reduce(&self, next: u32) -> bool {
        let recovers = matches!(self.recovery, Recovery::Fast { .. });
        !recovers && next > self.marks.recover
    }

    /// Reductions of the window by marks so far.
    pub fn reductions_by_marks(&self) -> u64 {
        u64::from(self.marks.heeded)
    }

    /// The window was reduced.
    pub(super) fn reduced(&mut self) {
        self.marks.cwr = self.marks.enabled();
        self.marks.recover = self.snd_max;
    }

    /// Whether the loss of `snd_una` is one of the window that the last reduction was for: a reduction that is for how
    /// many segments were marked is not for a loss (RFC 9331, section 4.3).
    pub(super) fn reduced_in_this_window(&self) -> bool {
        self.marks.feedback == Feedback::Flag && self.snd_una < self.marks.recover
    }

    /// The segment of this number as it leaves.
    #[inline(always)]
    pub(super) fn segment(&mut self, number: u32, retransmission: bool) -> Segment {
        let segment = Segment {
            number,
            retransmission,
            ecn: Ecn::NotCapable,
            echo: EcnEcho::NONE,
        };
        if self.marks.enabled() {
            self.labelled(segment)
        } else {
            segment
        }
    }

    #[cold]
    fn labelled(&mut self, segment: Segment) -> Segment {
        let cwr = !segment.retransmission && std::mem::take(&mut self.marks.cwr);
        let echo = match self.marks.feedback {
            Feedback::None | Feedback::Flag => EcnEcho::flag(cwr),
            // so that the receiver hears of segments without a mark as well
            Feedback::Each | Feedback::Count => EcnEcho::of_each(cwr),
        };
        let ecn = match segment.retransmission {
            true => Ecn::NotCapable,
            false => self.marks.ecn,
        };
        Segment {
            ecn,
            echo,
            ..segment
        }
    }
}

#[cfg(test)]
mod tests;
