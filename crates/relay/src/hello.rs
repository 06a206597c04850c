//! The handshake's payload, as JSON: the terms that the two relays agree on before the first frame.

use serde::{Deserialize, Serialize};

use crate::number::Rule;
use crate::session::LinkId;

/// Version of the protocol. Both relays must have the same version.
pub(crate) const VERSION: u16 = 1;

/// The first message of a client.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hello {
    pub(crate) version: u16,
    /// Name of the session: 32 hexadecimal digits.
    pub(crate) session: String,
    /// Number of the connection, unique in the session.
    pub(crate) link: LinkId,
    /// Whether the session existed before this connection.
    pub(crate) resumes: bool,
    pub(crate) terms: Terms,
}

/// The terms of a session, which bind both relays.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Terms {
    pub(crate) rule: Rule,
    /// Smallest and largest number of connections.
    pub(crate) connections: (u32, u32),
    /// Congestion control of each connection, by the kernel's name.
    pub(crate) congestion: String,
    /// Time of silence after which the other relay is considered dead. [s]
    pub(crate) timeout_s: f64,
}

/// The server's reply to a client that may join.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Welcome {
    pub(crate) version: u16,
    pub(crate) answer: Answer,
    /// Maximum number of streams at the same time.
    pub(crate) streams: usize,
}

/// The server's decision on whether a connection may join a session.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    /// The connection may join.
    Yes,
    /// The server does not know the session, or has already ended it.
    Unknown,
    /// The connection may not join, for this reason.
    No(String),
}

/// Maximum number of connections of a session, whatever its client asks for.
pub(crate) const MOST_CONNECTIONS: u32 = 128;

impl Terms {
    /// Returns the fault of the terms, if there is one.
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
