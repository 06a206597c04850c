//! The shared medium: timing of the physical layer, and medium access. Each access method is in its
//! own file.
//!
//! A medium is an object without I/O; there is one object per contention domain. Its inputs are the
//! backlog of the contenders and the time. It returns the time of its next event (its deadline),
//! and reports the exchange that ends at the deadline.

mod access;
pub mod aggregation;
pub mod airtime;
mod backoff;
pub mod block_ack;
pub mod bss;
mod category;
mod checks;
mod contender;
mod countdown;
pub mod dcf;
mod durations;
mod exchange;
mod frame_exchange;
pub mod graph;
pub mod link_rates;
mod node;
mod phy;
mod phy_kind;
mod power_save;
pub mod ppdu;
mod ppdu_checks;
mod ppdu_keys;
mod ppdu_settings;
mod presets;
pub mod rate_control;
pub mod rates;
mod settings;
mod single_frame;
mod station;
pub mod tx_timing;

pub use access::Access;
pub(crate) use access::{AccessDefaults, Contention};
pub use aggregation::{Aggregation, Aggregations};
pub use bss::{Bss, NodeId};
pub use category::Category;
pub use graph::Spread;
pub use node::Node;
pub(crate) use node::NodeAccess;
pub use phy::Phy;
pub use phy_kind::PhyKind;
pub use power_save::PowerSave;
pub(crate) use power_save::SleepKeys;
pub(crate) use ppdu_checks::Own;
pub(crate) use ppdu_keys::StreamKeys;
pub use ppdu_keys::{Band, EifsRule, LONGEST_PPDU, NOT_MODELLED, Width};
pub use ppdu_settings::{Ppdus, mcs_frame_error};
pub use presets::CountdownRule;
pub(crate) use presets::{DATA_RATE, Preset};
pub use rate_control::RateControl;
pub use rates::{Rates, data_rates};
pub(crate) use settings::ApTable;
pub use settings::{Cell, ColliderWait, QueueOrder};
pub use station::Station;
