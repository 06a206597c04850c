//! Queue disciplines, one a file. A queue limit counts the packets waiting plus the one in service.
//!
//! An [`Admission`] decides when a packet arrives and never again, so that a link of fixed rate can
//! compute departures ahead. A [`Scheduler`] decides or reorders when a packet leaves, and owns the
//! packets that wait. A [`HeadQueue`] has either of them, for a server that tries to send its head
//! until it has been sent; [`TxQueues`] are served several packets at a time, and [`Mac80211`] is in front of those of a
//! radio.

mod admission;
mod buffer_sharing;
mod codel;
mod counters;
mod dualpi2;
mod fair;
mod fifo;
mod fq_codel;
mod greedy;
mod head;
mod mac80211;
mod outside;
mod pi;
mod pie;
mod price;
mod proportional;
mod red;
mod scheduled;
mod scheduler;
mod settings;
mod turns;
mod tx_queues;
mod waits;

use admission::Lot;
pub use admission::{Admission, Backlog, Held, Managed, Outlet, Verdict};
pub use buffer_sharing::{
    Alike, Deviation, ShareOf, SharedBuffer, SharingClass, SharingClassTable, SharingSetting,
    sharing_targets,
};
pub use codel::CoDelSetting;
pub use counters::{Passage, QueueCounters};
pub use dualpi2::{DualPi2, DualPi2Setting, DualScheduler};
pub use fair::{Fair, Party};
pub use fifo::Fifo;
pub use fq_codel::FqCoDelSetting;
pub use greedy::Greedy;
pub use head::{HeadQueue, OtherQueue};
pub use mac80211::{Estimate, Lost, Mac80211, Mac80211Setting};
pub(crate) use outside::QueuePart;
pub use outside::{OutsideDiscipline, Policy};
pub use pi::{Pi, PiSetting};
pub use pie::{Pie, PieSetting};
pub use price::Price;
pub use proportional::{Proportional, ProportionalSetting};
pub use red::{Red, RedForm, RedSetting, RedWeight};
pub use scheduled::Scheduled;
pub use scheduler::Scheduler;
#[cfg(test)]
pub(crate) use settings::DISCIPLINES;
pub use settings::ap_queue;
pub(crate) use settings::queue;
pub use settings::{ApQueue, Discipline, QueueSetting};
pub use tx_queues::TxQueues;
pub use waits::{Wait, Waits};
