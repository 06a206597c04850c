//! Explicit congestion notification: a mark in place of a loss.
//!
//! Reference: RFC 3168, sections 6.1.2 and 6.1.5.
//!
//! New segments may be marked, retransmissions and ACKs may not. The echo of a mark (ECE) reduces
//! the window as the loss of a segment does, with nothing to repair, and once a window of data: marks
//! and losses of segments sent before a reduction cause no other one. An ACK with ECE lets nothing
//! grow. The first new segment after a reduction for whatever reason says so (CWR).
//!
//! Differs from the RFC in: a window of two segments, the least that a reduction leaves, still sends
//! at once, where the RFC has a window of one wait for the retransmission timer; both ends are capable,
//! so that the handshake always agrees on it.
//! Differs from Linux in: the window falls at once, not over a round trip (RFC 9937).

use super::{Recovery, Segment, Sender};
use crate::packet::Ecn;

/// What a sender knows of marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    enabled: bool,
    /// Whether the next new segment must say that the window was reduced.
    cwr: bool,
    /// One past the highest segment sent when the window was last reduced.
    recover: u32,
    /// Reductions by marks so far.
    heeded: u32,
}

impl Marks {
    pub(super) fn new(enabled: bool) -> Marks {
        Marks {
            enabled,
            cwr: false,
            recover: 0,
            heeded: 0,
        }
    }
}

impl Sender {
    /// An ACK up to `next` echoes a mark. To be called before it takes effect, so that the flight is
    /// that of the window to be reduced.
    #[cold]
    pub(super) fn on_echo(&mut self, next: u32) {
        let recovers = matches!(self.recovery, Recovery::Fast { .. });
        if self.marks.enabled && !recovers && next > self.marks.recover {
            self.congestion.decrease(self.flight());
            self.reduced();
            self.marks.heeded += 1;
        }
    }

    /// Reductions of the window by marks so far.
    pub fn reductions_by_marks(&self) -> u64 {
        u64::from(self.marks.heeded)
    }

    /// The window was reduced.
    pub(super) fn reduced(&mut self) {
        self.marks.cwr = self.marks.enabled;
        self.marks.recover = self.snd_max;
    }

    /// Whether the loss of `snd_una` is one of the window that the last reduction was for.
    pub(super) fn reduced_in_this_window(&self) -> bool {
        self.marks.enabled && self.snd_una < self.marks.recover
    }

    /// The segment of this number as it leaves.
    #[inline(always)]
    pub(super) fn segment(&mut self, number: u32, retransmission: bool) -> Segment {
        let segment = Segment {
            number,
            retransmission,
            ecn: Ecn::NotCapable,
            cwr: false,
        };
        if self.marks.enabled {
            self.labelled(segment)
        } else {
            segment
        }
    }

    #[cold]
    fn labelled(&mut self, segment: Segment) -> Segment {
        if segment.retransmission {
            return segment;
        }
        Segment {
            ecn: Ecn::Capable,
            cwr: std::mem::take(&mut self.marks.cwr),
            ..segment
        }
    }
}

#[cfg(test)]
mod tests;
