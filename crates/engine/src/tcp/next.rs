//! The segment that a sender sends next, and why.

/// The segment that leaves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) number: u32,
    pub(super) is_retransmission: bool,
    pub(super) reason: Reason,
}

/// The reason for which a segment leaves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Its number is the next one.
    InOrder,
    /// It is lost, as duplicate ACKs or the scoreboard show.
    Lost,
    /// It is the last segment of a recovery that has nothing else to send (RFC 6675, rule 4).
    Rescue,
    /// Its ACK shows whether the tail is lost (RFC 8985, section 7).
    Probe,
}

impl Next {
    /// Returns a segment that is sent for the first time.
    pub(super) fn new(number: u32) -> Next {
        Next {
            number,
            is_retransmission: false,
            reason: Reason::InOrder,
        }
    }

    /// Returns a lost segment.
    pub(super) fn again(number: u32) -> Next {
        Next {
            number,
            is_retransmission: true,
            reason: Reason::Lost,
        }
    }
}
