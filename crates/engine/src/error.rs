//! Why a run gave no result.

use crate::kernel::time::Span;

/// Errors of [`crate::run`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// Stopped before any replication was finished.
    #[error("interrupted before the first replication was finished")]
    Interrupted,
    /// More simulated time than the agenda can index beside so many flows.
    #[error("duration: with this many flows at most {} s can be simulated", horizon.seconds() as u64)]
    TooLong {
        /// What can be simulated.
        horizon: Span,
    },
    /// A conservation law was violated: a defect of the engine, never of the scenario.
    #[error("conservation violated: {0}")]
    Conservation(String),
}
