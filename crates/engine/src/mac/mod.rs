//! The shared medium: timing of the physical layer and medium access, with one access method per
//! file.
//!
//! A medium is one object per contention domain without I/O. It is given backlog and the time,
//! returns its next deadline, and reports the exchange that ends then.

pub mod aggregation;
pub mod airtime;
mod backoff;
pub mod block_ack;
pub mod bss;
mod checks;
mod contender;
mod countdown;
pub mod dcf;
mod exchange;
pub mod graph;
pub mod link_rates;
mod power_save;
pub mod ppdu;
mod ppdu_checks;
mod ppdu_settings;
mod presets;
pub mod rate_control;
pub mod rates;
mod settings;
mod single_frame;
pub mod tx_timing;

pub use aggregation::{Aggregation, Aggregations};
pub use bss::{Bss, NodeId};
pub use graph::Spread;
pub use power_save::PowerSave;
pub(crate) use power_save::SleepKeys;
pub(crate) use ppdu_checks::Own;
pub(crate) use ppdu_settings::StreamKeys;
pub use ppdu_settings::{
    Band, EifsRule, LONGEST_PPDU, NOT_MODELLED, Ppdus, Width, mcs_frame_error,
};
pub(crate) use presets::{DATA_RATE, Preset};
pub use rate_control::RateControl;
pub use rates::{Rates, data_rates};
pub use settings::{
    Access, Category, Cell, ColliderWait, CountdownRule, Node, Phy, PhyKind, QueueOrder, Station,
};
pub(crate) use settings::{ApTable, Contention, NodeAccess, Usual};
