//! The state of the handshake at the side that opens the connection.

/// The stage of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Closed,
    /// A SYN must be sent.
    Due,
    /// A SYN has been sent.
    Sent,
    Open,
}

/// The state of the handshake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    pub(super) stage: Stage,
    /// Whether the SYN was sent again.
    pub(super) repeated: bool,
}

impl Handshake {
    pub(super) fn new(handshake: bool) -> Handshake {
        Handshake {
            stage: if handshake {
                Stage::Closed
            } else {
                Stage::Open
            },
            repeated: false,
        }
    }
}

/// A SYN segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syn {
    /// Whether the SYN was sent before.
    pub repeated: bool,
}
