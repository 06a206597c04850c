//! Which part of its segments a sender hears that marks were put on, smoothed.
//!
//! Reference: RFC 8257, section 3.3, whose names stand in the docstrings.
//!
//! ```text
//! M = BytesMarked / BytesAcked             once a window of data
//! alpha = alpha (1 - g) + g M              g = 1/16
//! ```
//!
//! Segments take the place of bytes, all being of full size.

use super::control::MarkReport;

/// Estimation gain g; section 4.2 recommends it. [-]
const GAIN: f64 = 1.0 / 16.0;

/// `DCTCP.Alpha`, and the window that is observed for its next step.
#[derive(Clone, Debug)]
pub(super) struct MarkedFraction {
    alpha: f64,
    /// `DCTCP.BytesAcked`. [segments]
    acked: u32,
    /// `DCTCP.BytesMarked`. [segments]
    marked: u32,
    /// `DCTCP.WindowEnd`.
    window_end: u32,
}

impl MarkedFraction {
    /// Begins with all marked, so that the first marks halve the window (section 3.3, step 1).
    pub(super) const fn new() -> MarkedFraction {
        MarkedFraction {
            alpha: 1.0,
            acked: 0,
            marked: 0,
            window_end: 0,
        }
    }

    /// The estimate. [-]
    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Adds what an ACK tells; whether a window of data has passed, so that [`close`](MarkedFraction::close) may take its
    /// part.
    pub(super) fn add(&mut self, report: &MarkReport) -> bool {
        self.acked += report.acked;
        self.marked += report.marked;
        report.snd_una > self.window_end
    }

    /// Ends the window with this ACK, which takes its part in the estimate.
    pub(super) fn close(&mut self, report: &MarkReport) {
        if self.acked > 0 {
            let part = (f64::from(self.marked) / f64::from(self.acked)).min(1.0);
            self.alpha += GAIN * (part - self.alpha);
        }
        self.begin(report);
    }

    /// A window begins with this ACK.
    pub(super) fn begin(&mut self, report: &MarkReport) {
        self.acked = 0;
        self.marked = 0;
        self.window_end = report.snd_nxt;
    }
}
