//! The shared medium: timing of the physical layer and medium access, one method a file.
//!
//! A medium is one object per contention domain without I/O: it is told of backlog and time,
//! says its next deadline, and reports what ended then.

pub mod airtime;
mod arf;
mod backoff;
mod checks;
mod contender;
mod countdown;
pub mod dcf;
mod exchange;
pub mod graph;
mod path;
mod power_save;
pub mod ppdu;
mod presets;
pub mod rates;
mod settings;

pub use graph::Spread;
pub use power_save::PowerSave;
pub(crate) use power_save::SleepKeys;
pub(crate) use presets::{DATA_RATE, Preset};
pub use rates::{Rates, data_rates};
pub use settings::{
    Access, Category, Cell, ColliderWait, CountdownRule, Node, Phy, PhyKind, QueueOrder,
    RateControl, Station,
};
pub(crate) use settings::{ApTable, Contention, NodeAccess};
