//! Round-trip estimate and retransmission timeout.
//!
//! References: RFC 6298; RFC 7323, sections 4.1, 4.2 and appendix G.
//!
//! Every ACK of new data gives a round-trip time sample, because its timestamp shows which
//! transmission it acknowledges. Therefore Karn's algorithm excludes no sample. With several
//! samples per round trip the gains of RFC 6298 are divided by the expected number of samples (RFC
//! 7323, appendix G). Therefore the estimate averages over about eight round trips at any window.
//!
//! Differs from Linux in: the minimum applies to the whole RTO, not to its variance term. Therefore
//! RTO = SRTT + 4 RTTVAR if this sum exceeds the minimum. Differs from ns-2 in: there is a sample
//! per ACK, not one per round trip, and the unit is a nanosecond, not 10 ms.

use crate::kernel::time::Span;

/// Clock granularity G (RFC 6298): smallest value of the variance term in the RTO.
const GRANULARITY: Span = Span(1_000_000);

/// Upper bound of the RTO, with or without back-off (RFC 6298, rule 2.5).
const MAX_RTO: Span = Span(60_000_000_000);

/// Gains alpha and beta of the estimator for one sample per round trip (RFC 6298, rule 2.3). [-]
const ALPHA: f64 = 1.0 / 8.0;
const BETA: f64 = 1.0 / 4.0;

/// Round-trip time estimator of one sender.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    smoothed: Option<Smoothed>,
    last_sample: Span,
    rto: Span,
    /// Smallest RTO. [ns]
    min_rto: f64,
    backoffs: u32,
    timeouts: u32,
}

/// Smoothed round-trip time SRTT and its variation RTTVAR. [ns]
#[derive(Clone, Copy, Debug)]
struct Smoothed {
    srtt: f64,
    rttvar: f64,
}

impl RttEstimator {
    pub(super) fn new(initial_rto: Span, min_rto: Span) -> RttEstimator {
        RttEstimator {
            smoothed: None,
            last_sample: Span::ZERO,
            rto: initial_rto.min(MAX_RTO),
            min_rto: min_rto.nanoseconds(),
            backoffs: 0,
            timeouts: 0,
        }
    }

    /// Adds a sample that was taken while `flight` segments were outstanding. The sample ends the
    /// back-off (RFC 6298, rule 5.7).
    #[inline]
    pub(super) fn on_sample(&mut self, sample: Span, flight: u32) {
        let r = sample.nanoseconds();
        let next = match self.smoothed {
            None => Smoothed {
                srtt: r,
                rttvar: r / 2.0,
            },
            Some(Smoothed { srtt, rttvar }) => {
                // number of samples per round trip by RFC 7323, appendix G: ExpectedSamples =
                // ceil(FlightSize / (SMSS * 2))
                let expected_samples = f64::from(flight.div_ceil(2).max(1));
                let alpha = ALPHA / expected_samples;
                let beta = alpha * (BETA / ALPHA); // exact, because BETA / ALPHA is a power of two
                // RTTVAR is updated first, because rule 2.3 uses the old SRTT
                Smoothed {
                    rttvar: (1.0 - beta) * rttvar + beta * (srtt - r).abs(),
                    srtt: (1.0 - alpha) * srtt + alpha * r,
                }
            }
        };
        let variance = (4.0 * next.rttvar).max(GRANULARITY.0 as f64);
        let rto = next.srtt + variance;
        // `f64::max` takes several more instructions, for numbers that are not finite
        let bounded = match rto > self.min_rto {
            true => rto,
            false => self.min_rto,
        };
        self.rto = Span::from_nanoseconds(bounded.min(MAX_RTO.0 as f64));
        self.smoothed = Some(next);
        self.last_sample = sample;
        self.backoffs = 0;
    }

    /// Doubles the RTO after a timeout (RFC 6298, rule 5.5).
    pub(super) fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(MAX_RTO);
        self.backoffs += 1;
        self.timeouts += 1;
    }

    /// Increases the RTO to at least `rto`, until the next sample.
    pub(super) fn be_at_least(&mut self, rto: Span) {
        self.rto = self.rto.max(rto);
    }

    /// Returns the number of retransmission timeouts so far.
    pub(super) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Returns the number of consecutive timeouts without a later sample.
    pub(super) fn backoffs(&self) -> u32 {
        self.backoffs
    }

    /// Returns the current retransmission timeout, including the back-off.
    pub(super) fn rto(&self) -> Span {
        self.rto
    }

    /// Returns the smoothed round-trip time, or `None` before the first sample.
    pub fn srtt(&self) -> Option<Span> {
        self.smoothed.map(|s| Span::from_nanoseconds(s.srtt))
    }

    /// Returns the latest sample, or `None` before the first sample.
    pub fn last_sample(&self) -> Option<Span> {
        self.smoothed.map(|_| self.last_sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn estimator(min_rto_ms: u64) -> RttEstimator {
        RttEstimator::new(Span(1_000 * MS), Span(min_rto_ms * MS))
    }

    #[test]
    fn rto_is_initial_before_the_first_sample() {
        let rtt = estimator(200);
        assert_eq!(rtt.rto(), Span(1_000 * MS));
        assert_eq!(rtt.srtt(), None);
        assert_eq!(rtt.last_sample(), None);
    }

    #[test]
    fn rto_follows_rfc_6298_worked_by_hand() {
        let mut rtt = estimator(0);
        // rule 2.2: SRTT = 100, RTTVAR = 50, RTO = 100 + 4 * 50
        rtt.on_sample(Span(100 * MS), 1);
        assert_eq!(rtt.srtt(), Some(Span(100 * MS)));
        assert_eq!(rtt.rto(), Span(300 * MS));
        // rule 2.3: RTTVAR = 3/4 50 + 1/4 |100 - 180| = 57.5, SRTT = 7/8 100 + 1/8 180 = 110
        rtt.on_sample(Span(180 * MS), 2);
        assert_eq!(rtt.srtt(), Some(Span(110 * MS)));
        assert_eq!(rtt.rto(), Span(340 * MS));
        assert_eq!(rtt.last_sample(), Some(Span(180 * MS)));
    }

    #[test]
    fn gains_are_divided_by_the_expected_samples() {
        let mut rtt = estimator(0);
        rtt.on_sample(Span(100 * MS), 1);
        // with 7 segments in flight, there are four samples per round trip: RTTVAR = 15/16 50 +
        // 1/16 64 = 50.875, SRTT = 31/32 100 + 1/32 164 = 102, RTO = 102 + 203.5
        rtt.on_sample(Span(164 * MS), 7);
        assert_eq!(rtt.srtt(), Some(Span(102 * MS)));
        assert_eq!(rtt.rto(), Span(305 * MS + MS / 2));
    }

    #[test]
    fn minimum_bounds_the_whole_rto() {
        let mut rtt = estimator(200);
        rtt.on_sample(Span(10 * MS), 1);
        assert_eq!(rtt.rto(), Span(200 * MS));
    }

    #[test]
    fn granularity_bounds_the_variance_of_a_constant_round_trip() {
        let mut rtt = estimator(0);
        for _ in 0..200 {
            rtt.on_sample(Span(100 * MS), 1);
        }
        assert_eq!(rtt.rto(), Span(101 * MS));
    }

    #[test]
    fn back_off_doubles_up_to_a_minute_until_the_next_sample() {
        let mut rtt = estimator(200);
        let mut rto_s = Vec::new();
        for _ in 0..7 {
            rtt.back_off();
            rto_s.push(rtt.rto().0 / (1_000 * MS));
        }
        assert_eq!(rto_s, [2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(rtt.backoffs(), 7);
        rtt.on_sample(Span(100 * MS), 1);
        assert_eq!(rtt.rto(), Span(300 * MS));
        assert_eq!(rtt.backoffs(), 0);
    }
}
