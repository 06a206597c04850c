//! DCTCP: Reno that reduces its window by half of the fraction of marked segments.
//!
//! References: RFC 8257, sections 3.3 to 3.5; M. Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010.
//!
//! ```text
//! cwnd = cwnd (1 - alpha / 2)       once per window of data with marks; alpha: `marked_fraction.rs`
//! ```
//!
//! The growth is Reno's, and stops on ACKs that echo a mark. Losses halve the window (section 3.5),
//! and recovery is NewReno's. Each mark is echoed (section 3.2). If a queue marks all packets above
//! a threshold, marks occur in one round trip per sawtooth. The smoothed fraction alpha then
//! converges to about sqrt(2/W), with the window W [packets] (SIGCOMM 2010, equation 9).
//!
//! DCTCP is for networks in which all queues mark early. Together with other flows it gets only the
//! capacity that these flows leave (RFC 8257, section 1). It does not meet the requirements of RFC
//! 9331, section 4, for senders on the Internet. It sends ECT(0), as in Linux, so that DualPI2
//! treats it as Classic. With `l4s` it sends ECT(1), for experiments.
//!
//! Differs from Linux in: cwnd decreases immediately, not over a round trip; cwnd is not rounded to
//! whole packets.

use super::control::MarkReport;
use super::marked_fraction::MarkedFraction;
use super::window::{MIN_SSTHRESH, Window};
use super::window_algorithm::WindowAlgorithm;
use crate::notation::setting::flag;
use crate::table;

table! {
    /// Parameters of DCTCP (congestion = "dctcp").
    pub struct DctcpSettings: Copy in "dctcp" {
        /// If true, segments are ECT(1), so that queues treat them as L4S, although DCTCP does not meet the requirements of L4S. If false, segments are ECT(0), as in Linux.
        l4s: bool = flag(), fallback false;
    }
}

#[derive(Clone, Debug)]
pub(super) struct Dctcp {
    fraction: MarkedFraction,
}

impl Dctcp {
    pub(super) const fn new() -> Dctcp {
        Dctcp {
            fraction: MarkedFraction::new(),
        }
    }
}

impl WindowAlgorithm for Dctcp {
    fn on_marks(&mut self, report: &MarkReport) {
        if self.fraction.add(report) {
            self.fraction.close(report);
        }
    }

    fn decrease_by_marks(&mut self, window: &Window, _: &MarkReport, _: u32) -> Option<f64> {
        let remaining = window.cwnd * (1.0 - self.fraction.alpha() / 2.0);
        Some(remaining.max(MIN_SSTHRESH))
    }
}

#[cfg(test)]
pub(super) mod tests;
