//! What the two relays agree on before the first frame: JSON, inside the handshake.

use serde::{Deserialize, Serialize};

use crate::number::Rule;
use crate::session::LinkId;

/// Both relays must have the same.
pub(crate) const VERSION: u16 = 1;

/// What a client says first.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hello {
    pub(crate) version: u16,
    /// Which session: 32 hexadecimal digits.
    pub(crate) session: String,
    /// Number of the connection: no other of the session has had it.
    pub(crate) link: LinkId,
    /// Whether it was there before.
    pub(crate) resumes: bool,
    pub(crate) terms: Terms,
}

/// How both sides are to behave.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Terms {
    pub(crate) rule: Rule,
    /// Fewest and most connections.
    pub(crate) connections: (u32, u32),
    /// The congestion control of each, by the kernel's name.
    pub(crate) congestion: String,
    /// Silence after which the other side counts as dead. [s]
    pub(crate) timeout_s: f64,
}

/// What a server answers.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Welcome {
    pub(crate) version: u16,
    pub(crate) answer: Answer,
    /// Streams at a time.
    pub(crate) streams: usize,
}

/// Whether a connection may join.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    /// It may.
    Yes,
    /// The session is not known, or no longer.
    Unknown,
    /// It may not.
    No(String),
}

/// Most connections that a session may have, whatever its client asks for.
pub(crate) const MOST_CONNECTIONS: u32 = 128;

impl Terms {
    /// What is wrong with them, if anything.
    pub(crate) fn complaint(&self) -> Option<String> {
        let (least, most) = self.connections;
        if !(1..=MOST_CONNECTIONS).contains(&least) || !(least..=MOST_CONNECTIONS).contains(&most) {
            let message =
                format!("connections: {least}..{most}: must be from 1 to {MOST_CONNECTIONS}");
            return Some(message);
        }
        if !(1.0..=86_400.0).contains(&self.timeout_s) {
            return Some(format!(
                "timeout: {} s: must be from 1 s to a day",
                self.timeout_s
            ));
        }
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        if self.congestion.is_empty()
            || self.congestion.len() > 15
            || !self.congestion.chars().all(is_name)
        {
            return Some(format!(
                "congestion: {:?} is no name of a control",
                self.congestion
            ));
        }
        self.rule.complaint()
    }
}
