//! Fair queueing as in a Linux HTB class with one leaf (a FIFO queue) per party: paper 002, section
//! 4.2. A party is a station, or a group of stations.
//!
//! Busy leaves are served by deficit round robin. Each leaf gets at least its share of the capacity
//! C: C/M for M leaves. Capacity that a leaf does not use is available to the other leaves, so that
//! a leaf may get up to C.
//!
//! The leaves of a group are served within the quantum of the group, also by deficit round robin. A
//! group may have a maximum rate. The gateway uses an HTB class with one leaf per station for each
//! group.
//!
//! Differs from Linux in one point: HTB meters each leaf by tokens, and lends only the remaining
//! capacity by deficit round robin, whereas this model lends all capacity. The total rate is the
//! rate of the server. Lengths are lengths of IP packets.

use std::collections::{BinaryHeap, VecDeque};

use super::QueueCounters;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;

/// Quantum of the party with the smallest share: the IP packet of one full Ethernet frame. [bytes]
const QUANTUM: f64 = 1500.0;

/// Minimum burst of a party with a maximum rate, as a time: after an idle period, the party may
/// send immediately as many bytes as its maximum rate allows in this time.
const BURST: Span = Span(1_000_000);

/// A leaf or a group of leaves with its own share of the capacity. Within a group, leaves have
/// equal shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Party {
    /// Share of the party, relative to the shares of other parties.
    pub share: f64,
    /// Maximum rate of the party. [bit/s]
    pub max_bps: Option<u64>,
    /// Indices of the leaves of the party, in ascending order.
    pub leaves: Vec<u32>,
}

/// A fair queue: all leaves, and the deficit round robin that serves them.
#[derive(Clone, Debug)]
pub struct Fair {
    /// Leaves of each flow: first the leaf of its ACKs, then the leaf of its data.
    leaf_of: Vec<[u32; 2]>,
    leaves: Vec<Leaf>,
    groups: Vec<Group>,
    /// Deficit round robin among the parties.
    turns: Round,
    /// Whether maximum rates are enforced.
    pub(super) is_capped: bool,
    /// Leaf of the packet in service.
    serving: Option<u32>,
    /// Maximum number of packets of a leaf, including the packet in service.
    limit: usize,
    pub(super) packets: usize,
}

#[derive(Clone, Debug)]
struct Leaf {
    packets: VecDeque<Packet>,
    /// Index of the group of the leaf.
    group: u32,
    /// Index of the leaf in its group.
    place: u32,
    counters: QueueCounters,
}

/// The state of a party: a group of leaves, or a single leaf.
#[derive(Clone, Debug)]
struct Group {
    leaves: Vec<u32>,
    /// Deficit round robin among the leaves; unused if there is only one leaf.
    turns: Round,
    packets: usize,
    max_bps: Option<u64>,
    /// Number of bytes that the party may send above its maximum rate after it has sent nothing for
    /// some time. The number is twice the quantum, because a round of all parties may take longer
    /// than one packet at the maximum rate. [bytes]
    burst_bytes: u64,
    /// Earliest time at which the maximum rate lets the party send.
    due: Time,
}

impl Group {
    /// Charges `bytes` sent at `now` against the maximum rate.
    fn send(&mut self, now: Time, bytes: u64) {
        if let Some(max_bps) = self.max_bps {
            let burst = BURST.max(Span::to_send(self.burst_bytes, max_bps));
            let since = Time(now.0.saturating_sub(burst.0));
            self.due = self.due.max(since) + Span::to_send(bytes, max_bps);
        }
    }
}

/// The state of a deficit round robin. The members of the round robin are groups, or the leaves of
/// one group.
#[derive(Clone, Debug)]
struct Round {
    members: Vec<Member>,
    /// Indices of groups or leaves with packets, in order of service. The first is served next.
    busy: VecDeque<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    /// Number of bytes that the group or leaf may send per round. [bytes]
    quantum: i64,
    /// Number of bytes that the group or leaf may still send in this round. A negative value is a
    /// debt. [bytes]
    deficit: i64,
}

impl Round {
    fn new(quanta: impl Iterator<Item = i64>) -> Round {
        let member = |quantum| Member {
            quantum,
            deficit: 0,
        };
        Round {
            members: quanta.map(member).collect(),
            busy: VecDeque::new(),
        }
    }

    /// Adds a group or leaf that was idle and now has packets.
    fn join(&mut self, index: u32) {
        let member = &mut self.members[index as usize];
        member.deficit += member.quantum;
        self.busy.push_back(index);
    }

    /// Returns the group or leaf that is served next, and moves it to the front; `None` if no group
    /// or leaf may send now.
    fn turn(&mut self, may_send: impl Fn(u32) -> bool) -> Option<u32> {
        let mut held = 0;
        while held < self.busy.len() {
            let index = *self.busy.front()?;
            if !may_send(index) {
                held += 1;
                self.busy.rotate_left(1);
                continue;
            }
            held = 0;
            let member = &mut self.members[index as usize];
            if member.deficit > 0 {
                return Some(index);
            }
            member.deficit += member.quantum;
            self.busy.rotate_left(1);
        }
        None
    }

    /// Charges `bytes` to the first group or leaf. If `is_empty` is true, this group or leaf has no
    /// more packets, and is removed from the round robin.
    fn send(&mut self, index: u32, bytes: i64, is_empty: bool) {
        let member = &mut self.members[index as usize];
        member.deficit -= bytes;
        if is_empty {
            // an idle group or leaf loses a positive deficit, but a debt remains
            member.deficit = member.deficit.min(0);
            self.busy.pop_front();
        }
    }
}

impl Fair {
    /// Returns a fair queue of empty leaves of `limit` packets. `weights` contains the share of
    /// each leaf. `leaf_of` contains for each flow the leaf of its ACKs and the leaf of its data.
    pub fn new(leaf_of: Vec<[u32; 2]>, weights: &[f64], limit: u32) -> Fair {
        let party = |(leaf, &share): (u32, &f64)| Party {
            share,
            max_bps: None,
            leaves: vec![leaf],
        };
        let parties: Vec<Party> = (0..).zip(weights).map(party).collect();
        Fair::of(leaf_of, &parties, limit)
    }

    /// Returns a fair queue of empty leaves of `limit` packets that belong to these parties. Each
    /// leaf belongs to one party.
    pub fn of(leaf_of: Vec<[u32; 2]>, parties: &[Party], limit: u32) -> Fair {
        let least = parties.iter().map(|party| party.share);
        let least = least.fold(f64::INFINITY, f64::min);
        let mut places: Vec<(u32, [u32; 2])> = Vec::new();
        for (group, party) in (0..).zip(parties) {
            let inside = (0..).zip(&party.leaves);
            places.extend(inside.map(|(place, &leaf)| (leaf, [group, place])));
        }
        // the list is sorted only once, and the code of a heap is smaller than that of a sort
        let places = BinaryHeap::from(places).into_sorted_vec();
        let leaf = |(_, [group, place]): (u32, [u32; 2])| Leaf {
            packets: VecDeque::new(),
            group,
            place,
            counters: QueueCounters::default(),
        };
        let quantum = |party: &Party| (QUANTUM * party.share / least).round() as i64;
        let group = |party: &Party| Group {
            leaves: party.leaves.clone(),
            turns: Round::new(party.leaves.iter().map(|_| QUANTUM as i64)),
            packets: 0,
            max_bps: party.max_bps,
            burst_bytes: 2 * quantum(party) as u64,
            due: Time::ZERO,
        };
        Fair {
            leaf_of,
            leaves: places.into_iter().map(leaf).collect(),
            groups: parties.iter().map(group).collect(),
            turns: Round::new(parties.iter().map(quantum)),
            is_capped: true,
            serving: None,
            limit: limit as usize,
            packets: 0,
        }
    }

    /// Sets the limit of each leaf. Packets above a smaller limit are not dropped.
    pub(super) fn set_limit(&mut self, limit: u32) {
        self.limit = limit as usize;
    }

    /// Assigns the new flow `flow` to the leaves of flow `like`.
    pub(super) fn adopt(&mut self, flow: u32, like: u32) {
        let leaves = self.leaf_of[like as usize];
        self.leaf_of.resize(flow as usize + 1, leaves);
    }

    /// Returns whether the leaf of the data packets of `flow` has room for a packet.
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
        let group = &mut self.groups[leaf.group as usize];
        if leaf.packets.is_empty() && group.leaves.len() > 1 {
            group.turns.join(leaf.place);
        }
        if group.packets == 0 {
            self.turns.join(leaf.group);
        }
        leaf.packets.push_back(packet);
        group.packets += 1;
        self.packets += 1;
    }

    /// Returns the next packet to send at `now`; `None` if maximum rates forbid to send now, or if
    /// all leaves are empty.
    pub(super) fn dequeue(&mut self, now: Time) -> Option<Packet> {
        let (groups, is_capped) = (&self.groups, self.is_capped);
        let may_send = |index: u32| !is_capped || groups[index as usize].due <= now;
        let number = self.turns.turn(may_send)?;
        let group = &mut self.groups[number as usize];
        let place = match group.leaves.len() {
            1 => 0,
            _ => group.turns.turn(|_| true)?,
        };
        let index = group.leaves[place as usize];
        let leaf = &mut self.leaves[index as usize];
        let packet = leaf.packets.pop_front()?; // a busy leaf has a packet
        let bytes = i64::from(packet.bytes);
        if group.leaves.len() > 1 {
            group.turns.send(place, bytes, leaf.packets.is_empty());
        }
        group.packets -= 1;
        group.send(now, u64::from(packet.bytes));
        self.turns.send(number, bytes, group.packets == 0);
        self.packets -= 1;
        self.serving = Some(index);
        Some(packet)
    }

    /// Returns the earliest time at which a group with packets may send, or `Time::NEVER` if all
    /// groups are empty.
    pub(super) fn ready(&self) -> Time {
        let busy = self.turns.busy.iter();
        let due = busy.map(|&number| self.groups[number as usize].due);
        due.min().unwrap_or(Time::NEVER)
    }

    /// Records that the packet in service has been sent.
    pub(super) fn departed(&mut self, packet: &Packet, at: Time) {
        if let Some(index) = self.serving.take() {
            self.leaves[index as usize]
                .counters
                .leave(packet.queued, at);
        }
    }

    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.leaves.iter().flat_map(|leaf| &leaf.packets)
    }

    /// Returns the counters of each leaf. The packet in service is part of the queue length.
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

    /// Serves `count` packets, while each leaf always holds a packet. Returns the number of bytes
    /// sent per flow.
    fn serve(fair: &mut Fair, sizes: &[u16], count: usize) -> Vec<u64> {
        let mut dropped = Vec::new();
        let mut sent = vec![0; sizes.len()];
        for (flow, &bytes) in sizes.iter().enumerate() {
            (0..5).for_each(|_| fair.enqueue(packet(flow as u32, bytes), &mut dropped));
        }
        for _ in 0..count {
            let Some(packet) = fair.dequeue(Time::ZERO) else {
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
        let served = fair.dequeue(Time::ZERO);
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
        assert_eq!((dropped.len(), fair.packets), (1, 3));
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
        // flow 0 gets two packets before every three departures; flow 1 is always backlogged
        (0..5).for_each(|_| fair.enqueue(packet(1, 1500), &mut dropped));
        let mut sent = [0_u64; 2];
        for _ in 0..1000 {
            for bytes in [40, 1500] {
                fair.enqueue(packet(0, bytes), &mut dropped);
            }
            for _ in 0..3 {
                if let Some(packet) = fair.dequeue(Time::ZERO) {
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

    /// Serves leaves that are never empty for this number of seconds. Returns the number of bytes
    /// sent per flow.
    fn serve_for(fair: &mut Fair, flows: u32, rate_bps: u64, seconds: u64) -> Vec<u64> {
        let mut dropped = Vec::new();
        let mut sent = vec![0; flows as usize];
        for flow in 0..flows {
            (0..5).for_each(|_| fair.enqueue(packet(flow, 1500), &mut dropped));
        }
        let mut now = Time::ZERO;
        while now < Time(seconds * 1_000_000_000) {
            let Some(packet) = fair.dequeue(now) else {
                let ready = fair.ready();
                assert!(ready > now, "{ready:?} at {now:?}");
                now = ready;
                continue;
            };
            now += Span::to_send(u64::from(packet.bytes), rate_bps);
            fair.departed(&packet, now);
            sent[packet.flow as usize] += u64::from(packet.bytes);
            fair.enqueue(packet, &mut dropped);
        }
        assert!(dropped.is_empty());
        sent
    }

    fn party(leaves: &[u32], share: f64, max_bps: Option<u64>) -> Party {
        Party {
            share,
            max_bps,
            leaves: leaves.to_vec(),
        }
    }

    #[test]
    fn a_group_has_one_share_which_its_leaves_share_equally() {
        let leaf_of = (0..5).map(|leaf| [leaf, leaf]).collect();
        let parties = [
            party(&[0, 2, 4], 1.0, None),
            party(&[1], 1.0, None),
            party(&[3], 2.0, None),
        ];
        let sent = serve_for(&mut Fair::of(leaf_of, &parties, 200), 5, 12_000_000, 20);
        let share = 12_000_000.0 * 20.0 / 8.0 / 4.0;
        for (flow, expected) in [1.0 / 3.0, 1.0, 1.0 / 3.0, 2.0, 1.0 / 3.0]
            .into_iter()
            .enumerate()
        {
            let error = sent[flow] as f64 / (share * expected) - 1.0;
            assert!(error.abs() < 1e-3, "flow {flow}: {error}");
        }
    }

    #[test]
    fn a_group_never_exceeds_its_largest_rate_and_the_others_get_what_it_leaves() {
        let leaf_of = vec![[0, 0], [1, 1], [2, 2]];
        let parties = [party(&[0, 1], 1.0, Some(2_000_000)), party(&[2], 1.0, None)];
        let sent = serve_for(&mut Fair::of(leaf_of, &parties, 200), 3, 12_000_000, 20);
        let megabits: Vec<f64> = sent
            .iter()
            .map(|&bytes| bytes as f64 * 8e-6 / 20.0)
            .collect();
        assert!(
            (megabits[0] - 1.0).abs() < 0.005 && (megabits[1] - 1.0).abs() < 0.005,
            "{megabits:?}"
        );
        assert!((megabits[2] - 10.0).abs() < 0.01, "{megabits:?}");
    }

    #[test]
    fn alone_a_group_with_a_largest_rate_leaves_the_link_idle() {
        let parties = [party(&[0], 1.0, Some(3_000_000))];
        let mut fair = Fair::of(vec![[0, 0]], &parties, 200);
        let megabits = serve_for(&mut fair, 1, 12_000_000, 20)[0] as f64 * 8e-6 / 20.0;
        assert!((megabits - 3.0).abs() < 0.005, "{megabits}");
        fair.is_capped = false;
        assert!(
            fair.dequeue(Time::ZERO).is_some(),
            "largest rates are not enforced before the start"
        );
    }
}
