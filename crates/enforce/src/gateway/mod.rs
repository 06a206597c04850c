//! The table `[gateway]` with the settings of `lasthop gateway`.

mod assemble;
mod checked;
mod checks;
mod effect;
mod groups;
mod settings;

#[cfg(test)]
mod tests;

pub use checked::{AccessPoint, Discovery, Endpoint, Gateway, GatewayStation, Group, Snmp};
pub use settings::{Fairness, LeafQueue, ShapedUdp};

pub(crate) use assemble::assemble;
pub(crate) use checks::check;
pub(crate) use settings::GatewayTable;
