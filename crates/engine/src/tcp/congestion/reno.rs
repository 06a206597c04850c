//! Reno: fast recovery, which ends with the first ACK of new data.
//!
//! Reference: RFC 5681.
//!
//! Differs from Linux in: `reno` of Linux repairs losses as NewReno does, and reduces the window by
//! proportional rate reduction (RFC 6937).

use super::window_algorithm::WindowAlgorithm;
use crate::tcp::recovery::RecoveryMode;

#[derive(Clone, Debug)]
pub(super) struct Reno;

impl WindowAlgorithm for Reno {
    fn recovery_mode(&self) -> RecoveryMode {
        RecoveryMode::FirstHole
    }
}
