//! Reasons why a run gives no result.

use crate::kernel::time::Span;

/// Errors of [`crate::run`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// The run was stopped before any replication finished.
    #[error("interrupted before the first replication was finished")]
    Interrupted,
    /// The simulated time is longer than the agenda can index with this number of flows.
    #[error("duration: with this many flows at most {} s can be simulated", horizon.seconds() as u64)]
    TooLong {
        /// Longest time that can be simulated.
        horizon: Span,
    },
    /// A conservation law was violated. This is a defect of the engine, never of the scenario.
    #[error("conservation violated: {0}")]
    Conservation(String),
}
