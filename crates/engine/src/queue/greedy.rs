//! Sources that keep a queue full, in contrast to sources that send at certain times.

use super::HeadQueue;
use crate::kernel::time::Time;

/// Sources that never run out of packets: they refill their queue whenever a packet has left it.
pub trait Greedy {
    /// Fills `queue`, whose number is `number` and which has had room since `now`.
    fn refill(&mut self, now: Time, number: u32, queue: &mut HeadQueue);
}

/// No greedy sources.
impl Greedy for () {
    fn refill(&mut self, _: Time, _: u32, _: &mut HeadQueue) {}
}
