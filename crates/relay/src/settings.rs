//! What a relay is told, as JSON.

use std::net::SocketAddr;

use serde::Deserialize;

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
    /// The key, as text.
    pub(crate) key: String,
    /// Where SOCKS5 is spoken.
    pub(crate) socks: Vec<SocketAddr>,
    /// Ports that lead to one target each.
    pub(crate) forwards: Vec<Forward>,
    /// Where connections come by the kernel's TPROXY.
    pub(crate) transparent: Vec<SocketAddr>,
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
