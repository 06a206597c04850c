//! The interface of a rate controller.

use crate::kernel::streams::Stream;
use crate::kernel::time::Time;

/// A TXVECTOR, by its place among the TXVECTORs of its link in order of rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxVector(pub u8);

/// The rate control of one link, in one direction.
pub trait RateController {
    /// Returns the TXVECTOR of the next data frame. `retry` is the number of failed attempts at
    /// this frame.
    fn tx_vector(&mut self, now: Time, retry: u32, stream: &mut Stream) -> TxVector;

    /// Records the result of data frames that were `sent`: numbers of MPDUs acknowledged, and not
    /// acknowledged.
    fn on_tx_status(&mut self, now: Time, sent: TxVector, acked: u32, failed: u32);

    /// Records the signal-to-noise ratio of the link, `None` if its losses are given otherwise.
    /// [dB]
    fn on_snr(&mut self, _snr_db: Option<f64>) {}
}
