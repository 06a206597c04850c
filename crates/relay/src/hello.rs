//! Payload of the handshake, as JSON. The two relays agree on the terms of a session before they
//! send frames.

use serde::{Deserialize, Serialize};

use crate::number::Rule;
use crate::session::LinkId;

/// Version of the protocol, which must be equal at both relays.
pub(crate) const VERSION: u16 = 1;

/// First message of a client, in which it requests to join a session.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hello {
    pub(crate) version: u16,
    /// Name of the session, which has 32 hexadecimal digits.
    pub(crate) session: String,
    /// Identifier of the connection, unique in its session.
    pub(crate) link: LinkId,
    /// Whether the client has used the session before this connection.
    pub(crate) resumes: bool,
    pub(crate) terms: Terms,
}

/// Terms of a session, which apply to both relays.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Terms {
    pub(crate) rule: Rule,
    /// Minimum and maximum number of connections.
    pub(crate) connections: (u32, u32),
    /// Congestion control of the connections, with the name that the kernel uses.
    pub(crate) congestion: String,
    /// Time without a message after which a relay considers the other relay dead. [s]
    pub(crate) timeout_s: f64,
}

/// Reply of the server to a client that may join the session.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Welcome {
    pub(crate) version: u16,
    pub(crate) answer: Answer,
    /// Maximum number of streams at the same time.
    pub(crate) streams: usize,
}

/// Decision of the server about a client that requests to join a session.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    /// The connection may join.
    Yes,
    /// The server does not know the session, or has ended it.
    Unknown,
    /// The connection may not join the session; contains the reason.
    No(String),
}

/// Largest value that the terms may have for the number of connections in a session.
pub(crate) const MAX_CONNECTIONS: u32 = 128;

impl Terms {
    /// Returns what is wrong with the terms, if anything.
    pub(crate) fn complaint(&self) -> Option<String> {
        let (least, most) = self.connections;
        if !(1..=MAX_CONNECTIONS).contains(&least) || !(least..=MAX_CONNECTIONS).contains(&most) {
            let message =
                format!("connections: {least}..{most}: must be from 1 to {MAX_CONNECTIONS}");
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
