//! Runs the engine's world in the time of the system. Packets come from file descriptors and go to
//! file descriptors. Between them, packets wait in queues and contend for the medium as in a
//! simulation.
//!
//! [`Network`] is the part without I/O, and [`run`] drives it. The caller creates the descriptors
//! and their network namespaces.

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
