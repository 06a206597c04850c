//! Rate control: the sender of a link chooses the TXVECTOR of each of its data frames.
//!
//! A rate controller is a file in this folder and a variant of [`Controller`]. A controller that
//! the key `rate_control` can select is also a word of [`RateControl`]. A rate controller serves
//! both cells of single frames and cells that aggregate.

mod arf;
mod best_for_snr;
mod controller;
mod fixed;

use self::arf::Arf;
use self::best_for_snr::BestForSnr;
pub use self::controller::{RateController, TxVector};
use self::fixed::Fixed;
use super::ppdu::Modulation;
use crate::words;

words! {
    /// Choice of the rate of data frames by their sender.
    pub enum RateControl {
        /// Always the nominal rate.
        Fixed = "fixed",
        /// Automatic rate fallback among the rates up to the nominal rate.
        Arf = "arf",
    }
}

/// Rate controller of a link.
#[derive(Clone, Debug)]
pub(super) enum Controller {
    Fixed(Fixed),
    Arf(Arf),
    BestForSnr(BestForSnr),
}

impl RateControl {
    /// Returns whether the controller chooses among the rates up to the nominal rate.
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

    /// Returns the controller of a link with `count` TXVECTORs. The last TXVECTOR is the nominal
    /// TXVECTOR.
    pub(super) fn controller(self, count: usize) -> Controller {
        let nominal = TxVector(count as u8 - 1);
        match self {
            RateControl::Fixed => Controller::Fixed(Fixed(nominal)),
            RateControl::Arf => Controller::Arf(Arf::new(nominal)),
        }
    }
}

impl Controller {
    /// Returns the controller that chooses the modulation with the highest goodput for the
    /// signal-to-noise ratio. Without a signal-to-noise ratio it chooses `nominal`.
    pub(super) fn best_for_snr(modulations: Vec<Modulation>, nominal: TxVector) -> Controller {
        Controller::BestForSnr(BestForSnr::new(modulations, nominal))
    }

    /// Returns the controller as a trait object.
    pub(super) fn get(&mut self) -> &mut dyn RateController {
        match self {
            Controller::Fixed(own) => own,
            Controller::Arf(own) => own,
            Controller::BestForSnr(own) => own,
        }
    }
}
