//! Fair queueing as a Linux HTB class with one leaf for each party does it: paper 002, section 4.2.
//!
//! Each leaf is a FIFO of its own. Busy leaves take turns by deficit round robin: what one does not
//! use goes to the others, and each gets at least its part (leaf rate C/M, ceiling C).
//!
//! Differs from Linux in: HTB meters each leaf by tokens and lends by deficit round robin what is
//! left; here all is lent. The rate of the whole is the server's. Lengths are those of IP packets.

use std::collections::VecDeque;

use super::QueueCounters;
use crate::kernel::time::Time;
use crate::packet::Packet;

/// What the leaf of least weight may send in a turn: one full Ethernet frame's packet. [bytes]
const QUANTUM: f64 = 1500.0;

/// Leaves of one class.
#[derive(Clone, Debug)]
pub struct Fair {
    /// Leaves of each flow: `[ACKs, data]`.
    leaf_of: Vec<[u32; 2]>,
    leaves: Vec<Leaf>,
    /// Leaves with packets, the one whose turn it is first.
    busy: VecDeque<u32>,
    /// The leaf of the packet in service.
    serving: Option<u32>,
    /// Packets of one leaf, the one in service included.
    limit: usize,
    packets: usize,
}

#[derive(Clone, Debug)]
struct Leaf {
    packets: VecDeque<Packet>,
    /// What it may send in a turn. [bytes]
    quantum: i64,
    /// What it may still send; below zero: what it has sent too much. [bytes]
    deficit: i64,
    counters: QueueCounters,
}

impl Fair {
    /// Empty leaves, one for each of the `weights`, of `limit` packets each. `leaf_of` names for each
    /// flow the leaf of its ACKs and that of its data.
    pub fn new(leaf_of: Vec<[u32; 2]>, weights: &[f64], limit: u32) -> Fair {
        let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let leaf = |weight: &f64| Leaf {
            packets: VecDeque::new(),
            quantum: (QUANTUM * weight / least).round() as i64,
            deficit: 0,
            counters: QueueCounters::default(),
        };
        Fair {
            leaf_of,
            leaves: weights.iter().map(leaf).collect(),
            busy: VecDeque::new(),
            serving: None,
            limit: limit as usize,
            packets: 0,
        }
    }

    /// Each leaf holds at most `limit` packets from now on; those that wait stay.
    pub(super) fn set_limit(&mut self, limit: u32) {
        self.limit = limit as usize;
    }

    /// Whether the leaf of the data of `flow` has room.
    pub(super) fn has_room(&self, flow: u32) -> bool {
        let [_, leaf] = self.leaf_of[flow as usize];
        !self.is_full(leaf)
    }

    fn is_full(&self, leaf: u32) -> bool {
        let served = usize::from(self.serving == Some(leaf));
        self.leaves[leaf as usize].packets.len() + served >= self.limit
    }

    /// Appends `packet` to its leaf, or drops it if there is no room.
    pub(super) fn enqueue(&mut self, packet: Packet, dropped: &mut Vec<Packet>) {
        let index = self.leaf_of[packet.flow as usize][usize::from(packet.is_data())];
        let is_full = self.is_full(index);
        let leaf = &mut self.leaves[index as usize];
        if is_full {
            leaf.counters.refuse();
            dropped.push(packet);
            return;
        }
        leaf.counters.enter(packet.queued);
        if leaf.packets.is_empty() {
            leaf.deficit += leaf.quantum;
            self.busy.push_back(index);
        }
        leaf.packets.push_back(packet);
        self.packets += 1;
    }

    /// The next packet to send.
    pub(super) fn dequeue(&mut self) -> Option<Packet> {
        loop {
            let index = *self.busy.front()?;
            let leaf = &mut self.leaves[index as usize];
            if leaf.deficit <= 0 {
                leaf.deficit += leaf.quantum;
                self.busy.rotate_left(1);
                continue;
            }
            let packet = leaf.packets.pop_front()?; // a busy leaf has one
            leaf.deficit -= i64::from(packet.bytes);
            if leaf.packets.is_empty() {
                // going idle saves nothing for later, but a debt stays
                leaf.deficit = leaf.deficit.min(0);
                self.busy.pop_front();
            }
            self.packets -= 1;
            self.serving = Some(index);
            return Some(packet);
        }
    }

    /// The packet in service has been sent.
    pub(super) fn departed(&mut self, packet: &Packet, at: Time) {
        if let Some(index) = self.serving.take() {
            self.leaves[index as usize]
                .counters
                .leave(packet.queued, at);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.packets
    }

    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.leaves.iter().flat_map(|leaf| &leaf.packets)
    }

    /// Totals of each leaf, the packet in service included.
    pub(crate) fn counters(&self) -> impl Iterator<Item = QueueCounters> {
        self.leaves.iter().map(|leaf| leaf.counters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flow: u32, bytes: u16) -> Packet {
        Packet {
            flow,
            bytes,
            ..Packet::SAMPLE
        }
    }

    /// Serves `count` packets, each leaf kept at `backlog` packets; bytes of each flow.
    fn serve(fair: &mut Fair, sizes: &[u16], count: usize) -> Vec<u64> {
        let mut dropped = Vec::new();
        let mut sent = vec![0; sizes.len()];
        for (flow, &bytes) in sizes.iter().enumerate() {
            (0..5).for_each(|_| fair.enqueue(packet(flow as u32, bytes), &mut dropped));
        }
        for _ in 0..count {
            let Some(packet) = fair.dequeue() else {
                panic!("all are backlogged");
            };
            fair.departed(&packet, Time::ZERO);
            sent[packet.flow as usize] += u64::from(packet.bytes);
            fair.enqueue(packet, &mut dropped);
        }
        assert!(dropped.is_empty());
        sent
    }

    #[test]
    fn busy_leaves_share_bytes_whatever_their_packets() {
        let leaf_of = vec![[0, 0], [1, 1], [2, 2]];
        let mut fair = Fair::new(leaf_of, &[1.0; 3], 200);
        let sent = serve(&mut fair, &[1500, 300, 40], 30_000);
        let most = sent.iter().max().unwrap_or(&0);
        let least = sent.iter().min().unwrap_or(&0);
        assert!(most - least <= 2 * 1500, "{sent:?}");
    }

    #[test]
    fn bytes_are_as_the_weights() {
        let mut fair = Fair::new(vec![[0, 0], [1, 1]], &[2.0, 11.0], 200);
        let sent = serve(&mut fair, &[1500, 1500], 26_000);
        let ratio = sent[1] as f64 / sent[0] as f64;
        assert!((ratio - 5.5).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn flows_of_one_leaf_share_it_and_acks_may_have_another() {
        let mut fair = Fair::new(vec![[1, 0], [0, 1]], &[1.0; 2], 200);
        let mut dropped = Vec::new();
        let ack = Packet {
            kind: crate::packet::PacketKind::Ack,
            ..packet(0, 52)
        };
        fair.enqueue(packet(0, 1500), &mut dropped);
        fair.enqueue(ack, &mut dropped);
        fair.enqueue(packet(1, 1500), &mut dropped);
        let inside: Vec<u64> = fair.counters().map(|c| c.length()).collect();
        assert_eq!(inside, [1, 2]);
    }

    #[test]
    fn the_limit_is_each_leafs_and_counts_the_packet_in_service() {
        let mut fair = Fair::new(vec![[0, 0], [1, 1]], &[1.0; 2], 2);
        let mut dropped = Vec::new();
        fair.enqueue(packet(0, 1500), &mut dropped);
        let served = fair.dequeue();
        fair.enqueue(packet(0, 1500), &mut dropped);
        fair.enqueue(packet(0, 1500), &mut dropped);
        assert_eq!(dropped.len(), 1);
        fair.enqueue(packet(1, 1500), &mut dropped);
        assert_eq!(dropped.len(), 1, "the other leaf has room");
        let Some(served) = served else {
            panic!("it was offered");
        };
        fair.departed(&served, Time(5));
        fair.enqueue(packet(0, 1500), &mut dropped);
        assert_eq!((dropped.len(), fair.len()), (1, 3));
        let counters: Vec<_> = fair.counters().collect();
        assert_eq!(
            (counters[0].offered, counters[0].dropped, counters[0].left),
            (4, 1, 1)
        );
        assert_eq!(counters[0].sojourn_ns, 5);
    }

    #[test]
    fn a_leaf_that_goes_idle_saves_nothing_and_owes_what_it_sent_too_much() {
        let mut fair = Fair::new(vec![[0, 0], [1, 1]], &[1.0; 2], 200);
        let mut dropped = Vec::new();
        // flow 0 comes back each time it has been served, flow 1 is always backlogged
        (0..5).for_each(|_| fair.enqueue(packet(1, 1500), &mut dropped));
        let mut sent = [0_u64; 2];
        for _ in 0..1000 {
            for bytes in [40, 1500] {
                fair.enqueue(packet(0, bytes), &mut dropped);
            }
            for _ in 0..3 {
                if let Some(packet) = fair.dequeue() {
                    fair.departed(&packet, Time::ZERO);
                    sent[packet.flow as usize] += u64::from(packet.bytes);
                    if packet.flow == 1 {
                        fair.enqueue(packet, &mut dropped);
                    }
                }
            }
            fair.leaves[0].packets.truncate(100);
        }
        let ratio = sent[0] as f64 / sent[1] as f64;
        assert!(ratio < 1.05, "{ratio}");
    }
}
