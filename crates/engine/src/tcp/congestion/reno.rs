//! Reno: fast recovery, left on the first new ACK.
//!
//! Reference: RFC 5681.
//!
//! Differs from Linux in: Linux's `reno` repairs as NewReno and shrinks the window by
//! proportional rate reduction (RFC 6937).

use super::{CongestionControl, Repair, Window};

#[derive(Clone, Debug)]
pub(super) struct Reno;

impl CongestionControl for Reno {
    const REPAIR: Repair = Repair::FirstHole;

    #[inline]
    fn on_ack(&mut self, window: &mut Window) {
        window.grow();
    }

    /// Section 3.2, steps 2 and 3.
    fn on_loss(&mut self, window: &mut Window, flight: u32) {
        window.halve(flight);
        window.inflate();
    }

    /// Step 4.
    fn on_dup_ack(&mut self, window: &mut Window) {
        window.cwnd += 1.0;
    }

    /// Step 6.
    fn on_recovered(&mut self, window: &mut Window) {
        window.deflate();
    }
}
