//! Loss recovery of a sender without SACK: the reaction of the sender to each ACK.
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
//! This file only determines the state and the reaction. The congestion control sets the window
//! (`congestion/`).
//!
//! Choices that the RFCs leave open:
//! - The "careful" variant is used (RFC 2582, section 5; also in RFC 6582): after a loss, duplicate
//!   ACKs are ignored until an ACK covers *more* than the segments that had been sent when the loss
//!   was detected, because segments sent twice cause duplicate ACKs as well. Tahoe and Reno also
//!   ignore these duplicate ACKs after a timeout (Tahoe also after a fast retransmit), as in ns-2
//!   (`bugFix_`). Without this rule each go-back-N would halve the window again.
//! - Reno ends fast recovery with the first ACK of new data (RFC 5681, step 6). Two losses in a
//!   window may therefore halve the window twice; in ns-2 (`bugFix_`) the second loss causes a
//!   timeout.
//! - Limited transmit (RFC 3042) is not used: no segment is sent on the first two duplicate ACKs.
//!   Limited transmit is used by Linux, by ns-2 unless `singledup_` is 0, and here by senders with
//!   SACK (RFC 6675, step 3).

/// Number of duplicate ACKs that indicate a loss (RFC 5681, section 3.2).
pub(super) const DUPACK_THRESHOLD: u8 = 3;

/// The way in which a sender repairs losses that are reported by duplicate ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryMode {
    /// Retransmit all segments from the first missing segment on (Tahoe).
    GoBackN,
    /// Retransmit one segment. Any ACK of new data ends the recovery (Reno).
    FirstHole,
    /// Retransmit one missing segment per round trip until none is missing (NewReno).
    EachHole,
}

/// The state of loss recovery. `recover` is one more than the highest number of a segment that was
/// sent before the loss was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovery {
    /// No loss is known. `dupacks` is the number of consecutive duplicate ACKs.
    Open { dupacks: u8 },
    /// Fast recovery. `partial` is true after its first partial ACK.
    Fast { recover: u32, partial: bool },
    /// The state after a loss. Duplicate ACKs are ignored, because segments that were sent twice
    /// may cause duplicate ACKs.
    Careful { recover: u32 },
}

/// The reaction of a sender to an ACK or a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Do nothing.
    Ignore,
    /// Grow the window.
    Grow,
    /// Grow the window by at most the growth for one delayed ACK, because the ACK may also cover
    /// segments that arrived earlier, above a missing segment.
    GrowAfterLoss,
    /// A loss was detected: reduce the window and retransmit.
    Loss,
    /// One more segment has left the network: inflate the window.
    Inflate,
    /// Another segment is missing: retransmit it. Restart the timer only for the `first` partial
    /// ACK of the recovery.
    Partial { first: bool },
    /// Fast recovery has ended: deflate the window.
    Recovered,
}

impl Recovery {
    pub(super) const START: Recovery = Recovery::Open { dupacks: 0 };

    /// Returns whether the sender is in fast recovery.
    pub(super) fn is_fast(self) -> bool {
        matches!(self, Recovery::Fast { .. })
    }

    /// Processes an ACK of new data. `snd_una` is the first unacknowledged segment after this ACK.
    #[inline]
    pub(super) fn on_new_ack(&mut self, mode: RecoveryMode, snd_una: u32) -> Reaction {
        match *self {
            Recovery::Open { .. } => {
                *self = Recovery::START;
                Reaction::Grow
            }
            Recovery::Fast { recover, partial } => match mode {
                RecoveryMode::EachHole if snd_una < recover => {
                    *self = Recovery::Fast {
                        recover,
                        partial: true,
                    };
                    Reaction::Partial { first: !partial }
                }
                RecoveryMode::EachHole if snd_una == recover => {
                    *self = Recovery::Careful { recover };
                    Reaction::Recovered
                }
                // the mode is never `GoBackN` here, because Tahoe has no fast recovery
                RecoveryMode::EachHole | RecoveryMode::FirstHole | RecoveryMode::GoBackN => {
                    *self = Recovery::START;
                    Reaction::Recovered
                }
            },
            Recovery::Careful { recover } => {
                if snd_una > recover {
                    *self = Recovery::START;
                }
                Reaction::GrowAfterLoss
            }
        }
    }

    /// Processes a duplicate ACK while data is outstanding. `snd_max` is one more than the highest
    /// number of a segment sent so far.
    pub(super) fn on_dup_ack(&mut self, mode: RecoveryMode, snd_max: u32) -> Reaction {
        match *self {
            Recovery::Open { dupacks } if dupacks + 1 < DUPACK_THRESHOLD => {
                *self = Recovery::Open {
                    dupacks: dupacks + 1,
                };
                Reaction::Ignore
            }
            Recovery::Open { .. } => {
                *self = match mode {
                    RecoveryMode::GoBackN => Recovery::Careful { recover: snd_max },
                    RecoveryMode::FirstHole | RecoveryMode::EachHole => Recovery::Fast {
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

    /// Processes the expiry of the retransmission timer.
    pub(super) fn on_timeout(&mut self, snd_max: u32) {
        *self = Recovery::Careful { recover: snd_max };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    const STATES: [Recovery; 6] = [
        Recovery::Open { dupacks: 0 },
        Recovery::Open { dupacks: 1 },
        Recovery::Open { dupacks: 2 },
        Recovery::Fast {
            recover: 10,
            partial: false,
        },
        Recovery::Fast {
            recover: 10,
            partial: true,
        },
        Recovery::Careful { recover: 10 },
    ];

    const MODES: [(&str, RecoveryMode); 3] = [
        ("Tahoe", RecoveryMode::GoBackN),
        ("Reno", RecoveryMode::FirstHole),
        ("NewReno", RecoveryMode::EachHole),
    ];

    fn name(state: Recovery) -> String {
        match state {
            Recovery::Open { dupacks } => format!("Open {dupacks}"),
            Recovery::Fast { recover, partial } => {
                format!("Fast {recover}{}", if partial { " partial" } else { "" })
            }
            Recovery::Careful { recover } => format!("Careful {recover}"),
        }
    }

    /// Returns a table with one row per state and event. Each row has the reaction of the sender
    /// and the next state.
    fn table() -> String {
        let mut table = String::new();
        for state in STATES {
            for event in ["ack 9", "ack 10", "ack 11", "dupack", "timeout"] {
                let mut outcomes: Vec<(String, Vec<&str>)> = Vec::new();
                for (algorithm, mode) in MODES {
                    match (state, mode) {
                        // Tahoe has no fast recovery, and Reno's fast recovery has no partial ACKs
                        (Recovery::Fast { .. }, RecoveryMode::GoBackN) => continue,
                        (Recovery::Fast { partial: true, .. }, RecoveryMode::FirstHole) => continue,
                        _ => {}
                    }
                    let mut next = state;
                    let reaction = match event {
                        "dupack" => format!("{:?}", next.on_dup_ack(mode, 20)),
                        "timeout" => {
                            next.on_timeout(20);
                            "Collapse".to_string()
                        }
                        ack => format!("{:?}", next.on_new_ack(mode, ack[4..].parse().unwrap())),
                    };
                    let outcome = format!("{reaction} -> {}", name(next));
                    match outcomes.iter_mut().find(|(known, _)| *known == outcome) {
                        Some((_, algorithms)) => algorithms.push(algorithm),
                        None => outcomes.push((outcome, vec![algorithm])),
                    }
                }
                for (outcome, algorithms) in &outcomes {
                    let prefix = match outcomes.len() {
                        1 => String::new(),
                        _ => format!("{}: ", algorithms.join(", ")),
                    };
                    writeln!(
                        table,
                        "{:<15} | {event:<7} | {prefix}{outcome}",
                        name(state)
                    )
                    .unwrap();
                }
            }
        }
        table
    }

    /// Compares the table of all transitions with its frozen text. In the initial states the loss
    /// was detected when segments 0 to 9 had been sent, so `ack 10` covers all of them. By the time
    /// of the event, segments 0 to 19 have been sent.
    #[test]
    fn transition_table_is_as_frozen() {
        let expected = "
Open 0          | ack 9   | Grow -> Open 0
Open 0          | ack 10  | Grow -> Open 0
Open 0          | ack 11  | Grow -> Open 0
Open 0          | dupack  | Ignore -> Open 1
Open 0          | timeout | Collapse -> Careful 20
Open 1          | ack 9   | Grow -> Open 0
Open 1          | ack 10  | Grow -> Open 0
Open 1          | ack 11  | Grow -> Open 0
Open 1          | dupack  | Ignore -> Open 2
Open 1          | timeout | Collapse -> Careful 20
Open 2          | ack 9   | Grow -> Open 0
Open 2          | ack 10  | Grow -> Open 0
Open 2          | ack 11  | Grow -> Open 0
Open 2          | dupack  | Tahoe: Loss -> Careful 20
Open 2          | dupack  | Reno, NewReno: Loss -> Fast 20
Open 2          | timeout | Collapse -> Careful 20
Fast 10         | ack 9   | Reno: Recovered -> Open 0
Fast 10         | ack 9   | NewReno: Partial { first: true } -> Fast 10 partial
Fast 10         | ack 10  | Reno: Recovered -> Open 0
Fast 10         | ack 10  | NewReno: Recovered -> Careful 10
Fast 10         | ack 11  | Recovered -> Open 0
Fast 10         | dupack  | Inflate -> Fast 10
Fast 10         | timeout | Collapse -> Careful 20
Fast 10 partial | ack 9   | Partial { first: false } -> Fast 10 partial
Fast 10 partial | ack 10  | Recovered -> Careful 10
Fast 10 partial | ack 11  | Recovered -> Open 0
Fast 10 partial | dupack  | Inflate -> Fast 10 partial
Fast 10 partial | timeout | Collapse -> Careful 20
Careful 10      | ack 9   | GrowAfterLoss -> Careful 10
Careful 10      | ack 10  | GrowAfterLoss -> Careful 10
Careful 10      | ack 11  | GrowAfterLoss -> Open 0
Careful 10      | dupack  | Ignore -> Careful 10
Careful 10      | timeout | Collapse -> Careful 20
";
        assert_eq!(table(), expected.trim_start());
    }
}
