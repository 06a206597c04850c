//! Automatic rate fallback (ARF): the sender of a link chooses its rate from the MAC ACKs of its
//! frames.
//!
//! Kamerman and Monteban 1997, "WaveLAN-II: a high-performance wireless LAN for the unlicensed
//! band": two consecutive missed MAC ACKs lower the rate, and ten consecutive MAC ACKs raise it. If
//! the first frame after a rise fails, the rate is lowered immediately.
//!
//! ```text
//! Steady --10 successes--> Probing (one rate up) --success--> Steady
//! Steady --2 failures----> Steady (one rate down)
//! Probing --failure------> Steady (one rate down)
//! ```
//!
//! Differs from the paper in one point: no timer raises the rate. A missed MAC ACK does not show
//! whether the cause is a collision or a bad channel, and both causes lower the rate. A lost RTS
//! does not lower the rate.

use super::{RateController, TxVector};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;

/// Number of consecutive successes that raise the rate.
const RAISING: u32 = 10;

/// Number of consecutive failures that lower the rate.
const LOWERING: u32 = 2;

/// State of ARF, which chooses among the rates up to a nominal rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arf {
    nominal: TxVector,
    present: TxVector,
    successes: u32,
    failures: u32,
    /// Whether the rate was raised and no frame has been sent at the raised rate yet.
    probing: bool,
}

impl Arf {
    /// Returns ARF for the rates up to `nominal`. The first rate is `nominal`.
    pub fn new(nominal: TxVector) -> Arf {
        Arf {
            nominal,
            present: nominal,
            successes: 0,
            failures: 0,
            probing: false,
        }
    }
}

impl RateController for Arf {
    fn tx_vector(&mut self, _: Time, _: u32, _: &mut Stream) -> TxVector {
        self.present
    }

    fn on_tx_status(&mut self, _: Time, _: TxVector, acked: u32, _: u32) {
        if acked > 0 {
            self.failures = 0;
            self.probing = false;
            self.successes += 1;
            if self.successes >= RAISING && self.present != self.nominal {
                self.present.0 += 1;
                self.probing = true;
                self.successes = 0;
            }
        } else {
            self.successes = 0;
            self.failures += 1;
            if self.probing || self.failures >= LOWERING {
                self.present.0 = self.present.0.saturating_sub(1);
                self.failures = 0;
            }
            self.probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;

    /// Reports MAC ACKs to the controller, and returns the rate that the controller then chooses.
    /// Each pair in `statuses` contains whether MAC ACKs are received, and for how many consecutive
    /// frames.
    fn after(arf: &mut Arf, statuses: &[(bool, u32)]) -> u8 {
        for &(acknowledged, times) in statuses {
            for _ in 0..times {
                let sent = arf.present;
                arf.on_tx_status(
                    Time::ZERO,
                    sent,
                    u32::from(acknowledged),
                    u32::from(!acknowledged),
                );
            }
        }
        let mut stream = Streams::new(1, 0).stream("rate");
        arf.tx_vector(Time::ZERO, 0, &mut stream).0
    }

    #[test]
    fn two_failures_in_a_row_lower_the_rate_and_ten_successes_raise_it() {
        let mut arf = Arf::new(TxVector(3));
        assert_eq!(after(&mut arf, &[]), 3);
        assert_eq!(after(&mut arf, &[(false, 1), (true, 1), (false, 1)]), 3);
        assert_eq!(after(&mut arf, &[(false, 1)]), 2);
        assert_eq!(after(&mut arf, &[(true, 9)]), 2);
        assert_eq!(after(&mut arf, &[(true, 1)]), 3);
    }

    #[test]
    fn a_failure_at_a_rate_just_raised_lowers_it_immediately() {
        let mut arf = Arf::new(TxVector(3));
        after(&mut arf, &[(false, 2), (true, 10)]);
        assert_eq!(after(&mut arf, &[(false, 1)]), 2);
        after(&mut arf, &[(true, 11)]);
        assert_eq!(after(&mut arf, &[(false, 1)]), 3);
    }

    #[test]
    fn the_rate_stays_between_the_lowest_and_the_nominal_one() {
        let mut arf = Arf::new(TxVector(1));
        assert_eq!(after(&mut arf, &[(false, 100)]), 0);
        assert_eq!(after(&mut arf, &[(true, 1000)]), 1);
        let mut only = Arf::new(TxVector(0));
        assert_eq!(after(&mut only, &[(false, 2), (true, 1)]), 0);
    }
}
