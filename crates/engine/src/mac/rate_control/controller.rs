//! The interface of a rate controller.

use crate::kernel::streams::Stream;
use crate::kernel::time::Time;

/// A TXVECTOR, given as its index among the TXVECTORs of the link, in order of rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxVector(pub u8);

/// The rate control of one link, in one direction.
pub trait RateController {
    /// Returns the TXVECTOR of the next data frame. `retry` is the number of failed attempts at
    /// this frame.
    fn tx_vector(&mut self, now: Time, retry: u32, stream: &mut Stream) -> TxVector;

    /// Records the result of data frames with TXVECTOR `sent`: the numbers of MPDUs `acked` and
    /// `failed`.
    fn on_tx_status(&mut self, now: Time, sent: TxVector, acked: u32, failed: u32);

    /// Records the signal-to-noise ratio of the link; `None` if the channel has given error
    /// probabilities instead. [dB]
    fn on_snr(&mut self, _snr_db: Option<f64>) {}
}
