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
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
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
    /// ECT(0): a queue may mark it where it would drop it.
    Capable,
    /// ECT(1): it may be marked, and its sender answers to how many of its packets are: L4S (RFC 9331).
    Scalable,
    /// CE: a queue marked it.
    Experienced,
}

impl Ecn {
    /// Whether a queue takes it for L4S: ECT(1), or CE, which does not say what it was (RFC 9331, section 5.1).
    #[inline]
    pub fn is_l4s(self) -> bool {
        matches!(self, Ecn::Scalable | Ecn::Experienced)
    }
}

/// What the TCP header of a segment or an ACK says of congestion; nothing where a connection has no ECN.
///
/// | bits | of a connection that |
/// |---|---|
/// | 0: ECE of an ACK, CWR of a segment | echoes a mark until the window was reduced (RFC 3168, section 6.1), or each as it comes (RFC 8257, section 3.2) |
/// | 1: always set | does the latter |
/// | 1 to 6: how many have been marked, 7: always set | counts marks (RFC 9768) |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EcnEcho(u8);

impl EcnEcho {
    /// No flag of a connection that echoes marks until the window was reduced, or has no ECN.
    pub const NONE: EcnEcho = EcnEcho(0);
    /// The flag of such a connection.
    pub const SET: EcnEcho = EcnEcho(1);
    /// Counts are told modulo this.
    pub const MODULUS: u32 = 64;

    const EACH: u8 = 1 << 1;
    const COUNTS: u8 = 1 << 7;

    /// The flag, or none, of a connection that echoes a mark until the window was reduced.
    #[inline(always)]
    pub const fn flag(is_set: bool) -> EcnEcho {
        EcnEcho(is_set as u8)
    }

    /// The same of a connection that echoes each mark as it comes.
    pub const fn of_each(is_set: bool) -> EcnEcho {
        EcnEcho(EcnEcho::EACH | is_set as u8)
    }

    /// So many segments have been marked.
    pub const fn count(marked: u32) -> EcnEcho {
        EcnEcho(EcnEcho::COUNTS | ((marked % EcnEcho::MODULUS) as u8) << 1)
    }

    /// Whether it says anything: a flag, or that there is none on a connection that hears of each mark.
    #[inline(always)]
    pub const fn speaks(self) -> bool {
        self.0 != 0
    }

    /// Whether its flag is set; a count has none.
    #[inline(always)]
    pub const fn is_set(self) -> bool {
        self.0 & 1 != 0
    }

    /// How many segments have been marked, modulo [`EcnEcho::MODULUS`], if it counts.
    pub const fn counted(self) -> Option<u32> {
        if self.0 & EcnEcho::COUNTS == 0 {
            return None;
        }
        Some((self.0 >> 1) as u32 % EcnEcho::MODULUS)
    }
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
    /// What the TCP header says of congestion: in an ACK that marks have arrived, in a segment that the
    /// window was reduced.
    pub echo: EcnEcho,
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
        echo: EcnEcho::NONE,
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
        echo: EcnEcho::NONE,
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

    /// Queues copy packets: half a cache line each.
    #[test]
    fn a_packet_takes_32_bytes() {
        assert_eq!(size_of::<Packet>(), 32);
    }
}
