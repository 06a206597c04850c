//! ABE: a smaller reduction of the window after an ECN mark than after a loss.
//!
//! Reference: RFC 8511, sections 3 and 4.
//!
//! ```text
//! ssthresh = max(beta_ecn FlightSize, 2)     beta_ecn = 0.8 for Reno, 0.85 for CUBIC
//! ```
//!
//! A mark comes from a queue that marks early, so that the queue is short. With the reduction of a
//! loss, such a queue becomes empty. A loss still reduces the window as without ABE.
//!
//! Differs from the RFC in: FlightSize is at most cwnd, because it also counts segments that were
//! SACKed, so that 0.8 of it may exceed the window. Linux has no ABE.

use super::algorithm::CongestionAlgorithm;
use super::window::{MIN_SSTHRESH, Window};

/// The rule by which a mark reduces the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Abe {
    Reno,
    Cubic,
    /// CUBIC in whole packets, which reduces cwnd and not FlightSize.
    CubicLinux,
}

impl Abe {
    /// Returns the rule for a congestion control; `None` if the RFC has no factor for it.
    pub(in crate::tcp) fn of(congestion: CongestionAlgorithm) -> Option<Abe> {
        match congestion {
            CongestionAlgorithm::Reno | CongestionAlgorithm::NewReno => Some(Abe::Reno),
            CongestionAlgorithm::Cubic => Some(Abe::Cubic),
            CongestionAlgorithm::CubicLinux => Some(Abe::CubicLinux),
            CongestionAlgorithm::Tahoe
            | CongestionAlgorithm::Compound
            | CongestionAlgorithm::Illinois
            | CongestionAlgorithm::Africa
            | CongestionAlgorithm::Westwood
            | CongestionAlgorithm::Dctcp
            | CongestionAlgorithm::Prague
            | CongestionAlgorithm::Bbr
            | CongestionAlgorithm::Bbr3
            | CongestionAlgorithm::External(_) => None,
        }
    }

    /// Replaces the reduction of a loss by that of a mark. `before` is the window before the
    /// reduction, and `flight` the number of segments outstanding then.
    pub(super) fn soften(self, window: &mut Window, before: &Window, flight: u32) {
        let ssthresh = match self {
            Abe::Reno => 0.8 * before.effective_flight(flight),
            Abe::Cubic => 0.85 * before.effective_flight(flight),
            Abe::CubicLinux => libm::floor(0.85 * before.cwnd),
        };
        window.ssthresh = ssthresh.max(MIN_SSTHRESH);
        window.deflate();
    }
}

#[cfg(test)]
mod tests;
