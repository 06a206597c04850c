//! Measures the round-trip time T by UDP probes, for the second variant of the multi-connection layer (paper 001,
//! section 5.2: "To obtain the RTT, we can simply set up a UDP connection to measure the RTT").
//!
//! ```text
//!  client::run --request--> server::run      requests to the server's TCP port number, over UDP
//!       |      <--answer---      |
//!    Prober                   Answerer       neither sockets nor clocks
//!       |                        |
//!    Number::probe            Number::probe  both rules take T from the probes while they are answered
//! ```
//!
//! The paper sets no rate of probes. Ten probes are sent per interval of the rule for the number of connections, at
//! least 0.1 s and at most 0.5 s apart. Their times are random, because a fixed period could coincide with the period
//! of a window or a queue. Without answers, one probe is sent every 10 s.

pub(crate) mod answerer;
pub(crate) mod client;
pub(crate) mod estimate;
pub(crate) mod packet;
pub(crate) mod prober;
pub(crate) mod server;
mod socket;

pub(crate) use socket::listen;

use std::time::Duration;

/// Maximum number of datagrams that are read before other tasks run, and the pause after a batch of this size. During a
/// flood, at most 64 datagrams are read per millisecond, and the kernel drops the remaining datagrams.
const BATCH: (usize, Duration) = (64, Duration::from_millis(1));

/// Size of a socket's receive buffer, enough for about one batch of datagrams. During a flood, a probe is then lost or
/// waits only a few milliseconds. Linux doubles this size and counts about 768 bytes per datagram. [bytes]
const RECEIVE_BUFFER: usize = 24 * 1024;
