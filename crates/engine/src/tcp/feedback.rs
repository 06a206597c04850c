//! How a receiver tells the sender of marks: which segments may be marked as what, and what ACKs echo.
//!
//! References: RFC 3168, sections 6.1.2 and 6.1.3; RFC 8257, section 3.2; RFC 9768, section 3.2.2; RFC 9331,
//! sections 4.1 and 4.2.
//!
//! ```text
//! Flag    ECE on all ACKs from a mark until CWR arrives             ECT(0)
//! Each    ECE on an ACK if the segments that it covers were marked  ECT(0), or ECT(1) if asked for
//! Count   how many segments have been marked so far                 ECT(1)
//! ```
//!
//! With `Each` an ACK covers segments of one kind: where a segment is marked and the one before, whose ACK waits, is
//! not, or the other way about, that ACK leaves first.
//!
//! Differs from RFC 9768 in: packets are counted modulo 64, not modulo the 8 of the ACE field, so that the count stays
//! exact where many ACKs are lost in a row, as the option of section 3.2.3 makes it; a mark hastens no ACK (section
//! 3.2.2.5.1); marks on ACKs are not counted, which are never marked here. Differs from RFC 8257 in: where an ACK
//! leaves at once for a segment out of order, it covers what waited as well.

use crate::kernel::time::Time;
use crate::packet::EcnEcho;

/// How a connection hears of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Its segments are not marked.
    None,
    /// A flag that stays until the window was reduced.
    Flag,
    /// A flag that says whether what an ACK covers was marked.
    Each,
    /// A count.
    Count,
}

/// What a receiver has to say of marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echoes {
    feedback: Feedback,
    /// What ACKs say now.
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

    /// What an ACK says now.
    #[inline(always)]
    pub(super) fn now(&self) -> EcnEcho {
        self.now
    }

    /// Whether a segment that arrives, marked (CE) or not, lets an ACK leave that waits at `deadline`.
    pub(super) fn hastens(&self, ce: bool, deadline: Time) -> bool {
        self.feedback == Feedback::Each && ce != self.now.is_set() && deadline != Time::NEVER
    }

    /// A segment arrives that says that the window was reduced (CWR), or was marked (CE), or both.
    pub(super) fn on_segment(&mut self, cwr: bool, ce: bool) {
        self.marked += u32::from(ce);
        self.now = match self.feedback {
            Feedback::None | Feedback::Flag => EcnEcho::flag(ce || self.now.is_set() && !cwr),
            Feedback::Each => EcnEcho::of_each(ce),
            Feedback::Count => EcnEcho::count(self.marked),
        };
    }
}
