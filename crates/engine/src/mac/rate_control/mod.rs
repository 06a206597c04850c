//! Rate control: the sender of a link chooses the TXVECTOR of each of its data frames.
//!
//! A rate controller is a file of this folder, a variant of [`Controller`] and, if it is an option
//! of the key `rate_control`, a word of [`RateControl`]. It serves cells of single frames and cells
//! that aggregate.

mod arf;
mod best_for_snr;
mod fixed;

use self::arf::Arf;
use self::best_for_snr::BestForSnr;
use self::fixed::Fixed;
use super::ppdu::Modulation;
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::words;

words! {
    /// Choice of the rate of data frames by their sender.
    pub enum RateControl {
        /// Always the nominal rate.
        Fixed = "fixed",
        /// Automatic rate fallback among the rates up to the nominal one.
        Arf = "arf",
    }
}

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

/// The rate controllers.
#[derive(Clone, Debug)]
pub(super) enum Controller {
    Fixed(Fixed),
    Arf(Arf),
    BestForSnr(BestForSnr),
}

impl RateControl {
    /// Returns whether the controller chooses among the rates up to the nominal one.
    pub(crate) fn adapts(self) -> bool {
        self != RateControl::Fixed
    }

    /// Returns whether the controller supports the PPDUs of 802.11n, ac and ax.
    pub(crate) fn supports_ppdus(self) -> bool {
        match self {
            RateControl::Fixed => true,
            RateControl::Arf => false,
        }
    }

    /// Returns the controller of a link with this number of TXVECTORs, the last of which is the
    /// nominal one.
    pub(super) fn controller(self, count: usize) -> Controller {
        let nominal = TxVector(count as u8 - 1);
        match self {
            RateControl::Fixed => Controller::Fixed(Fixed(nominal)),
            RateControl::Arf => Controller::Arf(Arf::new(nominal)),
        }
    }
}

impl Controller {
    /// Returns the controller that chooses the best of these modulations for the signal-to-noise
    /// ratio, and the `nominal` one if there is none.
    pub(super) fn best_for_snr(modulations: Vec<Modulation>, nominal: TxVector) -> Controller {
        Controller::BestForSnr(BestForSnr::new(modulations, nominal))
    }

    /// Returns the controller by its trait.
    pub(super) fn get(&mut self) -> &mut dyn RateController {
        match self {
            Controller::Fixed(own) => own,
            Controller::Arf(own) => own,
            Controller::BestForSnr(own) => own,
        }
    }
}
