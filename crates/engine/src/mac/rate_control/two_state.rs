//! A rate control of two states: the nominal rate while frames are acknowledged, and the lowest
//! rate after a failure.
//!
//! ```text
//! Nominal --a result without an acked MPDU---------> Lowest
//! Lowest  --10 results in a row with an acked MPDU--> Nominal
//! ```

use super::{RateController, TxVector};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;

/// Results with an acknowledged MPDU, in a row, after which the nominal rate is used again.
const SUCCESSES: u32 = 10;

/// The choice between the lowest and the nominal TXVECTOR.
#[derive(Clone, Copy, Debug)]
pub enum TwoState {
    /// The nominal rate.
    Nominal {
        /// The TXVECTOR of the nominal rate.
        nominal: TxVector,
    },
    /// The lowest rate.
    Lowest {
        /// The TXVECTOR of the nominal rate.
        nominal: TxVector,
        /// Results with an acknowledged MPDU, in a row.
        successes: u32,
    },
}

impl RateController for TwoState {
    fn tx_vector(&mut self, _: Time, _: u32, _: &mut Stream) -> TxVector {
        match *self {
            TwoState::Nominal { nominal } => nominal,
            TwoState::Lowest { .. } => TxVector(0),
        }
    }

    fn on_tx_status(&mut self, _: Time, _: TxVector, acked: u32, _: u32) {
        let (TwoState::Nominal { nominal } | TwoState::Lowest { nominal, .. }) = *self;
        *self = match *self {
            TwoState::Nominal { .. } if acked > 0 => TwoState::Nominal { nominal },
            TwoState::Lowest { successes, .. } if acked > 0 && successes + 1 == SUCCESSES => {
                TwoState::Nominal { nominal }
            }
            TwoState::Lowest { successes, .. } if acked > 0 => TwoState::Lowest {
                nominal,
                successes: successes + 1,
            },
            TwoState::Nominal { .. } | TwoState::Lowest { .. } => TwoState::Lowest {
                nominal,
                successes: 0,
            },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;

    #[test]
    fn a_failure_lowers_the_rate_until_ten_successes() {
        let mut control = TwoState::Nominal {
            nominal: TxVector(7),
        };
        let mut stream = Streams::new(1, 0).stream("rate");
        let mut after = |acked, failed| {
            let sent = control.tx_vector(Time::ZERO, 0, &mut stream);
            control.on_tx_status(Time::ZERO, sent, acked, failed);
            control.tx_vector(Time::ZERO, 0, &mut stream).0
        };
        assert_eq!(after(1, 31), 7);
        assert_eq!(after(0, 32), 0);
        for _ in 0..SUCCESSES - 1 {
            assert_eq!(after(1, 0), 0);
        }
        assert_eq!(after(1, 0), 7);
    }
}
