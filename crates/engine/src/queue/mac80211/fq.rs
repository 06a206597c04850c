//! Packets by tin and flow: a hash table of flow queues that all tins share (`include/net/fq_impl.h`).

use std::cmp::Reverse;
use std::ops::Range;

use super::Mac80211Setting;
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::packet::Packet;
use crate::queue::CoDelSetting;
use crate::queue::codel::Passed;
use crate::queue::drr::{DeficitRoundRobin, FlowQueue, hash_key, hashed};

/// Flow queues, and the tins whose flows they have.
#[derive(Clone, Debug)]
pub(super) struct Fq {
    /// Queues that flows are hashed to, followed by the overflow queue of each tin.
    queues: Vec<FlowQueue>,
    /// The tin of each queue that is listed.
    tin_of: Vec<u32>,
    tins: Vec<DeficitRoundRobin>,
    /// Packets in each tin.
    waiting: Vec<u32>,
    /// Number of queues that flows are hashed to.
    flows: u32,
    quantum_bytes: u32,
    pub(super) limit_packets: u32,
    memory_limit: u64,
    packets: u32,
    /// Memory that they use. [bytes]
    memory: u64,
    key: u64,
}

/// Largest number of packets that are dropped together.
const BATCH: usize = 32;

/// Returns the memory that a packet of this length uses, the `truesize` of an skb: its struct, and a buffer
/// whose length is a power of two, with room for headers before the packet and the shared info after it. [bytes]
fn truesize(bytes: u16) -> u64 {
    const STRUCT: u64 = 256;
    const AHEAD: u64 = 64 + 14;
    const BEHIND: u64 = 320;
    STRUCT + (AHEAD + u64::from(bytes) + BEHIND).next_power_of_two()
}

impl Fq {
    /// Returns empty queues for this number of tins, with limits of packets and memory.
    pub(super) fn new(
        setting: &Mac80211Setting,
        (limit_packets, memory_bytes): (u32, u32),
        tins: u32,
        stream: Stream,
    ) -> Fq {
        let queues = (setting.flows + tins) as usize;
        let overflow = 0..tins;
        Fq {
            queues: vec![FlowQueue::default(); queues],
            tin_of: (0..setting.flows).map(|_| 0).chain(overflow).collect(),
            tins: vec![DeficitRoundRobin::default(); tins as usize],
            waiting: vec![0; tins as usize],
            flows: setting.flows,
            quantum_bytes: setting.quantum_bytes,
            limit_packets,
            memory_limit: memory_bytes.into(),
            packets: 0,
            memory: 0,
            key: hash_key(stream),
        }
    }

    /// Returns the queue of a flow of `tin`: the queue of its hash, unless another tin uses this queue.
    pub(super) fn queue_of(&self, tin: u32, flow: u32) -> u32 {
        let index = hashed(flow, self.key, self.flows);
        let is_taken = self.queues[index as usize].listed;
        match is_taken && self.tin_of[index as usize] != tin {
            true => self.flows + tin,
            false => index,
        }
    }

    /// Appends `packet` to a flow of `tin`. `lost` gets the packets that are dropped in exchange, with their tins.
    pub(super) fn enqueue(&mut self, tin: u32, packet: Packet, mut lost: impl FnMut(u32, Packet)) {
        let index = self.queue_of(tin, packet.flow);
        let queue = &mut self.queues[index as usize];
        queue.codel.push(packet);
        self.tin_of[index as usize] = tin;
        self.tins[tin as usize].join(index, queue, self.quantum_bytes);
        self.waiting[tin as usize] += 1;
        self.packets += 1;
        self.memory += truesize(packet.bytes);
        while self.packets > self.limit_packets || self.memory > self.memory_limit {
            let Some(index) = self.fattest() else {
                break;
            };
            self.drop_from(index, &mut lost);
        }
    }

    /// Returns the queue with most bytes; among equal queues the first.
    fn fattest(&self) -> Option<u32> {
        let members = self.tins.iter().flat_map(DeficitRoundRobin::members);
        let bytes = |index: u32| self.queues[index as usize].codel.bytes;
        let fattest = members.max_by_key(|&index| (bytes(index), Reverse(index)));
        fattest.filter(|&index| bytes(index) > 0)
    }

    /// Drops the first half of a queue, or the first packets of a long one.
    fn drop_from(&mut self, index: u32, lost: &mut impl FnMut(u32, Packet)) {
        let queue = &mut self.queues[index as usize].codel;
        let count = (queue.packets.len() / 2).clamp(1, BATCH);
        let tin = self.tin_of[index as usize];
        for _ in 0..count {
            let Some(packet) = queue.pop() else {
                break;
            };
            self.packets -= 1;
            self.waiting[tin as usize] -= 1;
            self.memory -= truesize(packet.bytes);
            lost(tin, packet);
        }
    }

    /// Returns the next packet of `tin`. Packets that CoDel drops before it are appended to `dropped`, and the number
    /// of marks is added to `marked`.
    pub(super) fn dequeue(
        &mut self,
        now: Time,
        tin: u32,
        setting: &CoDelSetting,
        marked: &mut u64,
        dropped: &mut Vec<Packet>,
    ) -> Option<Packet> {
        let before = dropped.len();
        let drr = &mut self.tins[tin as usize];
        // its `mtu` is left at 0: only a flow's last packet is spared, whatever its length
        let packet = drr.next(&mut self.queues, self.quantum_bytes, |codel| {
            codel.dequeue(now, setting, 0, Passed { dropped, marked })
        });
        for packet in dropped[before..].iter().chain(&packet) {
            self.packets -= 1;
            self.waiting[tin as usize] -= 1;
            self.memory -= truesize(packet.bytes);
        }
        packet
    }

    /// Returns whether packets of `tin` wait.
    pub(super) fn waits(&self, tin: u32) -> bool {
        self.waiting[tin as usize] > 0
    }

    /// Returns the waiting packets of these tins.
    pub(super) fn packets(&self, tins: Range<u32>) -> impl Iterator<Item = &Packet> {
        let with_tin = self.queues.iter().zip(&self.tin_of);
        let own = with_tin.filter(move |(_, tin)| tins.contains(tin));
        own.flat_map(|(queue, _)| &queue.codel.packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_counted_as_linux_counts_it() {
        assert_eq!([1_500, 52, 40].map(truesize), [2_304, 768, 768]);
    }
}
