//! Deficit round robin (DRR): queues are served in rounds. A queue that has just become busy is
//! served first (RFC 8290, sections 4.1 and 4.2).

use std::collections::VecDeque;

use super::codel::CoDel;
use crate::kernel::streams::Stream;
use crate::packet::Packet;

/// A flow queue of the deficit round robin.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowQueue {
    pub(super) codel: CoDel,
    /// Number of bytes that the queue may still send in this round. [bytes]
    deficit: i64,
    /// Whether the queue is in the list `new` or in the list `old`.
    pub(super) listed: bool,
}

/// The busy queues, in the order in which they are served.
#[derive(Clone, Debug, Default)]
pub(super) struct DeficitRoundRobin {
    /// Indices of queues that became busy and have not used up their first quantum.
    new: VecDeque<u32>,
    /// Indices of busy queues that have used up their first quantum.
    old: VecDeque<u32>,
}

impl DeficitRoundRobin {
    /// Adds `queue`, whose index is `index`, after a packet has arrived in it.
    pub(super) fn join(&mut self, index: u32, queue: &mut FlowQueue, quantum_bytes: u32) {
        if !queue.listed {
            queue.listed = true;
            queue.deficit = i64::from(quantum_bytes);
            self.new.push_back(index);
        }
    }

    /// Returns the next packet; `None` if all queues are empty. `take` removes a packet from the
    /// queue that is served.
    pub(super) fn next(
        &mut self,
        queues: &mut [FlowQueue],
        quantum_bytes: u32,
        mut take: impl FnMut(&mut CoDel) -> Option<Packet>,
    ) -> Option<Packet> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let queue = &mut queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += i64::from(quantum_bytes);
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            if let Some(packet) = take(&mut queue.codel) {
                queue.deficit -= i64::from(packet.bytes);
                return Some(packet);
            }
            list.pop_front();
            if is_new {
                // the queue stays in the old list for one round, so that it gets no priority by
                // becoming empty
                self.old.push_back(index);
            } else {
                queue.listed = false;
            }
        }
    }

    /// Returns the indices of the busy queues.
    pub(super) fn members(&self) -> impl Iterator<Item = u32> + '_ {
        self.new.iter().chain(&self.old).copied()
    }
}

/// Returns a random key for the hash function [`hashed`].
pub(super) fn hash_key(stream: &mut Stream) -> u64 {
    let half = |stream: &mut Stream| u64::from(stream.up_to(u32::MAX));
    half(stream) << 32 | half(stream)
}

/// Returns the index of the queue to which `flow` is hashed.
pub(super) fn hashed(flow: u32, key: u64, queues: u32) -> u32 {
    ((u128::from(mixed(u64::from(flow), key)) * u128::from(queues)) >> 64) as u32
}

/// Returns a number that depends on each bit of `value` and of `key`, by the multiplications and
/// shifts of Stafford's variant 13.
#[inline]
pub(super) fn mixed(value: u64, key: u64) -> u64 {
    let mixed = (value ^ key).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
