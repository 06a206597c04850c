//! Queue disciplines, one a file. A queue limit counts the packets waiting plus the one in service.

mod counters;
mod drop_tail;

pub use counters::QueueCounters;
pub use drop_tail::DropTail;
