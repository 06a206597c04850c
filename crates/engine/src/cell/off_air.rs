//! Packets that have been received over the air, with the node that has received them.

use crate::packet::Packet;

/// Result of an exchange: the number of packets received, and the node that has received them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffAir {
    /// No packet was received.
    Nothing,
    /// One packet was received by its station.
    AtStation,
    /// One packet was received by the access point.
    AtAccessPoint,
    /// Any number of packets were received, which [`super::Cell::swap_received`] returns.
    Several,
}

impl OffAir {
    /// Returns the receiver of a packet: a station if the packet is sent `down`, else the access
    /// point.
    #[inline]
    pub(super) fn of(down: bool) -> OffAir {
        match down {
            true => OffAir::AtStation,
            false => OffAir::AtAccessPoint,
        }
    }
}

/// Packets that were received in one event, in order. Consecutive packets to one receiver are a
/// run, and the receiver is stored once per run.
#[derive(Clone, Debug, Default)]
pub struct ReceivedPackets {
    packets: Vec<Packet>,
    /// Receiver and number of packets of each run.
    runs: Vec<(OffAir, usize)>,
}

impl ReceivedPackets {
    /// Appends packets that the receiver `off` has received.
    #[inline]
    pub(super) fn extend(&mut self, off: OffAir, packets: &[Packet]) {
        self.packets.extend_from_slice(packets);
        match self.runs.last_mut() {
            Some((last, count)) if *last == off => *count += packets.len(),
            _ => self.runs.push((off, packets.len())),
        }
    }

    /// Returns the number of packets.
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Removes all packets.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.runs.clear();
    }

    /// Returns the receiver and the packets of each run.
    #[inline]
    pub fn runs(&mut self) -> impl Iterator<Item = (OffAir, &mut [Packet])> {
        let mut rest = &mut self.packets[..];
        self.runs.iter().map(move |&(off, count)| {
            let (own, later) = std::mem::take(&mut rest).split_at_mut(count);
            rest = later;
            (off, own)
        })
    }
}
