//! The engine's cell and queues on the wall clock: packets come from descriptors and go to
//! descriptors, and in between they wait and contend as in a simulation.
//!
//! [`Hotspot`] is the part without I/O; [`run`] drives it by the clock. Who made the descriptors, and in
//! which network namespaces, is not known here.

mod hotspot;
mod ip;
mod report;
mod run;

pub use hotspot::{Delivery, Hotspot};
pub use ip::{BOTTLENECK, FIRST_PORT, SERVER, STATIONS};
pub use run::{Descriptors, EmulatorError, run};
