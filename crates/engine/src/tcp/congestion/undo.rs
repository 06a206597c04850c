//! The window before a reduction. It is restored if the reduction turns out to be unnecessary.
//!
//! Reference: RFC 4015, section 3.5.

use super::window::Window;

/// The window before a reduction. [packets]
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct PriorWindow {
    cwnd: f64,
    ssthresh: f64,
}

impl PriorWindow {
    pub(super) fn of(window: &Window) -> PriorWindow {
        PriorWindow {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
        }
    }

    /// Raises the window to its value before the reduction, if it is smaller.
    pub(super) fn restore(self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.cwnd);
        window.ssthresh = window.ssthresh.max(self.ssthresh);
    }
}
