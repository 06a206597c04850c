//! `lasthop._core`: the engine for Python. A function checks and converts its arguments, calls the engine, and converts
//! the result. The documentation for users is in `python/lasthop`.
//!
//! The cargo features `emulator`, `enforce` and `relay` can be left out of a build. The functions and classes of a
//! feature that was left out exist, but raise `UserError`.

#[cfg(not(all(feature = "emulator", feature = "enforce", feature = "relay")))]
mod absent;
mod channel;
mod control;
#[cfg(feature = "emulator")]
mod emulate;
mod explain;
mod many;
mod points;
#[cfg(feature = "relay")]
mod relay;
mod scenario;
mod session;
mod sessions;
mod sharing;
mod simulate;
mod summary;
mod tables;
mod trace;
mod traffic;

#[cfg(not(feature = "emulator"))]
use absent::emulate;
#[cfg(not(feature = "relay"))]
use absent::relay;

/// The compiled part of lasthop.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Format of scenario files and saved results that this version reads and writes.
    #[pymodule_export]
    const FORMAT: u32 = lasthop_engine::scenario::FORMAT;

    /// Fingerprint of the engine's sources, which is equal on all machines.
    #[pymodule_export]
    const ENGINE: &str = env!("LASTHOP_ENGINE");

    /// Build profile of this extension: `release`, or `debug` in tests.
    #[pymodule_export]
    const PROFILE: &str = env!("LASTHOP_PROFILE");

    /// For each MCS: coded bits per subcarrier, numerator and denominator of the code rate.
    #[pymodule_export]
    const MCS: [(u64, u64, u64); 12] = lasthop_engine::mac::ppdu::MCS;

    /// Maximum number of simultaneously open connections of a web source.
    #[pymodule_export]
    const MAX_OPEN: usize = lasthop_engine::live::MAX_OPEN;

    /// Maximum 99th percentile of the one-way delay of a good call. [s]
    #[pymodule_export]
    const CALL_DELAY_P99_S: f64 = lasthop_explain::CALL_DELAY_P99_S;

    /// Maximum fraction of its datagrams that a good call loses. [-]
    #[pymodule_export]
    const CALL_LOSS: f64 = lasthop_explain::CALL_LOSS;

    /// Utilisation above which a line or the air is considered full. [-]
    #[pymodule_export]
    const FULL: f64 = lasthop_explain::FULL;

    /// Library that programs in user-mode Linux preload. The library is empty on systems without user-mode Linux.
    #[pymodule_export]
    const UML_PRELOAD: &[u8] = include_bytes!(env!("LASTHOP_UML_PRELOAD"));

    #[pymodule_export]
    use crate::channel::{data_rates, frame_error, mcs_frame_error};
    #[pymodule_export]
    use crate::control::{CapacityEstimator, EstimatorSettings, Wce};
    #[pymodule_export]
    use crate::emulate::emulate;
    #[pymodule_export]
    use crate::explain::{explain, explain_rules};
    #[pymodule_export]
    use crate::many::Many;
    #[pymodule_export]
    use crate::points::check_points;
    #[pymodule_export]
    use crate::relay::{Relay, new_relay_key};
    #[pymodule_export]
    use crate::scenario::{Scenario, files_named, schema, units};
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::sessions::Sessions;
    #[pymodule_export]
    use crate::sharing::Vbs;
    #[pymodule_export]
    use crate::simulate::{SimulationOutput, quantities, simulate};
    #[pymodule_export]
    use crate::tables::{check_gateway, check_interface};
    #[pymodule_export]
    use crate::trace::trace_bbr3;
    #[pymodule_export]
    use crate::traffic::{MultiConnection, Transactions};
}
