//! Reasons for which a run has no result.

use crate::kernel::time::Span;

/// Errors of [`crate::run`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// The run was stopped before any replication finished.
    #[error("interrupted before the first replication was finished")]
    Interrupted,
    /// The duration of the scenario is too long for the agenda (list of pending events). The
    /// maximum duration depends on the number of flows.
    #[error("duration: with this many flows at most {} s can be simulated", horizon.seconds() as u64)]
    TooLong {
        /// Longest duration that can be simulated.
        horizon: Span,
    },
    /// A conservation law was violated, such as packets sent = delivered + lost + in flight. Such
    /// an error is a defect of the engine, never of the scenario.
    #[error("conservation violated: {0}")]
    Conservation(String),
}
