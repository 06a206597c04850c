//! The queues of all flows: a hash table of flow queues, shared by all tins
//! (`include/net/fq_impl.h`). A tin is the queue of one station and access category.

use std::cmp::Reverse;
use std::ops::Range;

use super::Mac80211Setting;
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::packet::Packet;
use crate::queue::CoDelSetting;
use crate::queue::codel::Passed;
use crate::queue::drr::{DeficitRoundRobin, FlowQueue, hash_key, hashed};
use crate::queue::truesize::truesize;

/// The flow queues, and the tins to which they belong.
#[derive(Clone, Debug)]
pub(super) struct Fq {
    /// Flow queues of the hash table, followed by the overflow queue of each tin.
    queues: Vec<FlowQueue>,
    /// Tin (queue of a station and access category) of each flow queue that is in a round robin.
    tin_of: Vec<u32>,
    tins: Vec<DeficitRoundRobin>,
    /// Number of waiting packets in each tin (queue of a station and access category).
    waiting: Vec<u32>,
    /// Number of flow queues in the hash table.
    flows: u32,
    quantum_bytes: u32,
    pub(super) limit_packets: u32,
    memory_limit: u64,
    packets: u32,
    /// Memory that the packets use. [bytes]
    memory: u64,
    key: u64,
}

/// Maximum number of packets that are dropped when a limit is exceeded.
const BATCH: usize = 32;

impl Fq {
    /// Returns empty queues for this number of tins (queues of a station and access category). The
    /// limits are in packets and in bytes of memory.
    pub(super) fn new(
        setting: &Mac80211Setting,
        (limit_packets, memory_bytes): (u32, u32),
        tins: u32,
        mut stream: Stream,
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
            key: hash_key(&mut stream),
        }
    }

    /// Returns the index of the queue for a flow of `tin`. If another tin uses the queue that the
    /// hash selects, the overflow queue of `tin` is used.
    pub(super) fn queue_of(&self, tin: u32, flow: u32) -> u32 {
        let index = hashed(flow, self.key, self.flows);
        let is_taken = self.queues[index as usize].listed;
        match is_taken && self.tin_of[index as usize] != tin {
            true => self.flows + tin,
            false => index,
        }
    }

    /// Appends `packet` to a flow queue of `tin`. While a limit is exceeded, drops packets, and
    /// calls `lost` with each dropped packet and its tin.
    pub(super) fn enqueue(&mut self, tin: u32, packet: Packet, mut lost: impl FnMut(u32, Packet)) {
        let index = self.queue_of(tin, packet.flow);
        let queue = &mut self.queues[index as usize];
        queue.codel.push(packet);
        self.tin_of[index as usize] = tin;
        self.tins[tin as usize].join(index, queue, self.quantum_bytes);
        self.waiting[tin as usize] += 1;
        self.packets += 1;
        self.memory += u64::from(truesize(packet.bytes));
        while self.packets > self.limit_packets || self.memory > self.memory_limit {
            let Some(index) = self.fattest() else {
                break;
            };
            self.drop_from(index, &mut lost);
        }
    }

    /// Returns the queue with the most bytes; of several such queues, the queue with the smallest
    /// index.
    fn fattest(&self) -> Option<u32> {
        let members = self.tins.iter().flat_map(DeficitRoundRobin::members);
        let bytes = |index: u32| self.queues[index as usize].codel.bytes;
        let fattest = members.max_by_key(|&index| (bytes(index), Reverse(index)));
        fattest.filter(|&index| bytes(index) > 0)
    }

    /// Drops the first half of the packets of a queue, but at most `BATCH` packets.
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
            self.memory -= u64::from(truesize(packet.bytes));
            lost(tin, packet);
        }
    }

    /// Returns the next packet to send from `tin`, the queue of a station and access category.
    /// Appends packets that CoDel drops to `dropped`, and adds the number of marks to `marked`.
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
        // Linux does not set the `mtu` of CoDel, so that `mtu` is 0, and CoDel always sends the
        // last packet of a flow, whatever its length
        let packet = drr.next(&mut self.queues, self.quantum_bytes, |codel| {
            codel.dequeue(now, setting, 0, Passed { dropped, marked })
        });
        for packet in dropped[before..].iter().chain(&packet) {
            self.packets -= 1;
            self.waiting[tin as usize] -= 1;
            self.memory -= u64::from(truesize(packet.bytes));
        }
        packet
    }

    /// Returns whether packets wait in `tin`, the queue of a station and access category.
    pub(super) fn waits(&self, tin: u32) -> bool {
        self.waiting[tin as usize] > 0
    }

    /// Returns the waiting packets of these tins (queues of a station and access category).
    pub(super) fn packets(&self, tins: Range<u32>) -> impl Iterator<Item = &Packet> {
        let with_tin = self.queues.iter().zip(&self.tin_of);
        let own = with_tin.filter(move |(_, tin)| tins.contains(tin));
        own.flat_map(|(queue, _)| &queue.codel.packets)
    }
}
