//! Counters of a flow.

use crate::tcp::Limit;

/// Counters of one flow since the start of the run. A packet is a segment or a datagram. The
/// counters that change with every packet come first, in one cache line. No two counters that change
/// together are adjacent. The compiler would change two adjacent counters with one vector addition,
/// which takes more instructions than two additions.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct FlowCounters {
    /// Number of packets that reached the receiver, including duplicates.
    pub arrived: u64,
    /// Number of packets sent, including retransmissions.
    pub sent: u64,
    /// Number of packets delivered to the application, in order.
    pub delivered: u64,
    /// Sum of round-trip samples (TCP, pings) or one-way delays (UDP). [ns]
    pub delay_ns: u64,
    /// Number of ACKs sent.
    pub acks_sent: u64,
    /// Number of samples in `delay_ns`.
    pub delay_samples: u64,
    /// Number of ACKs that reached the sender.
    pub acks_arrived: u64,
    /// Time integral of cwnd. [packets ns]
    pub cwnd_ns: f64,
    /// Number of retransmitted segments.
    pub retransmitted: u64,
    /// Sum of missing bytes of web messages. The missing bytes of a message are those by which its
    /// last segment is shorter than a full segment. [bytes]
    pub short_bytes: u64,
    /// Number of packets lost in full queues, on wires, or after the last transmission attempt.
    pub lost: u64,
    /// Number of ACKs lost.
    pub acks_lost: u64,
    /// Times for which a TCP sender was limited by the congestion window, by the receive window,
    /// and by the application, in the order of [`Limit`]. The time since the last change of the
    /// limit is not included. [ns]
    pub limited_ns: [u64; Limit::COUNT],
}
