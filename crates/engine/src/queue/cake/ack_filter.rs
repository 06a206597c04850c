//! The ACK filter: a TCP ACK that arrives in its queue makes earlier ACKs of its connection
//! superfluous ("Piece of CAKE", 2018, section III-E; `cake_ack_filter`).
//!
//! The packets of external hosts, in emulation, have TCP headers, which are compared as in Linux:
//! numbers, flags, time stamps and SACK blocks ([`TcpHeader`]).
//!
//! Differs from Linux in:
//! - In simulation, SACK blocks are not compared: a later ACK of a connection is assumed to contain
//!   the blocks of earlier ACKs, or to acknowledge them. An ACK with a counter of marks (RFC 9768) is
//!   treated by the lower three bits of the counter, as the flags AE, CWR and ECE.
//! - Data and ACKs that a host sends on the same connection are in different queues, so that data
//!   makes no ACK superfluous.

use std::collections::VecDeque;

use super::tcp_header::{TcpHeader, TcpHeaders};
use crate::packet::{EcnEcho, Packet, PacketKind};
use crate::words;

words! {
    /// Use of the ACK filter.
    pub enum AckFilter {
        /// No ACK is filtered.
        Off = "off",
        /// At least two superfluous ACKs must wait before the first of them is dropped.
        Conservative = "conservative",
        /// One superfluous ACK is enough if it is directly before the new ACK.
        Aggressive = "aggressive",
    }
}

/// Removes and returns the ACK that the last packet of `packets` makes superfluous. `headers` are the
/// TCP headers of the packets of external hosts; `None` in a simulation.
pub(super) fn superfluous(
    packets: &mut VecDeque<Packet>,
    filter: AckFilter,
    headers: Option<&TcpHeaders>,
) -> Option<Packet> {
    if filter == AckFilter::Off || packets.len() < 2 {
        return None;
    }
    let last = Tcp::of(packets.back()?, headers)?;
    if !last.acknowledges() {
        return None;
    }
    let mut eligible: Option<(usize, u32)> = None;
    let mut superfluous_count = 0;
    let count = packets.len();
    let earlier = packets.iter().enumerate().take(count - 1);
    let earlier = earlier.filter_map(|(index, ack)| Some((index, Tcp::of(ack, headers)?)));
    let mut superfluous = None;
    for (index, ack) in earlier.filter(|(_, ack)| ack.is_of_connection(&last)) {
        if eligible.is_some_and(|(_, flags)| flags != ack.flags()) {
            // the flags have changed since the eligible ACK, which must stay
            eligible = None;
            superfluous_count -= 1;
        }
        if !ack.is_covered_by(&last) {
            continue;
        }
        let (first, _) = *eligible.get_or_insert((index, ack.flags()));
        superfluous_count += 1;
        if superfluous_count > 1 {
            superfluous = Some(first);
            break;
        }
    }
    if superfluous.is_none() && filter == AckFilter::Aggressive {
        let follows = |&(first, flags): &(usize, u32)| first + 2 == count && flags == last.flags();
        superfluous = eligible.filter(follows).map(|(first, _)| first);
    }
    packets.remove(superfluous?)
}

/// A TCP packet in a queue.
enum Tcp<'a> {
    Simulated(&'a Packet),
    /// Packet of an external host.
    Real(&'a TcpHeader),
}

impl Tcp<'_> {
    /// Returns the packet as a TCP packet; `None` for a packet of another protocol, and for simulated
    /// data, which needs no ACKs.
    fn of<'a>(packet: &'a Packet, headers: Option<&'a TcpHeaders>) -> Option<Tcp<'a>> {
        match (headers, packet.kind) {
            (None, kind) => (!kind.is_data()).then_some(Tcp::Simulated(packet)),
            (Some(headers), PacketKind::Segment | PacketKind::Ack) => {
                headers.of(packet.number).map(Tcp::Real)
            }
            (Some(_), _) => None,
        }
    }

    /// Returns whether the packet may make earlier ACKs superfluous.
    fn acknowledges(&self) -> bool {
        match self {
            Tcp::Simulated(packet) => packet.kind == PacketKind::Ack,
            Tcp::Real(header) => header.acknowledges,
        }
    }

    /// Returns whether both packets have the same connection and direction.
    fn is_of_connection(&self, other: &Tcp) -> bool {
        match (self, other) {
            (Tcp::Simulated(packet), Tcp::Simulated(other)) => packet.flow == other.flow,
            (Tcp::Real(header), Tcp::Real(other)) => header.ends == other.ends,
            _ => false,
        }
    }

    /// Returns the flags ECE and CWR.
    fn flags(&self) -> u32 {
        match self {
            Tcp::Simulated(packet) => flags(packet.echo),
            Tcp::Real(header) => u32::from(header.ecn_flags),
        }
    }

    /// Returns whether `later` tells everything that this ACK tells, and more. A duplicate ACK is not
    /// covered by another duplicate ACK without new SACK blocks, because the sender counts duplicate
    /// ACKs.
    fn is_covered_by(&self, later: &Tcp) -> bool {
        match (self, later) {
            (Tcp::Simulated(ack), Tcp::Simulated(later)) => {
                ack.kind == PacketKind::Ack
                    && !has_reserved_flag(ack.echo)
                    && (ack.number < later.number
                        || ack.number == later.number && later.sack != 0 && later.sack != ack.sack)
            }
            (Tcp::Real(ack), Tcp::Real(later)) => ack.is_covered_by(later),
            _ => false,
        }
    }
}

/// Returns the flags ECE and CWR of an ACK.
fn flags(echo: EcnEcho) -> u32 {
    match echo.counted() {
        Some(marked) => marked & 0b011,
        None => u32::from(echo.is_set()),
    }
}

/// Returns whether the flag AE is set, which Linux treats as a reserved flag.
fn has_reserved_flag(echo: EcnEcho) -> bool {
    echo.counted().is_some_and(|marked| marked & 0b100 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(number: u32) -> Packet {
        Packet {
            number,
            bytes: 40,
            kind: PacketKind::Ack,
            ..Packet::SAMPLE
        }
    }

    /// Returns the numbers of the ACKs that remain in a queue after the arrival of `acks`.
    fn left(filter: AckFilter, acks: impl IntoIterator<Item = Packet>) -> Vec<u32> {
        let mut queue = VecDeque::new();
        for ack in acks {
            queue.push_back(ack);
            superfluous(&mut queue, filter, None);
        }
        queue.iter().map(|ack| ack.number).collect()
    }

    #[test]
    fn the_latest_acks_remain() {
        let acks = || (1..=6).map(ack);
        assert_eq!(left(AckFilter::Off, acks()), [1, 2, 3, 4, 5, 6]);
        // an ACK is dropped only if two earlier ACKs are superfluous
        assert_eq!(left(AckFilter::Conservative, acks()), [5, 6]);
        assert_eq!(left(AckFilter::Aggressive, acks()), [6]);
    }

    #[test]
    fn duplicate_acks_stay_unless_sack_tells_more() {
        let duplicates = || [ack(1), ack(2), ack(2), ack(2)];
        assert_eq!(left(AckFilter::Conservative, duplicates()), [1, 2, 2, 2]);
        assert_eq!(left(AckFilter::Aggressive, duplicates()), [2, 2, 2]);
        let with_sack = (0..4).map(|sack| Packet { sack, ..ack(2) });
        assert_eq!(left(AckFilter::Aggressive, with_sack), [2]);
    }

    #[test]
    fn a_change_of_the_ecn_flags_is_kept() {
        let echo = |number, is_set| Packet {
            echo: EcnEcho::flag(is_set),
            ..ack(number)
        };
        let acks = || [echo(1, false), echo(2, true), echo(3, true), echo(4, false)];
        assert_eq!(left(AckFilter::Conservative, acks()), [1, 3, 4]);
        assert_eq!(left(AckFilter::Aggressive, acks()), [1, 3, 4]);
    }

    #[test]
    fn acks_of_other_flows_data_and_handshakes_stay() {
        let other = Packet { flow: 7, ..ack(1) };
        let syn_ack = Packet {
            kind: PacketKind::SynAck,
            ..ack(0)
        };
        let queue = [other, syn_ack, Packet::SAMPLE, ack(5)];
        assert_eq!(left(AckFilter::Aggressive, queue), [1, 0, 0, 5]);
        let trigger = [ack(1), ack(2), ack(3), Packet::SAMPLE];
        assert_eq!(left(AckFilter::Conservative, trigger).len(), 3);
    }
}
