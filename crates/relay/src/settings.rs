//! The settings of a relay, as JSON.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::allow::Allowed;
use crate::hello::Terms;

/// Settings of one of the two relays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase", tag = "role")]
pub(crate) enum Settings {
    /// Settings of the relay near the programs.
    Client(ClientSettings),
    /// Settings of the relay near the targets.
    Server(ServerSettings),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientSettings {
    /// Name or address of the server, and its port.
    pub(crate) server: (String, u16),
    /// Source address of connections to the server; `None`: the system chooses it.
    pub(crate) from: Option<IpAddr>,
    /// Maximum time to establish a connection, and maximum time of its handshake.
    #[serde(rename = "patience_s", deserialize_with = "from_seconds")]
    pub(crate) patience: Duration,
    /// The shared key, as text.
    pub(crate) key: String,
    /// Addresses that accept SOCKS 5.
    pub(crate) socks: Vec<SocketAddr>,
    /// Forwards: ports that each lead to one fixed target.
    pub(crate) forwards: Vec<Forward>,
    /// Addresses that accept connections redirected by the kernel's TPROXY.
    pub(crate) transparent: Vec<SocketAddr>,
    /// Whether T is measured by UDP probes.
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
    /// Targets to which clients may connect; an empty list allows all targets.
    pub(crate) allow: Vec<Allowed>,
    /// Maximum time of a handshake.
    #[serde(rename = "patience_s", deserialize_with = "from_seconds")]
    pub(crate) patience: Duration,
    /// Maximum number of clients at the same time.
    pub(crate) sessions: usize,
    pub(crate) memory: MemorySettings,
}

/// Limits of the memory.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemorySettings {
    /// Memory of all streams together. [bytes]
    pub(crate) bytes: usize,
    /// Largest window of a stream. [bytes]
    pub(crate) window_bytes: u64,
    /// Maximum number of streams of one client at the same time.
    pub(crate) streams: usize,
}

/// Returns a duration that is given in seconds.
fn from_seconds<'a, D: Deserializer<'a>>(from: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(from)?;
    Duration::try_from_secs_f64(seconds).map_err(D::Error::custom)
}
