//! Sources that keep a queue full, in contrast to sources with their own sending times.

use super::HeadQueue;
use crate::kernel::time::Time;

/// The interface of greedy sources: after each departure, the sources fill their queue again.
pub trait Greedy {
    /// Fills queue number `number` with packets. The queue has had room since `now`.
    fn refill(&mut self, now: Time, number: u32, queue: &mut HeadQueue);
}

/// No greedy sources: the queue is not filled.
impl Greedy for () {
    fn refill(&mut self, _: Time, _: u32, _: &mut HeadQueue) {}
}
