//! FQ-CoDel: flows are hashed to queues. Each queue is controlled by CoDel, and queues are served
//! by deficit round robin. A queue that has just become busy is served first (RFC 8290, sections 3
//! and 4).
//!
//! Differs from RFC 8290 in one point: the hash is computed from the index of the flow with a
//! random key per replication. Therefore the two directions of a flow never share a queue. Differs
//! from Linux in one point: if the queue is full, a single packet is dropped from the head of the
//! longest queue (RFC 8290, section 4.1), not a batch of packets.

use super::codel::{CoDelSetting, Passed};
use super::discipline::{OfDiscipline, moving};
use super::drr::{DeficitRoundRobin, FlowQueue, hash_key, hashed};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::notation::decode::Section;
use crate::notation::problem::Problems;
use crate::notation::setting::{S, US, count, duration, flag, size};
use crate::packet::Packet;
use crate::table;

table! {
    /// FQ-CoDel: one CoDel queue per flow, served in turns.
    pub struct FqCoDelSetting: Copy in "fq_codel" {
        /// Acceptable time in the queue.
        target: Span = duration(0..=10 * S).default("5 ms");
        /// Time for which packets must be above target before a packet is dropped. It should be of the order of a round-trip time.
        interval: Span = duration(US..=100 * S).default("100 ms");
        /// Quantum: number of bytes that a queue may send per turn.
        quantum_bytes as "quantum": u32 = size(1..=100_000).default("1514 B");
        /// Number of queues that flows are hashed to.
        queues: u32 = count(1..=65_536).default(1_024);
        /// If true, ECN-capable packets are marked, not dropped.
        ecn: bool = flag().default(true);
        /// Time in the queue from which every ECN-capable packet is marked, in addition to the decisions of CoDel.
        ce_threshold: Option<Span> = duration(0..=10 * S).or("off").default("off");
        /// If true, ce_threshold marks only ECT(1) packets, which are L4S. Otherwise it marks all ECN-capable packets.
        ce_threshold_l4s: bool = flag().default(false);
    }
}

impl FqCoDelSetting {
    /// Returns the settings of CoDel for each flow queue.
    pub fn codel(&self) -> CoDelSetting {
        CoDelSetting {
            target: self.target,
            interval: self.interval,
            ecn: self.ecn,
            ce_threshold: self.ce_threshold,
            ce_threshold_l4s: self.ce_threshold_l4s,
        }
    }
}

impl OfDiscipline for FqCoDelSetting {
    /// Default limit (RFC 8290, section 5.2.3). [packets]
    const LIMIT: u32 = 10_240;
    const ORDERS: bool = true;

    moving!(target, interval);

    fn marks(&self) -> bool {
        self.ecn || self.ce_threshold.is_some()
    }

    fn check(queue: &Section, own: &Section, problems: &mut Problems) {
        // the table of FQ-CoDel contains all keys of the table of CoDel
        CoDelSetting::check(queue, own, problems);
    }
}

/// All flow queues upstream of one egress.
#[derive(Clone, Debug)]
pub struct FqCoDel {
    pub(super) setting: FqCoDelSetting,
    queues: Vec<FlowQueue>,
    drr: DeficitRoundRobin,
    key: u64,
    pub(super) packets: usize,
    /// Length of the longest packet so far. [bytes]
    largest: u64,
    pub(super) marked: u64,
}

impl FqCoDel {
    /// Returns an FQ-CoDel discipline with empty queues.
    pub fn new(setting: FqCoDelSetting, mut stream: Stream) -> FqCoDel {
        FqCoDel {
            queues: vec![FlowQueue::default(); setting.queues as usize],
            drr: DeficitRoundRobin::default(),
            key: hash_key(&mut stream),
            packets: 0,
            largest: 0,
            marked: 0,
            setting,
        }
    }

    /// Appends `packet` to its queue. If the total exceeds `room` packets, one packet is dropped
    /// from the longest queue.
    pub(super) fn enqueue(&mut self, packet: Packet, room: usize, dropped: &mut Vec<Packet>) {
        let index = hashed(packet.flow, self.key, self.setting.queues);
        self.largest = self.largest.max(u64::from(packet.bytes));
        let queue = &mut self.queues[index as usize];
        queue.codel.push(packet);
        self.packets += 1;
        self.drr.join(index, queue, self.setting.quantum_bytes);
        if self.packets > room {
            let busy = self.drr.members();
            let longest = busy.max_by_key(|&index| self.queues[index as usize].codel.bytes);
            let victim = longest.and_then(|index| self.queues[index as usize].codel.pop());
            dropped.extend(victim);
            self.packets -= 1;
        }
    }

    /// Returns the next packet to send.
    pub(super) fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Packet> {
        let (setting, largest) = (self.setting.codel(), self.largest);
        let (packets, marked) = (&mut self.packets, &mut self.marked);
        let quantum_bytes = self.setting.quantum_bytes;
        self.drr.next(&mut self.queues, quantum_bytes, |codel| {
            let before = codel.packets.len();
            let passed = Passed { dropped, marked };
            let packet = codel.dequeue(now, &setting, largest, passed);
            *packets -= before - codel.packets.len();
            packet
        })
    }

    /// Returns the packets of all queues.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flat_map(|queue| &queue.codel.packets)
    }
}

#[cfg(test)]
mod tests;
