//! Explicit congestion notification (ECN): the reaction of the sender to marks.
//!
//! References: RFC 3168, sections 6.1.2 and 6.1.5; RFC 8257, section 3.3; RFC 9331, section 4.
//!
//! New segments may be marked; retransmissions and ACKs may not. The echo of a mark (ECE) reduces
//! the window as the loss of a segment does, or by less with `abe` (RFC 8511), but no segment has to
//! be repaired. Marks reduce the
//! window once per window of data: marks and losses of segments that were sent before a reduction
//! cause no further reduction. The window does not grow on an ACK with ECE. The first new segment
//! after any reduction carries CWR.
//!
//! A control that reacts to the number of marked segments ([`Feedback::Each`], [`Feedback::Count`])
//! receives this number with each ACK, and decides how marks reduce the window. This decision is
//! also made at most once per window of data.
//!
//! Differs from the RFCs in:
//! - After a reduction the window is at least two segments. These two segments are sent
//!   immediately. In RFC 3168, a sender whose window is one segment waits for the retransmission
//!   timer.
//! - Both ends support ECN, so that the handshake always agrees on it.
//! - SYNs and ACKs carry no ECT.
//!
//! Differs from Linux in: the window is reduced immediately, not over a round trip (RFC 9937).

use super::{Recovery, Segment, Sender};
use crate::kernel::time::Time;
use crate::packet::{Ecn, EcnEcho};
use crate::tcp::Feedback;
use crate::tcp::congestion::MarkReport;

impl Sender {
    /// Processes the ECN echo of an ACK that acknowledges all segments before `next`. This function
    /// must be called before the ACK is processed, because the reduction depends on the number of
    /// segments outstanding before the ACK.
    #[cold]
    pub(super) fn on_echo(&mut self, now: Time, next: u32, echo: EcnEcho) {
        match self.marks.feedback {
            Feedback::None => {}
            Feedback::Flag => {
                if self.may_reduce(next) {
                    self.congestion.on_echo(self.flight());
                    self.reduced();
                    self.marks.reductions += 1;
                }
            }
            Feedback::Each | Feedback::Count => self.on_marks(now, next, echo),
        }
    }

    /// Processes the number of marked segments on an ACK, unless a later ACK has overtaken it.
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
            self.marks.reductions += 1;
        }
    }

    /// Returns whether a mark on a segment before `next` reduces the window.
    fn may_reduce(&self, next: u32) -> bool {
        let recovers = matches!(self.recovery, Recovery::Fast { .. });
        !recovers && next > self.marks.recover
    }

    /// Returns the number of reductions of the window by marks so far.
    pub fn reductions_by_marks(&self) -> u64 {
        u64::from(self.marks.reductions)
    }

    /// Records that the window was reduced.
    pub(super) fn reduced(&mut self) {
        self.marks.cwr = self.marks.enabled();
        self.marks.recover = self.snd_max;
    }

    /// Returns whether a mark has already reduced the window of data that contains `snd_una`.
    /// A reduction by a control that reacts to the number of marks does not count here, because a
    /// loss requires a separate reduction (RFC 9331, section 4.3).
    pub(super) fn reduced_in_this_window(&self) -> bool {
        self.marks.feedback == Feedback::Flag && self.snd_una < self.marks.recover
    }

    /// Returns the segment with this number and its ECN fields.
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
            // the receiver reports every mark, so it must also process the flags of segments
            // without CWR and CE
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
