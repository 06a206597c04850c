//! Time for which PPDUs with data are on the air.

use super::{Senders, Sending};
use crate::kernel::time::{Span, Time};
use crate::mac::bss::NodeId;
use crate::mac::dcf::Dcf;

impl Senders {
    /// Returns the time for which PPDUs with data to or from a station have been on the air by
    /// `now`. `station` is the index of the station, counted from 0. The time of two PPDUs that
    /// overlap is counted once. [ns]
    pub(in crate::cell) fn air_ns(&self, station: usize, now: Time, medium: &Dcf) -> u64 {
        let node = self.roles.node_of(station);
        let own = medium.categories_of(node);
        let own = own.map(|contender| self.sent(contender).air_ns);
        let ended = self.sent_to(station).air_ns + own.sum::<u64>() - self.overlaps_ns[station];
        let transmitters = medium.transmitters().iter();
        let present = transmitters
            .filter(|&&contender| self.carries_data(contender, node))
            .map(|&contender| medium.data_on_air(now, contender));
        ended + present.max().unwrap_or(Span::ZERO).0
    }

    /// Counts the overlap of PPDUs to and from the same station in the collision that has just
    /// ended. The caller has not called [`Senders::settle`] yet for this collision.
    pub(in crate::cell) fn count_overlap(&mut self, medium: &Dcf) {
        let data = |&&contender: &&u32| {
            let sends = matches!(self.senders[contender as usize].sending, Sending::Data(_));
            sends && medium.protection(contender).is_none()
        };
        let senders = medium.transmitters().iter().filter(data);
        let senders: Vec<u32> = senders.copied().collect();
        for &contender in &senders {
            let down = &self.senders[contender as usize];
            let (true, Sending::Data(txq)) = (down.node == self.ap, down.sending) else {
                continue;
            };
            let station = down.links[txq as usize].to;
            let up = senders.iter().map(|&other| &self.senders[other as usize]);
            let up = up.filter(|other| other.node == station);
            let overlap: u64 = up.map(|other| other.last.1.min(down.last.1).0).sum();
            self.overlaps_ns[txq as usize] += overlap;
        }
    }

    /// Returns whether `contender` has data to or from `node` on the air.
    fn carries_data(&self, contender: u32, node: NodeId) -> bool {
        let sender = &self.senders[contender as usize];
        match sender.sending {
            Sending::Data(txq) => [sender.node, sender.links[txq as usize].to].contains(&node),
            Sending::Bar(_) | Sending::Nothing => false,
        }
    }
}
