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
//! - Limited transmit (RFC 3042) is not used: the first two duplicate ACKs send nothing. Linux
//!   uses it, ns-2 unless `singledup_` is 0, and senders with SACK do here (RFC 6675, step 3).

/// Duplicate ACKs that are taken for a loss (RFC 5681, section 3.2).
pub(super) const DUPACK_THRESHOLD: u8 = 3;

/// How an algorithm repairs losses found by duplicate ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryMode {
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

    /// Whether losses found by duplicate ACKs are being repaired.
    pub(super) fn is_fast(self) -> bool {
        matches!(self, Recovery::Fast { .. })
    }

    /// An ACK moved the first unacknowledged segment to `snd_una`.
    #[inline]
    pub(super) fn on_new_ack(&mut self, repair: RecoveryMode, snd_una: u32) -> Reaction {
        match *self {
            Recovery::Open { .. } => {
                *self = Recovery::START;
                Reaction::Grow
            }
            Recovery::Fast { recover, partial } => match repair {
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
                // `GoBackN` never gets here: it has no fast recovery
                RecoveryMode::EachHole | RecoveryMode::FirstHole | RecoveryMode::GoBackN => {
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
    pub(super) fn on_dup_ack(&mut self, repair: RecoveryMode, snd_max: u32) -> Reaction {
        match *self {
            Recovery::Open { dupacks } if dupacks + 1 < DUPACK_THRESHOLD => {
                *self = Recovery::Open {
                    dupacks: dupacks + 1,
                };
                Reaction::Ignore
            }
            Recovery::Open { .. } => {
                *self = match repair {
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

    /// The retransmission timer expired.
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

    const REPAIRS: [(&str, RecoveryMode); 3] = [
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

    /// One row per state and event: what the sender has to do, then the next state.
    fn table() -> String {
        let mut table = String::new();
        for state in STATES {
            for event in ["ack 9", "ack 10", "ack 11", "dupack", "timeout"] {
                let mut outcomes: Vec<(String, Vec<&str>)> = Vec::new();
                for (algorithm, repair) in REPAIRS {
                    match (state, repair) {
                        // Tahoe has no fast recovery, Reno no partial ACKs
                        (Recovery::Fast { .. }, RecoveryMode::GoBackN) => continue,
                        (Recovery::Fast { partial: true, .. }, RecoveryMode::FirstHole) => continue,
                        _ => {}
                    }
                    let mut next = state;
                    let reaction = match event {
                        "dupack" => format!("{:?}", next.on_dup_ack(repair, 20)),
                        "timeout" => {
                            next.on_timeout(20);
                            "Collapse".to_string()
                        }
                        ack => format!("{:?}", next.on_new_ack(repair, ack[4..].parse().unwrap())),
                    };
                    let outcome = format!("{reaction} -> {}", name(next));
                    match outcomes.iter_mut().find(|(known, _)| *known == outcome) {
                        Some((_, algorithms)) => algorithms.push(algorithm),
                        None => outcomes.push((outcome, vec![algorithm])),
                    }
                }
                for (outcome, algorithms) in &outcomes {
                    let who = match outcomes.len() {
                        1 => String::new(),
                        _ => format!("{}: ", algorithms.join(", ")),
                    };
                    writeln!(table, "{:<15} | {event:<7} | {who}{outcome}", name(state)).unwrap();
                }
            }
        }
        table
    }

    /// Snapshot of all transitions. The losses in these states were found when segments 0 to 9
    /// had been sent, so that `ack 10` covers all of them; now 0 to 19 have been.
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
Careful 10      | ack 9   | Grow -> Careful 10
Careful 10      | ack 10  | Grow -> Careful 10
Careful 10      | ack 11  | Grow -> Open 0
Careful 10      | dupack  | Ignore -> Careful 10
Careful 10      | timeout | Collapse -> Careful 20
";
        assert_eq!(table(), expected.trim_start());
    }
}
