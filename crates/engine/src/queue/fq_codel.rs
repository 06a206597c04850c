//! FQ-CoDel: flows are hashed to queues, each controlled by CoDel, and served by deficit round
//! robin; a queue that has just become busy goes first (RFC 8290, sections 3 and 4).
//!
//! Differs from RFC 8290 in: the hash is of the flow's index, with a key drawn for each replication;
//! both directions of a flow never meet in one queue here. Differs from Linux in: a full queue drops
//! one packet from the head of the longest queue (RFC 8290, section 4.1), not a batch.

use std::collections::VecDeque;

use super::codel::{CoDel, CoDelSetting, Passed};
use super::scheduler::Kind;
use super::settings::{OfDiscipline, moving};
use super::{Managed, Outlet, Scheduler};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::notation::decode::Section;
use crate::notation::problem::Problems;
use crate::notation::setting::{S, US, count, duration, flag, size};
use crate::packet::Packet;
use crate::table;

table! {
    /// FQ-CoDel: a CoDel queue for each flow, served in turn.
    pub struct FqCoDelSetting: Copy in "fq_codel" {
        /// Time in the queue that is acceptable.
        target: Span = duration(0..=10 * S).default("5 ms");
        /// For how long packets must be above target before one is dropped; of the order of a round trip.
        interval: Span = duration(US..=100 * S).default("100 ms");
        /// What a queue may send in its turn.
        quantum_bytes as "quantum": u32 = size(1..=100_000).default("1514 B");
        /// Number of queues that flows are hashed to.
        queues: u32 = count(1..=65_536).default(1_024);
        /// Marks packets that are ECN-capable instead of dropping them.
        ecn: bool = flag().default(true);
        /// Time in the queue from which every packet that is ECN-capable is marked, beside what CoDel does.
        ce_threshold: Option<Span> = duration(0..=10 * S).or("off").default("off");
        /// ce_threshold marks ECT(1) alone, which is L4S; otherwise all that is ECN-capable.
        ce_threshold_l4s: bool = flag().default(false);
    }
}

impl FqCoDelSetting {
    /// CoDel in each queue.
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
    /// RFC 8290, section 5.2.3.
    const LIMIT: u32 = 10_240;
    const ORDERS: bool = true;

    moving!(target, interval);

    fn marks(&self) -> bool {
        self.ecn || self.ce_threshold.is_some()
    }

    fn managed(self, limit: u32, _: Outlet, stream: Stream) -> Managed {
        let queues = Box::new(FqCoDel::new(self, stream));
        Managed::OnDeparture(Scheduler::new(Kind::FqCoDel(queues), limit))
    }

    fn check(queue: &Section, own: &Section, problems: &mut Problems) {
        // the keys have the same names
        CoDelSetting::check(queue, own, problems);
    }
}

/// All queues of one outlet.
#[derive(Clone, Debug)]
pub struct FqCoDel {
    setting: FqCoDelSetting,
    queues: Vec<FlowQueue>,
    /// Queues that became busy and have not used up their first quantum, by index.
    new: VecDeque<u32>,
    /// The other busy queues.
    old: VecDeque<u32>,
    key: u64,
    packets: usize,
    /// Longest packet seen. [bytes]
    largest: u64,
    pub(super) marked: u64,
}

#[derive(Clone, Debug, Default)]
struct FlowQueue {
    codel: CoDel,
    /// What it may still send before the others' turn. [bytes]
    deficit: i64,
    /// Whether it stands in one of the two lists.
    listed: bool,
}

impl FqCoDel {
    /// Empty queues.
    pub fn new(setting: FqCoDelSetting, mut stream: Stream) -> FqCoDel {
        let half = |stream: &mut Stream| u64::from(stream.up_to(u32::MAX));
        FqCoDel {
            queues: vec![FlowQueue::default(); setting.queues as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            key: half(&mut stream) << 32 | half(&mut stream),
            packets: 0,
            largest: 0,
            marked: 0,
            setting,
        }
    }

    /// What may move of the setting is this from now on.
    pub(super) fn change(&mut self, setting: FqCoDelSetting) {
        self.setting = self.setting.moved_to(setting);
    }

    /// The queue that `flow` is hashed to.
    fn queue_of(&self, flow: u32) -> u32 {
        // multiplication and shifts after Stafford's variant 13: each bit of the key counts
        let mixed = (u64::from(flow) ^ self.key).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let mixed = mixed ^ (mixed >> 31);
        ((u128::from(mixed) * self.queues.len() as u128) >> 64) as u32
    }

    /// Appends `packet` to its queue; with more than `room` packets inside, one is dropped.
    pub(super) fn enqueue(&mut self, packet: Packet, room: usize, dropped: &mut Vec<Packet>) {
        let index = self.queue_of(packet.flow);
        self.largest = self.largest.max(u64::from(packet.bytes));
        let queue = &mut self.queues[index as usize];
        queue.codel.push(packet);
        self.packets += 1;
        if !queue.listed {
            queue.listed = true;
            queue.deficit = i64::from(self.setting.quantum_bytes);
            self.new.push_back(index);
        }
        if self.packets > room {
            let longest = self.new.iter().chain(&self.old).copied();
            let longest = longest.max_by_key(|&index| self.queues[index as usize].codel.bytes());
            let victim = longest.and_then(|index| self.queues[index as usize].codel.pop());
            dropped.extend(victim);
            self.packets -= 1;
        }
    }

    /// The next packet to send.
    pub(super) fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Packet> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += i64::from(self.setting.quantum_bytes);
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let before = queue.codel.len();
            let passed = Passed {
                dropped,
                marked: &mut self.marked,
            };
            let packet = queue
                .codel
                .dequeue(now, &self.setting.codel(), self.largest, passed);
            self.packets -= before - queue.codel.len();
            if let Some(packet) = packet {
                queue.deficit -= i64::from(packet.bytes);
                return Some(packet);
            }
            list.pop_front();
            if is_new {
                // once around with the old queues, so that going idle gives no priority over them
                self.old.push_back(index);
            } else {
                queue.listed = false;
            }
        }
    }

    /// Packets inside.
    pub(super) fn len(&self) -> usize {
        self.packets
    }

    /// Packets inside, queue by queue.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flat_map(|queue| queue.codel.packets())
    }
}

#[cfg(test)]
mod tests;
