//! The ACK filter: a TCP ACK that arrives in its queue makes earlier ACKs of its connection
//! superfluous ("Piece of CAKE", 2018, section III-E; `cake_ack_filter`).
//!
//! Differs from Linux in two points. SACK blocks are not compared: a later ACK of a connection is
//! assumed to contain the blocks of earlier ACKs, or to acknowledge them. An ACK with a counter of
//! marks (RFC 9768) is treated by the lower three bits of the counter, as the flags AE, CWR and ECE.

use std::collections::VecDeque;

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

/// Removes and returns the ACK that the last packet of `packets` makes superfluous.
pub(super) fn superfluous(packets: &mut VecDeque<Packet>, filter: AckFilter) -> Option<Packet> {
    let last = *packets.back()?;
    if filter == AckFilter::Off || last.kind != PacketKind::Ack || packets.len() < 2 {
        return None;
    }
    let mut eligible: Option<usize> = None;
    let mut superfluous_count = 0;
    let earlier = packets.iter().enumerate().take(packets.len() - 1);
    let same = earlier.filter(|(_, ack)| ack.flow == last.flow && !ack.is_data());
    for (index, ack) in same {
        if let Some(first) = eligible
            && flags(ack.echo) != flags(packets[first].echo)
        {
            // the flags have changed since the eligible ACK, which must stay
            eligible = None;
            superfluous_count -= 1;
        }
        if ack.kind != PacketKind::Ack || has_reserved_flag(ack.echo) || !is_covered(ack, &last) {
            continue;
        }
        let first = *eligible.get_or_insert(index);
        superfluous_count += 1;
        if superfluous_count > 1 {
            return packets.remove(first);
        }
    }
    let first = eligible?;
    let follows = first + 2 == packets.len() && flags(packets[first].echo) == flags(last.echo);
    match filter == AckFilter::Aggressive && follows {
        true => packets.remove(first),
        false => None,
    }
}

/// Returns whether `later` acknowledges everything that `ack` acknowledges, and more. A duplicate
/// ACK is not covered by another duplicate ACK without new SACK blocks, because the sender counts
/// duplicate ACKs.
fn is_covered(ack: &Packet, later: &Packet) -> bool {
    ack.number < later.number
        || ack.number == later.number && later.sack != 0 && later.sack != ack.sack
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
            superfluous(&mut queue, filter);
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
