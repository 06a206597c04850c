//! Loss recovery of a sender without SACK: which ACK means what.
//!
//! References: RFC 5681, section 3.2 (Reno); RFC 6582 (NewReno); V. Jacobson, "Congestion
//! avoidance and control", 1988 (Tahoe).
//!
//! ```text
//! Open --3rd duplicate ACK--> Fast --ACK of all that was sent before the loss--> Careful
//!   Tahoe: Careful instead      |    Reno: any new ACK leads to Open
//!                               '--less than that, NewReno--> Fast (partial ACK)
//! any state --timeout--> Careful --ACK beyond `recover`--> Open
//! ```
//!
//! This is bookkeeping only; how large the window becomes is told in `congestion/`.
//!
//! Choices that the RFCs leave open:
//! - The "careful" variant (RFC 2582, section 5; RFC 6582 keeps it): after a loss, duplicate
//!   ACKs mean nothing until an ACK covers *more* than what had been sent when the loss was
//!   found, because segments sent twice cause duplicate ACKs as well. Tahoe and Reno keep to it
//!   after a timeout (Tahoe also after a fast retransmit), as ns-2 does (`bugFix_`), since
//!   otherwise each go-back-N would halve the window again.
//! - Reno leaves fast recovery for good on the first new ACK (RFC 5681, step 6), so that two
//!   losses in a window may halve it twice; ns-2 (`bugFix_`) waits for a timeout instead.
//! - Limited transmit (RFC 3042) is not used: the first two duplicate ACKs send nothing.

/// Duplicate ACKs that are taken for a loss (RFC 5681, section 3.2).
const DUPACK_THRESHOLD: u8 = 3;

/// How an algorithm repairs losses found by duplicate ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// Send everything again from the hole on (Tahoe).
    GoBackN,
    /// Retransmit one segment; any new ACK ends it (Reno).
    FirstHole,
    /// Retransmit one segment per round trip until all holes are filled (NewReno).
    EachHole,
}

/// State of loss recovery. `recover` is one past the highest segment sent when the loss was
/// found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovery {
    /// No loss known; duplicate ACKs are counted.
    Open { dupacks: u8 },
    /// Fast recovery, after its first partial ACK or before.
    Fast { recover: u32, partial: bool },
    /// After a loss: duplicate ACKs may come from segments sent twice.
    Careful { recover: u32 },
}

/// What the sender has to do about an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Nothing.
    Ignore,
    /// Grow the window.
    Grow,
    /// A loss was found: reduce the window and repair.
    Loss,
    /// One more segment has left the network: inflate the window.
    Inflate,
    /// There is another hole: retransmit it; restart the timer on the `first` such ACK only.
    Partial { first: bool },
    /// Fast recovery is over: deflate the window.
    Recovered,
}

impl Recovery {
    pub(super) const START: Recovery = Recovery::Open { dupacks: 0 };

    /// An ACK moved the first unacknowledged segment to `snd_una`.
    #[inline]
    pub(super) fn on_new_ack(&mut self, repair: Repair, snd_una: u32) -> Reaction {
        match *self {
            Recovery::Open { .. } => {
                *self = Recovery::START;
                Reaction::Grow
            }
            Recovery::Fast { recover, partial } => match repair {
                Repair::EachHole if snd_una < recover => {
                    *self = Recovery::Fast {
                        recover,
                        partial: true,
                    };
                    Reaction::Partial { first: !partial }
                }
                Repair::EachHole if snd_una == recover => {
                    *self = Recovery::Careful { recover };
                    Reaction::Recovered
                }
                // `GoBackN` never gets here: it has no fast recovery
                Repair::EachHole | Repair::FirstHole | Repair::GoBackN => {
                    *self = Recovery::START;
                    Reaction::Recovered
                }
            },
            Recovery::Careful { recover } => {
                if snd_una > recover {
                    *self = Recovery::START;
                }
                Reaction::Grow
            }
        }
    }

    /// An ACK repeated the last one while data was outstanding; `snd_max` is one past the
    /// highest segment ever sent.
    pub(super) fn on_dup_ack(&mut self, repair: Repair, snd_max: u32) -> Reaction {
        match *self {
            Recovery::Open { dupacks } if dupacks + 1 < DUPACK_THRESHOLD => {
                *self = Recovery::Open {
                    dupacks: dupacks + 1,
                };
                Reaction::Ignore
            }
            Recovery::Open { .. } => {
                *self = match repair {
                    Repair::GoBackN => Recovery::Careful { recover: snd_max },
                    Repair::FirstHole | Repair::EachHole => Recovery::Fast {
                        recover: snd_max,
                        partial: false,
                    },
                };
                Reaction::Loss
            }
            Recovery::Fast { .. } => Reaction::Inflate,
            Recovery::Careful { .. } => Reaction::Ignore,
        }
    }

    /// The retransmission timer expired.
    pub(super) fn on_timeout(&mut self, snd_max: u32) {
        *self = Recovery::Careful { recover: snd_max };
    }
}
