//! The interface between the medium access and the contents of exchanges.

use super::Phy;
use super::contender::Contender;
use super::exchange::TxStatus;
use crate::kernel::time::Time;

/// The kind of exchanges in a contention domain: single frames, or aggregates. It decides what each
/// exchange carries, and learns how the exchange has ended.
pub trait FrameExchange: Sized {
    /// Declaration of a contender that has something to send.
    type Next: Copy;

    /// Whether the contents of an exchange are chosen when it begins. Otherwise they are the frame
    /// that the contender has declared.
    const FORMED_AT_START: bool;

    /// Sets the air times of what `contender` sends next, which it declares at `now`.
    fn load(&mut self, now: Time, contender: &mut Contender, next: Self::Next, phy: &Phy);

    /// Returns whether any data of `contender`, the only transmitter, were received.
    fn is_received(&mut self, contender: &mut Contender) -> bool;

    /// Records that a transmission attempt of `contender` has ended at `now`.
    fn on_tx_status(&mut self, now: Time, contender: &mut Contender, status: TxStatus, phy: &Phy);

    /// Records that `contender` has given up what it wanted to send.
    fn on_discard(&mut self, contender: &Contender);
}
