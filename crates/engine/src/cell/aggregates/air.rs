//! Time in which PPDUs with data are on the air.

use super::{Aggregates, Sending};
use crate::kernel::time::{Span, Time};
use crate::mac::dcf::{AP, Dcf};

impl Aggregates {
    /// Time in which PPDUs with data for station number `station`, counted from 0, or from it have been on the
    /// air by `now`: two that collide are there together. [ns]
    pub(in crate::cell) fn air_ns(&self, station: usize, now: Time, medium: &Dcf) -> u64 {
        let own = medium.categories_of(station as u32 + 1);
        let own = own.map(|contender| self.sent(contender).air_ns);
        let ended = self.sent_to(station).air_ns + own.sum::<u64>() - self.overlaps_ns[station];
        let node = station as u32 + 1;
        let transmitters = medium.transmitters().iter();
        let present = transmitters
            .filter(|&&contender| self.carries_data(contender, node))
            .map(|&contender| medium.data_on_air(now, contender));
        ended + present.max().unwrap_or(Span::ZERO).0
    }

    /// The exchange that has just ended is a collision; those who sent have not been settled.
    pub(in crate::cell) fn note_overlap(&mut self, medium: &Dcf) {
        let data = |&&contender: &&u32| {
            let sends = matches!(self.senders[contender as usize].sending, Sending::Data(_));
            sends && medium.protection(contender).is_none()
        };
        let senders = medium.transmitters().iter().filter(data);
        let senders: Vec<u32> = senders.copied().collect();
        for &contender in &senders {
            let down = &self.senders[contender as usize];
            let (AP, Sending::Data(lane)) = (down.node, down.sending) else {
                continue;
            };
            let up = senders.iter().map(|&other| &self.senders[other as usize]);
            let up = up.filter(|other| other.node == lane + 1);
            let overlap: u64 = up.map(|other| other.last.1.min(down.last.1).0).sum();
            self.overlaps_ns[lane as usize] += overlap;
        }
    }

    /// Whether what `contender` sends are data for `node` or from it.
    fn carries_data(&self, contender: u32, node: u32) -> bool {
        let sender = &self.senders[contender as usize];
        match sender.sending {
            Sending::Data(lane) if sender.node == AP => lane + 1 == node,
            Sending::Data(_) => sender.node == node,
            Sending::Bar(_) | Sending::Nothing => false,
        }
    }
}
