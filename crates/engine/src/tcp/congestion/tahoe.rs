//! Tahoe: slow start after every loss.
//!
//! Reference: V. Jacobson, "Congestion avoidance and control", SIGCOMM 1988.
//!
//! Differs from 4.3BSD-Tahoe in: ssthresh is half the flight size (RFC 5681), not half of
//! min(cwnd, receive window); a timeout repeated for the same segment leaves it.

use super::{Law, Repair, Window};

#[derive(Clone, Debug)]
pub(super) struct Tahoe;

impl Law for Tahoe {
    fn repair(&self) -> Repair {
        Repair::GoBackN
    }

    /// There is no fast recovery, so that the events of one do not reach Tahoe.
    fn on_loss(&mut self, window: &mut Window, flight: u32) {
        window.ssthresh = self.decrease(window, flight);
        window.collapse();
    }
}
