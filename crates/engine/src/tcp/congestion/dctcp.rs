//! DCTCP: Reno that gives up half of the part of its segments that were marked.
//!
//! References: RFC 8257, sections 3.3 to 3.5; M. Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010.
//!
//! ```text
//! cwnd = cwnd (1 - alpha / 2)       once a window of data with marks; alpha: `marked_fraction.rs`
//! ```
//!
//! Growth is Reno's and stops on ACKs that echo a mark, losses halve (section 3.5), recovery is NewReno's. Marks are
//! echoed each as it comes (section 3.2). Where a queue marks all above a threshold, marks come in one round trip of
//! a sawtooth and alpha settles near sqrt(2/W) (SIGCOMM 2010, equation 9).
//!
//! DCTCP is for networks whose queues all mark early: beside others it takes what they leave (RFC 8257, section 1), and
//! it does not meet what RFC 9331, section 4, asks of senders on the Internet. It sends ECT(0), as in Linux, so that
//! DualPI2 takes it for Classic; `l4s` makes it ECT(1), for experiments.
//!
//! Differs from Linux in: cwnd falls at once, not over a round trip; a fraction of a packet counts.

use super::control::MarkReport;
use super::marked_fraction::MarkedFraction;
use super::window::{MIN_SSTHRESH, Window};
use super::window_algorithm::WindowAlgorithm;
use crate::notation::setting::flag;
use crate::table;

table! {
    /// Parameters of DCTCP (congestion = "dctcp").
    pub struct DctcpSettings: Copy in "dctcp" {
        /// If true, segments are ECT(1), so that queues treat them as L4S. DCTCP does not meet the requirements of L4S. Otherwise segments are ECT(0), as in Linux.
        l4s: bool = flag().fallback(false);
    }
}

#[derive(Clone, Debug)]
pub(super) struct Dctcp {
    part: MarkedFraction,
}

impl Dctcp {
    pub(super) const fn new() -> Dctcp {
        Dctcp {
            part: MarkedFraction::new(),
        }
    }
}

impl WindowAlgorithm for Dctcp {
    fn on_marks(&mut self, report: &MarkReport) {
        if self.part.add(report) {
            self.part.close(report);
        }
    }

    fn decrease_by_marks(&mut self, window: &Window, _: &MarkReport, _: u32) -> Option<f64> {
        let left = window.cwnd * (1.0 - self.part.alpha() / 2.0);
        Some(left.max(MIN_SSTHRESH))
    }
}

#[cfg(test)]
pub(super) mod tests;
