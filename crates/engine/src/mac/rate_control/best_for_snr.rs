//! Ideal rate control by the signal-to-noise ratio: the MCS with the highest expected goodput.

use super::{RateController, TxVector};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::mac::ppdu::Modulation;

/// State of the ideal rate control, which chooses among the modulations of a link.
#[derive(Clone, Debug)]
pub struct BestForSnr {
    modulations: Vec<Modulation>,
    nominal: TxVector,
    best: TxVector,
}

impl BestForSnr {
    /// Returns the ideal rate control for `modulations`. The controller chooses `nominal` until the
    /// signal-to-noise ratio is known.
    pub fn new(modulations: Vec<Modulation>, nominal: TxVector) -> BestForSnr {
        BestForSnr {
            modulations,
            nominal,
            best: nominal,
        }
    }
}

impl RateController for BestForSnr {
    fn tx_vector(&mut self, _: Time, _: u32, _: &mut Stream) -> TxVector {
        self.best
    }

    fn on_tx_status(&mut self, _: Time, _: TxVector, _: u32, _: u32) {}

    fn on_snr(&mut self, snr_db: Option<f64>) {
        let best = snr_db.and_then(|snr_db| {
            let best = self.modulations.first()?.best_for(snr_db);
            self.modulations.iter().position(|own| *own == best)
        });
        self.best = best.map_or(self.nominal, |index| TxVector(index as u8));
    }
}
