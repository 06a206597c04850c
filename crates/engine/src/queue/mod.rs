//! Queue disciplines, one a file. A queue limit counts the packets waiting plus the one in service.
//!
//! An [`Admission`] decides when a packet arrives and never again, so that a link of fixed rate can
//! compute departures ahead.

mod admission;
mod counters;
mod drop_tail;
mod red;

pub use admission::{Admission, Backlog, Outlet, Verdict};
pub use counters::QueueCounters;
pub use drop_tail::DropTail;
pub use red::Red;
