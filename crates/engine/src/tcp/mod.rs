//! TCP endpoints as pure state machines, without a clock, a socket or a queue.
//!
//! A [`Sender`] processes ACKs and deadlines, and is polled for segments to send. A [`Receiver`]
//! processes segments and deadlines, and returns ACKs. Their caller transfers the packets, and
//! calls both endpoints at their deadlines. Segments are counted from 0 and all have full size, so
//! that every window in this module is in packets.
//!
//! | file | contents | source |
//! |---|---|---|
//! | `sender.rs` | sequence numbers, timers, the choice of the next segment | RFC 9293, RFC 6298 |
//! | `sender/opening.rs` | SYN, SYN-ACK, and the effect of their loss | RFC 9293, RFC 6298, RFC 5681 |
//! | `validation.rs`, `sender/idle.rs` | the window after idle time, or if it is not used | RFC 5681, RFC 7661, Linux |
//! | `limit.rs` | the limit that keeps the sender from sending more | Linux, `tcp_chrono` |
//! | `recovery.rs` | the ACKs that start, continue or end loss recovery | RFC 5681, RFC 6582 |
//! | `sack.rs` | the blocks that a receiver reports | RFC 2018, RFC 2883 |
//! | `scoreboard.rs` | the sender's use of the blocks: pipe, losses, next segment | RFC 6675 |
//! | `rack.rs`, `rack/`, `sender/timed.rs` | loss detection by time | RFC 8985, section 6 |
//! | `sender/undo.rs` | the undo of unnecessary recoveries | RFC 3522, RFC 4015 |
//! | `tlp.rs` | probes that detect the loss of the last segments | RFC 8985, section 7 |
//! | `sender/ecn.rs` | the sender's reaction to the echo of marks | RFC 3168, RFC 8257, RFC 9331 |
//! | `prr.rs` | the number of segments that may be sent on each ACK of a recovery | RFC 9937 |
//! | `congestion/` | the window and the transmission times, one congestion control per file | RFC 5681, RFC 6582 |
//! | `rtt.rs` | round-trip estimate and timeout | RFC 6298, RFC 7323 |
//! | `receiver.rs` | in-order delivery, delayed ACKs, timestamp echo, echo of marks | RFC 5681, RFC 7323, RFC 3168 |
//! | `feedback.rs` | the echo of marks in ACKs | RFC 3168, RFC 8257, RFC 9768 |
//!
//! Differs from the RFCs in:
//! - There is no FIN. Without `handshake` a connection is established when its flow starts.
//! - Every segment contains the time of its transmission, and every ACK echoes the transmission
//!   time of a segment. The timestamp option of RFC 7323 does the same; here the time is exact to
//!   the nanosecond. The option's 12 bytes are not counted: the papers reproduced here count 40
//!   bytes of TCP/IP header.
//! - Numbers do not wrap: a flow ends after 2^32 - 1 segments.

mod compatibility;
mod congestion;
mod feedback;
mod limit;
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
mod validation;

pub(crate) use congestion::ControlPlugin;
#[cfg(feature = "bbr3-trace")]
pub use congestion::take_bbr3_trace;
pub use congestion::window_algorithm::WindowAlgorithm;
pub use congestion::{
    Arrival, Bbr3Settings, BbrSettings, CompoundSettings, CongestionAlgorithm, CongestionControl,
    CongestionSign, CubicLinuxSettings, DctcpSettings, ExternalControl, ExternalName, Lost,
    MarkReport, NewAck, PragueSettings, Processed, RecoveryAck, RecoveryPhase, Sent, Window,
};
pub use feedback::Feedback;
pub use limit::Limit;
pub use receiver::{Received, Receiver};
pub use recovery::RecoveryMode;
pub use rtt::RttEstimator;
pub use sack::Blocks;
pub use sender::{Segment, Sender, Syn};
pub use settings::TcpSettings;
pub use validation::AfterIdle;

use crate::kernel::time::Time;
use crate::packet::EcnEcho;

/// A TCP acknowledgement without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ack {
    /// Number of the next expected segment. All segments before this segment have arrived.
    pub next: u32,
    /// Transmission time of a segment, which the ACK echoes. The rules of RFC 7323 select the
    /// segment.
    pub echo: Time,
    /// Number by which [`Receiver::blocks`] finds the SACK option of the ACK; 0 if the ACK has no
    /// SACK option.
    pub sack: u16,
    /// ECN echo of the ACK.
    pub ece: EcnEcho,
}
