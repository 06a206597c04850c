//! Queue disciplines, one a file. A queue limit counts the packets waiting plus the one in service.
//!
//! An [`Admission`] decides when a packet arrives and never again, so that a link of fixed rate can
//! compute departures ahead. A [`Scheduler`] decides or reorders when a packet leaves, and owns the
//! packets that wait.

mod admission;
mod codel;
mod counters;
mod drop_tail;
mod fq_codel;
mod pie;
mod proportional;
mod red;
mod scheduler;

pub use admission::{Admission, Backlog, Outlet, Verdict};
pub use counters::QueueCounters;
pub use drop_tail::DropTail;
pub use pie::Pie;
pub use proportional::Proportional;
pub use red::Red;
pub use scheduler::Scheduler;
