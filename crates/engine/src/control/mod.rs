//! Controllers: each step computes a setting from an observation, without a clock or I/O. The same code runs in the
//! simulator, in the emulator and on a Linux gateway.

mod base_rtt;
pub mod buffer_sharing;
pub mod capacity;
pub mod median;
pub mod multi_connection;
mod step;
pub mod utility;
pub mod wce;

pub use self::capacity::Capacity;
pub use self::median::{Probe, RoundTrip, SampleSource};
pub use self::step::Step;
pub(crate) use self::wce::BottleneckWce;
pub use self::wce::{
    Cycle, Observation, Thresholds, Wce, WceKeys, WceRule, WceSettings, WceSettingsError,
};
