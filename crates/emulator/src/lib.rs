//! Runs the engine's network between file descriptors, in the time of the operating system. Packets
//! are read from descriptors, wait in queues and contend for the medium as in a simulation, and are
//! written to descriptors.
//!
//! [`Network`] has no I/O; [`run`] connects it with the descriptors. The caller creates the
//! descriptors and their network namespaces.

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
mod tcp_header;

pub use clock::Timing;
pub use network::{Delivery, Network};
pub use places::{FIRST_PORT, SERVER, SINKS, SOURCES, STATIONS};
pub use run::{Descriptors, EmulatorError, run};
