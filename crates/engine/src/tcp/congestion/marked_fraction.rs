//! The smoothed fraction of segments that are marked.
//!
//! Reference: RFC 8257, section 3.3. The names of the RFC are in the docstrings.
//!
//! ```text
//! M = BytesMarked / BytesAcked             once a window of data
//! alpha = alpha (1 - g) + g M              g = 1/16
//! ```
//!
//! M is the fraction of marked segments in the window of data, g the gain, and alpha the smoothed
//! fraction. Segments are counted instead of bytes, because all segments have full size.

use super::control::MarkReport;

/// Estimation gain g, recommended by section 4.2. [-]
const GAIN: f64 = 1.0 / 16.0;

/// The smoothed fraction `DCTCP.Alpha` of marked segments, and the window of data at whose end the
/// fraction is updated.
#[derive(Clone, Debug)]
pub(super) struct MarkedFraction {
    alpha: f64,
    /// `DCTCP.BytesAcked`: number of acknowledged segments in this window of data.
    acked: u32,
    /// `DCTCP.BytesMarked`: number of marked segments in this window of data.
    marked: u32,
    /// `DCTCP.WindowEnd`: number of the segment whose acknowledgement ends the window of data.
    window_end: u32,
}

impl MarkedFraction {
    /// Returns an initial estimate of 1, so that the first marks halve the window (section 3.3,
    /// step 1).
    pub(super) const fn new() -> MarkedFraction {
        MarkedFraction {
            alpha: 1.0,
            acked: 0,
            marked: 0,
            window_end: 0,
        }
    }

    /// Returns the smoothed fraction alpha of marked segments. [-]
    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Adds the mark report of an ACK. Returns whether the ACK ends the window of data. If it does,
    /// the caller ends the window with [`close`](MarkedFraction::close), or discards its counts
    /// with [`begin`](MarkedFraction::begin).
    pub(super) fn add(&mut self, report: &MarkReport) -> bool {
        self.acked += report.acked;
        self.marked += report.marked;
        report.snd_una > self.window_end
    }

    /// Ends the window of data with this ACK, and updates the smoothed fraction.
    pub(super) fn close(&mut self, report: &MarkReport) {
        if self.acked > 0 {
            let fraction = (f64::from(self.marked) / f64::from(self.acked)).min(1.0);
            self.alpha += GAIN * (fraction - self.alpha);
        }
        self.begin(report);
    }

    /// Begins the next window of data with this ACK.
    pub(super) fn begin(&mut self, report: &MarkReport) {
        self.acked = 0;
        self.marked = 0;
        self.window_end = report.snd_nxt;
    }
}
