//! Controllers: pure steps from an observation to a setting, without clock, draw or I/O. The same
//! code runs in the simulator, in the emulator and on a Linux gateway.

pub mod agreement;
mod base_rtt;
pub mod buffer_sharing;
pub mod capacity;
pub mod multi_connection;
mod step;
pub mod utility;
pub mod wce;
mod wce_settings;

pub use self::agreement::{Ask, Heard, RoundTrip};
pub use self::capacity::Capacity;
pub use self::step::Step;
pub use self::wce::{Cycle, Observation, Thresholds, Wce, WceSettings, WceSettingsError};
pub(crate) use self::wce_settings::BottleneckWce;
pub use self::wce_settings::{WceKeys, WceRule};
