//! TCP endpoints as pure state machines: no clock, no socket, no queue inside.
//!
//! A [`Sender`] is told of ACKs and time and is polled for segments; a [`Receiver`] is told of
//! segments and time and answers with ACKs. Whoever owns them carries the packets and calls
//! back at their deadlines. Segments are counted from 0 and are all of full size, so that every
//! window below is in packets.
//!
//! | file | what | source |
//! |---|---|---|
//! | `sender.rs` | sequence numbers, retransmission timer, what may be sent | RFC 9293, RFC 6298 |
//! | `sender/opening.rs` | SYN, SYN-ACK, and what a lost one costs | RFC 9293, RFC 6298, RFC 5681 |
//! | `limit.rs` | what keeps the sender from sending more | Linux, `tcp_chrono` |
//! | `recovery.rs` | which ACK starts, continues or ends loss recovery | RFC 5681, RFC 6582 |
//! | `sack.rs` | which blocks a receiver reports | RFC 2018, RFC 2883 |
//! | `scoreboard.rs` | what the sender concludes from them: pipe, losses, next segment | RFC 6675 |
//! | `rack.rs`, `rack/`, `sender/timed.rs` | losses found by time | RFC 8985, section 6 |
//! | `sender/undo.rs` | recoveries that nothing was lost for | RFC 3522, RFC 4015 |
//! | `tlp.rs` | probes for a lost tail | RFC 8985, section 7 |
//! | `sender/ecn.rs` | what the echo of a mark means to the sender | RFC 3168, RFC 8257, RFC 9331 |
//! | `prr.rs` | how many segments leave on each ACK of a recovery | RFC 9937 |
//! | `congestion/` | the size of the window, one algorithm a file | RFC 5681, RFC 6582 |
//! | `rtt.rs` | round-trip estimate and timeout | RFC 6298, RFC 7323 |
//! | `receiver.rs` | in-order delivery, delayed ACKs, timestamp echo, echo of marks | RFC 5681, RFC 7323, RFC 3168 |
//! | `feedback.rs` | how marks are told to the sender | RFC 3168, RFC 8257, RFC 9768 |
//!
//! Differs from the RFCs in:
//! - No FIN; without `handshake` a connection is established when its flow starts.
//! - Every segment carries the time it was sent and every ACK echoes one such time, as the
//!   timestamp option of RFC 7323 does, exact to the nanosecond. The option's 12 bytes are not
//!   counted: the papers reproduced here count 40 bytes of TCP/IP header.
//! - Numbers do not wrap: a flow ends after 2^32 - 1 segments.

mod congestion;
mod feedback;
mod limit;
mod next;
#[cfg(test)]
mod pipe;
mod prr;
mod rack;
mod receiver;
mod recovery;
#[cfg(test)]
mod response;
mod ring;
mod rtt;
mod sack;
mod scoreboard;
mod sender;
mod settings;
#[cfg(test)]
mod tests;
mod tlp;

pub(crate) use congestion::ControlPlugin;
pub use congestion::window_algorithm::WindowAlgorithm;
pub use congestion::{
    Arrival, CompoundSettings, CongestionAlgorithm, CongestionControl, CongestionSign,
    CubicLinuxSettings, DctcpSettings, ExternalControl, ExternalName, MarkReport, NewAck,
    PragueSettings, RecoveryAck, Sent, Window,
};
pub use feedback::Feedback;
pub use limit::Limit;
pub use receiver::{Received, Receiver};
pub use recovery::RecoveryMode;
pub use rtt::RttEstimator;
pub use sack::Blocks;
pub use sender::{Segment, Sender, Syn};
pub use settings::TcpSettings;

use crate::kernel::time::Time;
use crate::packet::EcnEcho;

/// A pure acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ack {
    /// The segment expected next: all before it have arrived (cumulative).
    pub next: u32,
    /// Echo of the time at which a segment was sent, chosen by the rules of RFC 7323.
    pub echo: Time,
    /// Number of its SACK option, for [`Receiver::blocks`]; 0: it has none.
    pub sack: u16,
    /// What it says of marked segments that have arrived.
    pub ece: EcnEcho,
}
