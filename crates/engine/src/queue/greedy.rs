//! Sources that keep a queue full, rather than sending when something arrives.

use super::HeadQueue;
use crate::kernel::time::Time;

/// Sources that never run out of packets: they fill their queue again whenever one has left it.
pub trait Greedy {
    /// Fills `queue`, which has this `number` and has had room since `now`.
    fn refill(&mut self, now: Time, number: u32, queue: &mut HeadQueue);
}

/// No greedy sources.
impl Greedy for () {
    fn refill(&mut self, _: Time, _: u32, _: &mut HeadQueue) {}
}
