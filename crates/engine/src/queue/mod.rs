//! Queue disciplines, one per file. The limit of a queue includes the packet in service.
//!
//! An [`Admission`] decides only at the arrival of a packet, so that a link with a fixed rate can
//! compute departures in advance. A [`Scheduler`] decides or reorders at the departure of a packet,
//! and owns the waiting packets. A [`HeadQueue`] contains an [`Admission`] or a [`Scheduler`]. The
//! first packet of a head queue stays in the queue until this packet has been sent. From
//! [`TxQueues`], several packets are sent in one transmission. [`Mac80211`] is upstream of the
//! [`TxQueues`] of an access point.

mod admission;
mod admitted;
mod buffer_sharing;
mod cake;
mod codel;
mod counters;
mod discipline;
mod drr;
mod dualpi2;
mod fair;
mod fifo;
mod fq_codel;
mod greedy;
mod head;
mod mac80211;
mod managed;
mod pi;
mod pie;
mod plugin;
mod price;
mod proportional;
mod red;
mod ring;
mod scheduled;
mod scheduler;
mod settings;
mod truesize;
mod tx_queues;
mod waits;

pub use admission::Admission;
pub use buffer_sharing::{
    Alike, Deviation, ShareOf, SharedBuffer, SharingClass, SharingClassTable, SharingSetting,
    sharing_targets,
};
pub use cake::{Cake, CakeSetting, Diffserv, Dscp, TcpHeader, TinCounters};
pub(crate) use cake::{FlowClass, OWN};
pub use codel::CoDelSetting;
pub use counters::{Passage, QueueCounters};
pub use discipline::{Backlog, Egress, Held, Verdict};
pub use dualpi2::{DualPi2, DualPi2Setting, DualScheduler};
pub use fair::{Fair, Party};
pub use fifo::Fifo;
pub use fq_codel::FqCoDelSetting;
pub use greedy::Greedy;
pub use head::HeadQueue;
pub use mac80211::{Estimate, Lost, Mac80211, Mac80211Setting};
pub use managed::Managed;
pub use pi::{Pi, PiSetting};
pub use pie::{Pie, PieSetting};
pub(crate) use plugin::DisciplinePlugin;
pub use plugin::{PluginDiscipline, Policy};
pub use price::Price;
pub use proportional::{Proportional, ProportionalSetting};
pub use red::{Red, RedForm, RedSetting, RedWeight};
pub use scheduled::Scheduled;
pub use scheduler::Scheduler;
#[cfg(test)]
pub(crate) use settings::DISCIPLINES;
pub(crate) use settings::queue;
pub use settings::{ApQueue, Discipline, QueueSetting, ap_queue};
pub use tx_queues::TxQueues;
pub use waits::{Wait, Waits};
