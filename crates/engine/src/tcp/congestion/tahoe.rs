//! Tahoe: slow start after every loss.
//!
//! Reference: V. Jacobson, "Congestion avoidance and control", SIGCOMM 1988.
//!
//! Differs from 4.3BSD-Tahoe in: ssthresh is half the flight size (RFC 5681), not half of min(cwnd,
//! receive window); a repeated timeout of the same segment does not change ssthresh.

use super::window_algorithm::WindowAlgorithm;
use crate::tcp::recovery::RecoveryMode;

/// Tahoe, which has no fast recovery.
#[derive(Clone, Debug)]
pub(super) struct Tahoe;

impl WindowAlgorithm for Tahoe {
    fn recovery_mode(&self) -> RecoveryMode {
        RecoveryMode::GoBackN
    }
}
