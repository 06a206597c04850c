//! A fixed rate: every data frame has the same TXVECTOR.

use super::{RateController, TxVector};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;

/// Fixed rate control, with the TXVECTOR that it uses.
#[derive(Clone, Copy, Debug)]
pub struct Fixed(pub TxVector);

impl RateController for Fixed {
    fn tx_vector(&mut self, _: Time, _: u32, _: &mut Stream) -> TxVector {
        self.0
    }

    fn on_tx_status(&mut self, _: Time, _: TxVector, _: u32, _: u32) {}
}
