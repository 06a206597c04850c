//! What travels: one small value, copied from queue to queue.

use crate::kernel::time::Time;
use crate::words;

words! {
    /// Direction of a flow's data.
    pub enum Direction {
        /// Station to server.
        Up = "up",
        /// Server to station.
        Down = "down",
    }
}

/// What a packet is to its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// TCP segment with payload.
    Segment,
    /// UDP datagram.
    Datagram,
    /// TCP segment that opens a connection.
    Syn,
    /// Pure TCP acknowledgement.
    Ack,
    /// The acknowledgement of a SYN.
    SynAck,
}

impl PacketKind {
    /// True for what travels with the flow's data, false for what comes back.
    #[inline(always)]
    pub fn is_data(self) -> bool {
        (self as u8) < PacketKind::Ack as u8
    }
}

/// What the IP header says of congestion (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not-ECT: its transport would not understand a mark.
    #[default]
    NotCapable,
    /// ECT: a queue may mark it where it would drop it.
    Capable,
    /// CE: a queue marked it.
    Experienced,
}

/// One IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Index of the flow.
    pub flow: u32,
    /// Segment or datagram number; for an ACK the next segment expected; 0 in a handshake.
    pub number: u32,
    /// Send time of a segment or datagram; for an ACK the echoed send time.
    pub stamp: Time,
    /// When it entered the queue it is in.
    pub queued: Time,
    /// IP length. [bytes]
    pub bytes: u16,
    /// Legs of its way that it has begun.
    pub hop: u8,
    /// What it is to its flow.
    pub kind: PacketKind,
    /// Whether a queue may mark it, and has done so.
    pub ecn: Ecn,
    /// What the TCP header says of congestion (RFC 3168, section 6.1). In an ACK it is ECE: a mark has
    /// arrived. In a segment it is CWR: the window was reduced.
    pub echo: bool,
    /// Number of an ACK's SACK option, modulo 2^16; 0: it has none.
    pub sack: u16,
}

impl Packet {
    /// True for packets that travel with the flow's data, false for those that come back.
    #[inline(always)]
    pub fn is_data(&self) -> bool {
        self.kind.is_data()
    }

    /// Marks the packet in place of a drop; false if it cannot carry a mark, so that it must be
    /// dropped. A packet that was marked before stays so (RFC 3168, section 5).
    pub fn mark(&mut self) -> bool {
        if self.ecn == Ecn::NotCapable {
            return false;
        }
        self.ecn = Ecn::Experienced;
        true
    }
}

impl Packet {
    /// Holds the place of a packet that is still to be written.
    pub const BLANK: Packet = Packet {
        flow: 0,
        number: 0,
        stamp: Time::ZERO,
        queued: Time::ZERO,
        bytes: 0,
        hop: 0,
        kind: PacketKind::Datagram,
        ecn: Ecn::NotCapable,
        echo: false,
        sack: 0,
    };
}

#[cfg(test)]
impl Packet {
    /// A full segment, for tests that are about something else.
    pub(crate) const SAMPLE: Packet = Packet {
        flow: 0,
        number: 0,
        stamp: Time::ZERO,
        queued: Time::ZERO,
        bytes: 1500,
        hop: 0,
        kind: PacketKind::Segment,
        ecn: Ecn::NotCapable,
        echo: false,
        sack: 0,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ecn_capable_takes_a_mark() {
        for (before, after, marked) in [
            (Ecn::NotCapable, Ecn::NotCapable, false),
            (Ecn::Capable, Ecn::Experienced, true),
            (Ecn::Experienced, Ecn::Experienced, true),
        ] {
            let mut packet = Packet {
                ecn: before,
                ..Packet::SAMPLE
            };
            assert_eq!((packet.mark(), packet.ecn), (marked, after));
        }
    }

    /// Queues copy packets: half a cache line each.
    #[test]
    fn a_packet_takes_32_bytes() {
        assert_eq!(size_of::<Packet>(), 32);
    }
}
