//! Reno: fast recovery, left on the first new ACK.
//!
//! Reference: RFC 5681.
//!
//! Differs from Linux in: Linux's `reno` repairs as NewReno and shrinks the window by
//! proportional rate reduction (RFC 6937).

use super::{Law, NewAck, Repair, Window};

#[derive(Clone, Debug)]
pub(super) struct Reno;

impl Law for Reno {
    fn repair(&self) -> Repair {
        Repair::FirstHole
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, _ack: NewAck) {
        window.grow();
    }
}
