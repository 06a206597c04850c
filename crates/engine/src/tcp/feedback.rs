//! ECN feedback: the ECN codepoints of segments, and the echo of marks (CE) in ACKs.
//!
//! References: RFC 3168, sections 6.1.2 and 6.1.3; RFC 8257, section 3.2; RFC 9768, section 3.2.2; RFC 9331,
//! sections 4.1 and 4.2.
//!
//! ```text
//! Flag    ECE on all ACKs from a mark until CWR arrives             ECT(0)
//! Each    ECE on an ACK if the segments that it covers were marked  ECT(0), or ECT(1) if configured
//! Count   number of segments marked so far                          ECT(1)
//! ```
//!
//! With `Each`, an ACK covers either marked or unmarked segments, but not both. If a marked segment
//! arrives while the ACK of unmarked segments is delayed, the delayed ACK is sent before the
//! segment is processed. The same rule applies if an unmarked segment follows marked segments.
//!
//! Differs from RFC 9768 in:
//! - The number of marks is sent modulo 64, not modulo 8 as in the ACE field. Therefore the sender
//!   knows the exact number even if many consecutive ACKs are lost, as with the option of section
//!   3.2.3.
//! - A mark does not cause an earlier ACK (section 3.2.2.5.1).
//! - Marks on ACKs are not counted, because ACKs are never marked here.
//!
//! Differs from RFC 8257 in: an immediate ACK of a segment out of order also covers the segments
//! whose ACK was delayed.

use crate::kernel::time::Time;
use crate::packet::EcnEcho;

/// The way in which a receiver reports marks to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// No reports, because segments are not marked.
    None,
    /// A flag on all ACKs, from a mark until the sender reports that it has reduced the window.
    Flag,
    /// A flag on an ACK if the segments that the ACK covers were marked.
    Each,
    /// The number of marked segments so far, on all ACKs.
    Count,
}

/// The ECN state of a receiver, which determines the ECN echo of its ACKs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echoes {
    feedback: Feedback,
    /// ECN echo of the next ACK.
    now: EcnEcho,
    marked: u32,
}

impl Echoes {
    pub(super) fn new(feedback: Feedback) -> Echoes {
        let now = match feedback {
            Feedback::None | Feedback::Flag => EcnEcho::NONE,
            Feedback::Each => EcnEcho::of_each(false),
            Feedback::Count => EcnEcho::count(0),
        };
        Echoes {
            feedback,
            now,
            marked: 0,
        }
    }

    /// Returns the ECN echo of the next ACK.
    #[inline(always)]
    pub(super) fn now(&self) -> EcnEcho {
        self.now
    }

    /// Returns whether a delayed ACK must be sent before the arriving segment is processed. `ce`
    /// says whether the segment is marked. `deadline` is the time of the delayed ACK.
    pub(super) fn hastens(&self, ce: bool, deadline: Time) -> bool {
        self.feedback == Feedback::Each && ce != self.now.is_set() && deadline != Time::NEVER
    }

    /// Updates the ECN echo for an arriving segment with or without the CWR flag and the CE mark.
    pub(super) fn on_segment(&mut self, cwr: bool, ce: bool) {
        self.marked += u32::from(ce);
        self.now = match self.feedback {
            Feedback::None | Feedback::Flag => EcnEcho::flag(ce || self.now.is_set() && !cwr),
            Feedback::Each => EcnEcho::of_each(ce),
            Feedback::Count => EcnEcho::count(self.marked),
        };
    }
}
