//! The engine's world by the clock of the system: packets come from descriptors and go to descriptors, and in
//! between they wait and contend as in a simulation.
//!
//! [`Network`] is the part without I/O; [`run`] drives it by the clock. Who made the descriptors, and in
//! which network namespaces, is not known here.

mod capture;
mod clock;
mod ip;
mod lateness;
mod merging;
mod network;
mod offload;
mod pace;
#[cfg(test)]
mod packets;
mod places;
mod programs;
mod report;
mod run;

pub use clock::Timing;
pub use network::{Delivery, Network};
pub use places::{FIRST_PORT, SERVER, SINKS, SOURCES, STATIONS};
pub use run::{Descriptors, EmulatorError, run};
