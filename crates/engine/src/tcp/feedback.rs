//! ECN feedback: the codepoints of segments, and the echo of marks in ACKs.
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
//! With `Each`, an ACK covers either marked or unmarked segments, but not both. If an arriving
//! segment differs in this from the segments of the waiting ACK, the waiting ACK leaves first.
//!
//! Differs from RFC 9768 in:
//! - Packets are counted modulo 64, not modulo 8 as in the ACE field. Therefore the count stays
//!   exact if many consecutive ACKs are lost, as with the option of section 3.2.3.
//! - A mark does not make an ACK leave earlier (section 3.2.2.5.1).
//! - Marks on ACKs are not counted, because ACKs are never marked here.
//!
//! Differs from RFC 8257 in: an ACK that leaves immediately for a segment out of order also covers the
//! segments whose ACK was waiting.

use crate::kernel::time::Time;
use crate::packet::EcnEcho;

/// The way in which a receiver reports marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Segments are not marked.
    None,
    /// A flag that stays set until the window is reduced.
    Flag,
    /// A flag that is set if the segments that an ACK covers were marked.
    Each,
    /// The number of marked segments so far.
    Count,
}

/// The state of the echo at a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echoes {
    feedback: Feedback,
    /// Echo of the next ACK.
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

    /// Returns the echo of the next ACK.
    #[inline(always)]
    pub(super) fn now(&self) -> EcnEcho {
        self.now
    }

    /// Returns whether the arrival of a segment makes the ACK leave now that waits until
    /// `deadline`. `ce` says whether the segment is marked.
    pub(super) fn hastens(&self, ce: bool, deadline: Time) -> bool {
        self.feedback == Feedback::Each && ce != self.now.is_set() && deadline != Time::NEVER
    }

    /// Processes CWR and CE of a segment.
    pub(super) fn on_segment(&mut self, cwr: bool, ce: bool) {
        self.marked += u32::from(ce);
        self.now = match self.feedback {
            Feedback::None | Feedback::Flag => EcnEcho::flag(ce || self.now.is_set() && !cwr),
            Feedback::Each => EcnEcho::of_each(ce),
            Feedback::Count => EcnEcho::count(self.marked),
        };
    }
}
