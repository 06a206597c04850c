//! What travels: one small value, copied from queue to queue.

use crate::kernel::time::Time;

/// What a packet is to its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// TCP segment with payload.
    Segment,
    /// Pure TCP acknowledgement.
    Ack,
    /// UDP datagram.
    Datagram,
}

/// One IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Index of the flow.
    pub flow: u32,
    /// Segment or datagram number; for an ACK the next segment expected.
    pub number: u32,
    /// Send time of a segment or datagram; for an ACK the echoed send time.
    pub stamp: Time,
    /// When it entered the queue it is in.
    pub queued: Time,
    /// IP length. [bytes]
    pub bytes: u16,
    /// Segment, ACK or datagram.
    pub kind: PacketKind,
    /// A TCP segment sent before.
    pub retransmission: bool,
}

impl Packet {
    /// True for packets that travel with the flow's data, false for ACKs.
    pub fn is_data(&self) -> bool {
        self.kind != PacketKind::Ack
    }
}
