//! Settings of a relay, which are parsed from JSON.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::allow::Allowed;
use crate::hello::Terms;

/// Settings of a client or of a server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase", tag = "role")]
pub(crate) enum Settings {
    /// Settings of a client, the relay near the programs.
    Client(ClientSettings),
    /// Settings of a server, the relay near the targets.
    Server(ServerSettings),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientSettings {
    /// Name or address of the server, and its TCP port.
    pub(crate) server: (String, u16),
    /// Source address of connections to the server, or `None` if the system chooses it.
    pub(crate) from: Option<IpAddr>,
    /// Maximum time to establish a connection, and maximum time of the handshake after it.
    #[serde(rename = "patience_s", deserialize_with = "from_seconds")]
    pub(crate) patience: Duration,
    /// Pre-shared key as text.
    pub(crate) key: String,
    /// Addresses at which the client accepts SOCKS 5 connections.
    pub(crate) socks: Vec<SocketAddr>,
    /// Forwards: addresses at which the client accepts connections for one fixed target each.
    pub(crate) forwards: Vec<Forward>,
    /// Addresses at which the client accepts connections that the kernel redirects (TPROXY).
    pub(crate) transparent: Vec<SocketAddr>,
    /// Whether UDP probes measure the round-trip time T, from which the number of connections follows.
    pub(crate) probe: bool,
    pub(crate) terms: Terms,
    pub(crate) memory: MemorySettings,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forward {
    pub(crate) listen: SocketAddr,
    pub(crate) host: String,
    pub(crate) port: u16,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerSettings {
    pub(crate) listen: SocketAddr,
    pub(crate) key: String,
    /// Rules for the targets of clients. An empty list allows all targets.
    pub(crate) allow: Vec<Allowed>,
    /// Maximum time of a handshake.
    #[serde(rename = "patience_s", deserialize_with = "from_seconds")]
    pub(crate) patience: Duration,
    /// Maximum number of simultaneous clients.
    pub(crate) sessions: usize,
    pub(crate) memory: MemorySettings,
}

/// Settings for the memory of a relay.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemorySettings {
    /// Memory of all streams in total. [bytes]
    pub(crate) bytes: usize,
    /// Largest window of a stream. [bytes]
    pub(crate) window_bytes: u64,
    /// Maximum number of simultaneous streams of one client.
    pub(crate) streams: usize,
}

/// Parses a duration given in seconds.
fn from_seconds<'a, D: Deserializer<'a>>(from: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(from)?;
    Duration::try_from_secs_f64(seconds).map_err(D::Error::custom)
}
