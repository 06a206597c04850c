//! The interface between medium access and the contents of exchanges.

use super::Phy;
use super::contender::Contender;
use super::exchange::TxStatus;
use crate::kernel::time::Time;

/// The kind of exchanges in a contention domain: single frames, or aggregates. An implementation
/// chooses the contents of each exchange, and is informed of the result of each exchange.
pub trait FrameExchange: Sized {
    /// Declaration that a contender makes when it has something to send, such as its next frame.
    type Next: Copy;

    /// Whether the contents of an exchange are chosen when the exchange begins. If false, the
    /// contents are the frame that the contender has declared.
    const FORMED_AT_START: bool;

    /// Sets the air times of the exchange that `contender` sends next. `next` is the declaration of
    /// the contender at `now`.
    fn load(&mut self, now: Time, contender: &mut Contender, next: Self::Next, phy: &Phy);

    /// Returns whether the receiver has received any data of `contender`, which is the only
    /// transmitter.
    fn is_received(&mut self, contender: &mut Contender) -> bool;

    /// Records that a transmission attempt of `contender` has ended at `now`.
    fn on_tx_status(&mut self, now: Time, contender: &mut Contender, status: TxStatus, phy: &Phy);

    /// Records that `contender` has given up its frame or the data that it declared.
    fn on_discard(&mut self, contender: &Contender);
}
