//! The path from a greedy source to the queue that the source keeps full.

use crate::kernel::time::Span;

/// The queue that a greedy source keeps full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// A queue in front of the radio channel, given by its number.
    Air(u32),
    /// The queue of a link, given by the number of the link.
    Link(u32),
}

/// The path of a greedy source's datagrams to the queue that the source keeps full.
#[derive(Clone, Debug)]
pub(super) struct Approach {
    pub(super) filled: Filled,
    /// Total propagation time of the links upstream of the queue.
    pub(super) delay: Span,
    /// Links upstream of the queue that lose packets, in the order of the path.
    pub(super) losing: Vec<u32>,
}
