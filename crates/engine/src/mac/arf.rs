//! Automatic rate fallback: the sender of a link chooses among its rates by what becomes of its frames.
//!
//! Kamerman and Monteban 1997, "WaveLAN-II: a high-performance wireless LAN for the unlicensed band":
//! two missed MAC ACKs in a row lower the rate, ten received in a row raise it; a failure of the first
//! frame after a rise takes it back at once.
//!
//! ```text
//! Steady --10 successes--> Probing (one rate up) --success--> Steady
//! Steady --2 failures----> Steady (one rate down)
//! Probing --failure------> Steady (one rate down)
//! ```
//!
//! Differs from the paper in: no timer raises the rate. A missed MAC ACK does not tell a collision from
//! a bad channel, and both lower the rate; a lost RTS does not.

/// Successes in a row that raise the rate.
const RAISING: u32 = 10;

/// Failures in a row that lower it.
const LOWERING: u32 = 2;

/// The choice among so many rates, in order of speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fallback {
    rates: usize,
    present: usize,
    successes: u32,
    failures: u32,
    /// Whether no frame has gone at this rate since it was raised.
    probing: bool,
}

impl Fallback {
    /// Begins with the fastest of `rates`, at least one.
    pub fn new(rates: usize) -> Fallback {
        Fallback {
            rates,
            present: rates - 1,
            successes: 0,
            failures: 0,
            probing: false,
        }
    }

    /// The rate to use, by its place.
    pub fn present(&self) -> usize {
        self.present
    }

    /// A frame was acknowledged, or was not; returns whether the rate has changed.
    pub fn heard(&mut self, acknowledged: bool) -> bool {
        let before = self.present;
        if acknowledged {
            self.failures = 0;
            self.probing = false;
            self.successes += 1;
            if self.successes >= RAISING && self.present + 1 < self.rates {
                self.present += 1;
                self.probing = true;
                self.successes = 0;
            }
        } else {
            self.successes = 0;
            self.failures += 1;
            if self.probing || self.failures >= LOWERING {
                self.present = self.present.saturating_sub(1);
                self.failures = 0;
            }
            self.probing = false;
        }
        self.present != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(fallback: &mut Fallback, heard: &[(bool, u32)]) -> usize {
        for &(acknowledged, times) in heard {
            for _ in 0..times {
                fallback.heard(acknowledged);
            }
        }
        fallback.present()
    }

    #[test]
    fn two_failures_in_a_row_lower_the_rate_and_ten_successes_raise_it() {
        let mut fallback = Fallback::new(4);
        assert_eq!(fallback.present(), 3);
        assert_eq!(
            after(&mut fallback, &[(false, 1), (true, 1), (false, 1)]),
            3
        );
        assert_eq!(after(&mut fallback, &[(false, 1)]), 2);
        assert_eq!(after(&mut fallback, &[(true, 9)]), 2);
        assert_eq!(after(&mut fallback, &[(true, 1)]), 3);
    }

    #[test]
    fn a_failure_at_a_rate_just_raised_takes_it_back_at_once() {
        let mut fallback = Fallback::new(4);
        after(&mut fallback, &[(false, 2), (true, 10)]);
        assert_eq!(after(&mut fallback, &[(false, 1)]), 2);
        after(&mut fallback, &[(true, 11)]);
        assert_eq!(after(&mut fallback, &[(false, 1)]), 3);
    }

    #[test]
    fn the_rate_stays_among_those_there_are() {
        let mut fallback = Fallback::new(2);
        assert_eq!(after(&mut fallback, &[(false, 100)]), 0);
        assert_eq!(after(&mut fallback, &[(true, 1000)]), 1);
        let mut only = Fallback::new(1);
        assert!(!only.heard(false) && !only.heard(false) && !only.heard(true));
    }
}
