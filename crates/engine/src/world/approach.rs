//! The path of a greedy source's datagrams to the queue that the source fills.

use crate::kernel::time::Span;

/// The queue that a greedy source fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// A queue of the radio.
    Air(u32),
    /// The queue in front of a link.
    Link(u32),
}

/// The path of a greedy source's datagrams up to the queue that it fills.
#[derive(Clone, Debug)]
pub(super) struct Approach {
    pub(super) filled: Filled,
    /// Propagation time of the links before the queue.
    pub(super) delay: Span,
    /// Links before the queue that lose packets, in the order of the path.
    pub(super) losing: Vec<u32>,
}
