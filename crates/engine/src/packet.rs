//! Simulated packets. A packet is a small value that is copied from queue to queue.

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

/// Type of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PacketKind {
    /// TCP segment with payload.
    Segment,
    /// UDP datagram.
    Datagram,
    /// TCP SYN, which opens a connection.
    Syn,
    /// TCP ACK without payload.
    Ack,
    /// TCP SYN-ACK.
    SynAck,
    /// Reply to the echo request of a flow of pings, or feedback about the video of a call. A link
    /// with losses loses it like data.
    EchoReply,
}

impl PacketKind {
    /// Returns true for a packet in the direction of the flow's data, and false for a packet in the
    /// opposite direction.
    #[inline(always)]
    pub fn is_data(self) -> bool {
        (self as u8) < PacketKind::Ack as u8
    }

    /// Returns whether a link with losses may lose the packet: data and echo replies, but no ACKs.
    #[inline(always)]
    pub fn may_be_lost(self) -> bool {
        self.is_data() || self == PacketKind::EchoReply
    }
}

/// ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not-ECT: the transport does not support marks.
    #[default]
    NotCapable,
    /// ECT(0): a queue may mark the packet instead of dropping it.
    Capable,
    /// ECT(1): a queue may mark the packet. ECT(1) identifies L4S senders, which react to the
    /// fraction of marks (RFC 9331).
    Scalable,
    /// CE: a queue has marked the packet.
    Experienced,
}

impl Ecn {
    /// Returns whether a queue treats the packet as an L4S packet. This holds for ECT(1), and also
    /// for CE, because the value before the mark is unknown (RFC 9331, section 5.1).
    #[inline]
    pub fn is_l4s(self) -> bool {
        matches!(self, Ecn::Scalable | Ecn::Experienced)
    }
}

/// ECN feedback in the TCP header of a segment or an ACK: a flag or a counter of marks. Without ECN
/// all bits are 0.
///
/// | bits | meaning |
/// |---|---|
/// | 0: ECE of an ACK, CWR of a segment | echo of a mark until CWR (RFC 3168, 6.1), or of each mark (RFC 8257, 3.2) |
/// | 1: always set | the connection echoes each mark |
/// | 1 to 6: number of marked segments, 7: always set | the connection counts marks (RFC 9768) |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EcnEcho(u8);

impl EcnEcho {
    /// Cleared flag of a connection without ECN, or of a connection with classic ECN (RFC 3168).
    pub const NONE: EcnEcho = EcnEcho(0);
    /// Set flag of a connection with classic ECN (RFC 3168), which echoes a mark until the window
    /// is reduced.
    pub const SET: EcnEcho = EcnEcho(1);
    /// Modulus of the counter of marked segments: after 63 the counter continues at 0.
    pub const MODULUS: u32 = 64;

    const EACH: u8 = 1 << 1;
    const COUNTS: u8 = 1 << 7;

    /// Returns the flag of a connection with classic ECN (RFC 3168), which echoes a mark until the
    /// window is reduced.
    #[inline(always)]
    pub const fn flag(is_set: bool) -> EcnEcho {
        EcnEcho(is_set as u8)
    }

    /// Returns the flag of a connection that echoes each mark (RFC 8257).
    pub const fn of_each(is_set: bool) -> EcnEcho {
        EcnEcho(EcnEcho::EACH | is_set as u8)
    }

    /// Returns the value for a connection that counts marks (RFC 9768). `marked` is the number of
    /// marked segments.
    pub const fn count(marked: u32) -> EcnEcho {
        EcnEcho(EcnEcho::COUNTS | ((marked % EcnEcho::MODULUS) as u8) << 1)
    }

    /// Returns whether the field contains feedback: any bit is set. For a connection that echoes
    /// each mark, this is always true.
    #[inline(always)]
    pub const fn speaks(self) -> bool {
        self.0 != 0
    }

    /// Returns whether the flag is set. The value is false if the field is a count.
    #[inline(always)]
    pub const fn is_set(self) -> bool {
        self.0 & 1 != 0
    }

    /// Returns the number of marked segments modulo [`EcnEcho::MODULUS`]; `None` if the field is a
    /// flag and not a count.
    pub const fn counted(self) -> Option<u32> {
        if self.0 & EcnEcho::COUNTS == 0 {
            return None;
        }
        Some((self.0 >> 1) as u32 % EcnEcho::MODULUS)
    }
}

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Index of the flow.
    pub flow: u32,
    /// Number of the segment or datagram. For an ACK, the number of the next expected segment; 0 in
    /// a handshake.
    pub number: u32,
    /// Time at which a segment or datagram was sent; for an ACK, the echoed timestamp.
    pub stamp: Time,
    /// Time at which the packet entered its current queue.
    pub queued: Time,
    /// Length of the IP packet. [bytes]
    pub bytes: u16,
    /// Number of legs (sections of the route) that the packet has begun.
    pub hop: u8,
    /// Type of the packet.
    pub kind: PacketKind,
    /// Whether the packet is ECN-capable, and whether a queue has marked the packet.
    pub ecn: Ecn,
    /// ECN feedback in the TCP header: an ACK reports marks, and a segment reports a reduced
    /// window.
    pub echo: EcnEcho,
    /// Number that identifies the SACK option of an ACK, modulo 2^16; 0 if the ACK has no SACK
    /// option.
    pub sack: u16,
}

impl Packet {
    /// Returns true for a packet in the direction of the flow's data, and false for a packet in the
    /// opposite direction.
    #[inline(always)]
    pub fn is_data(&self) -> bool {
        self.kind.is_data()
    }

    /// Sets the CE mark. Returns false if the packet is not ECN-capable and must be dropped. A mark
    /// is never removed (RFC 3168, section 5).
    pub fn mark(&mut self) -> bool {
        if self.ecn == Ecn::NotCapable {
            return false;
        }
        self.ecn = Ecn::Experienced;
        true
    }
}

impl Packet {
    /// A packet without content, as a placeholder.
    pub const BLANK: Packet = Packet {
        flow: 0,
        number: 0,
        stamp: Time::ZERO,
        queued: Time::ZERO,
        bytes: 0,
        hop: 0,
        kind: PacketKind::Datagram,
        ecn: Ecn::NotCapable,
        echo: EcnEcho::NONE,
        sack: 0,
    };

    /// A full segment, for tests.
    #[cfg(test)]
    pub(crate) const SAMPLE: Packet = Packet {
        bytes: 1500,
        kind: PacketKind::Segment,
        ..Packet::BLANK
    };

    /// Returns a packet that `flow` sends at `now`.
    #[inline(always)]
    pub fn new(now: Time, flow: u32, kind: PacketKind, bytes: u16) -> Packet {
        Packet {
            flow,
            stamp: now,
            queued: now,
            bytes,
            kind,
            ..Packet::BLANK
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ecn_capable_takes_a_mark() {
        for (before, after, marked) in [
            (Ecn::NotCapable, Ecn::NotCapable, false),
            (Ecn::Capable, Ecn::Experienced, true),
            (Ecn::Scalable, Ecn::Experienced, true),
            (Ecn::Experienced, Ecn::Experienced, true),
        ] {
            let mut packet = Packet {
                ecn: before,
                ..Packet::SAMPLE
            };
            assert_eq!((packet.mark(), packet.ecn), (marked, after));
        }
    }

    #[test]
    fn ect_1_and_ce_are_taken_for_l4s() {
        use Ecn::{Capable, Experienced, NotCapable, Scalable};
        let of_l4s = [NotCapable, Capable, Scalable, Experienced].map(Ecn::is_l4s);
        assert_eq!(of_l4s, [false, false, true, true]);
    }

    #[test]
    fn an_echo_tells_flags_and_counts_apart() {
        let read = |echo: EcnEcho| (echo.speaks(), echo.is_set(), echo.counted());
        assert_eq!(read(EcnEcho::NONE), (false, false, None));
        assert_eq!(read(EcnEcho::flag(true)), (true, true, None));
        assert_eq!(read(EcnEcho::of_each(false)), (true, false, None));
        assert_eq!(read(EcnEcho::of_each(true)), (true, true, None));
        for (marked, counted) in [(0, 0), (1, 1), (63, 63), (64, 0), (200, 8)] {
            assert_eq!(read(EcnEcho::count(marked)), (true, false, Some(counted)));
        }
    }

    /// Checks that a packet has half the size of a cache line, because packets are copied from
    /// queue to queue.
    #[test]
    fn a_packet_takes_32_bytes() {
        assert_eq!(size_of::<Packet>(), 32);
    }
}
