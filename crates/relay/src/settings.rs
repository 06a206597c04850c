//! What a relay is told, as JSON.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::allow::Allowed;
use crate::hello::Terms;

/// One of the two relays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase", tag = "role")]
pub(crate) enum Settings {
    /// Near the programs.
    Client(ClientSettings),
    /// Near the targets.
    Server(ServerSettings),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientSettings {
    /// Where the server is: name or address, and port.
    pub(crate) server: (String, u16),
    /// The address of this machine that connections come from; none: the system's choice.
    pub(crate) from: Option<IpAddr>,
    /// Time for a connection to be made, and again for its handshake.
    #[serde(rename = "patience_s", deserialize_with = "from_seconds")]
    pub(crate) patience: Duration,
    /// The key, as text.
    pub(crate) key: String,
    /// Where SOCKS5 is spoken.
    pub(crate) socks: Vec<SocketAddr>,
    /// Ports that lead to one target each.
    pub(crate) forwards: Vec<Forward>,
    /// Where connections come by the kernel's TPROXY.
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
    /// Where clients may connect to; empty: anywhere.
    pub(crate) allow: Vec<Allowed>,
    /// Time for a handshake.
    #[serde(rename = "patience_s", deserialize_with = "from_seconds")]
    pub(crate) patience: Duration,
    /// Clients at a time.
    pub(crate) sessions: usize,
    pub(crate) memory: MemorySettings,
}

/// Bounds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemorySettings {
    /// For all streams together. [bytes]
    pub(crate) bytes: usize,
    /// Most that one stream may send ahead. [bytes]
    pub(crate) window_bytes: u64,
    /// Streams at a time, of one client.
    pub(crate) streams: usize,
}

/// A time that is given in seconds.
fn from_seconds<'a, D: Deserializer<'a>>(from: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(from)?;
    Duration::try_from_secs_f64(seconds).map_err(D::Error::custom)
}
