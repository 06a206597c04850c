//! Reno: fast recovery, left on the first new ACK.
//!
//! Reference: RFC 5681.
//!
//! Differs from Linux in: Linux's `reno` repairs as NewReno and shrinks the window by
//! proportional rate reduction (RFC 6937).

use super::{Law, Repair};

#[derive(Clone, Debug)]
pub(super) struct Reno;

impl Law for Reno {
    fn repair(&self) -> Repair {
        Repair::FirstHole
    }
}
