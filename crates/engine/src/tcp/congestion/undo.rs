//! The window before a reduction. This window is restored if the reduction turns out to be
//! unnecessary.
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

    /// Restores the window before the reduction, unless the present window is larger.
    pub(super) fn restore(self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.cwnd);
        window.ssthresh = window.ssthresh.max(self.ssthresh);
    }
}
