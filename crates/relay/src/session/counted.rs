//! Counters of a session, and the reasons for refused streams.

use serde::Serialize;

/// Reason why a stream was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lack {
    /// The maximum number of streams is open. The field is this maximum.
    Streams(usize),
    /// The memory budget is used up.
    Memory,
    /// The server has refused the stream for lack of memory or because of its maximum number of
    /// streams.
    Server,
}

impl std::fmt::Display for Lack {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Lack::Streams(count) => write!(to, "{count} are open, the most (--streams)"),
            Lack::Memory => write!(to, "all memory is in use (--memory)"),
            Lack::Server => write!(to, "the server has no room, and prints why"),
        }
    }
}

/// Counters of a session since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Counted {
    /// Number of streams opened.
    #[serde(rename = "streams_total")]
    pub streams: u64,
    /// Number of streams refused for lack of memory or because of the maximum number of streams.
    #[serde(rename = "streams_refused")]
    pub refused: u64,
    /// Number of streams whose target the server does not allow.
    #[serde(rename = "streams_denied")]
    pub denied: u64,
    /// Number of streams that were reset.
    #[serde(rename = "streams_reset")]
    pub resets: u64,
    /// Payload sent over links, without retransmissions. [bytes]
    pub sent_bytes: u64,
    /// Payload delivered to programs. [bytes]
    pub taken_bytes: u64,
    /// Number of messages retransmitted over another link, because their link was lost or stuck.
    #[serde(rename = "messages_again")]
    pub again: u64,
    /// Number of links that joined the session.
    #[serde(rename = "connections_total")]
    pub links: u64,
    /// Number of links lost with unacknowledged messages.
    #[serde(rename = "connections_lost")]
    pub lost_links: u64,
}

impl std::ops::Add for Counted {
    type Output = Counted;

    fn add(self, other: Counted) -> Counted {
        Counted {
            streams: self.streams + other.streams,
            refused: self.refused + other.refused,
            denied: self.denied + other.denied,
            resets: self.resets + other.resets,
            sent_bytes: self.sent_bytes + other.sent_bytes,
            taken_bytes: self.taken_bytes + other.taken_bytes,
            again: self.again + other.again,
            links: self.links + other.links,
            lost_links: self.lost_links + other.lost_links,
        }
    }
}
