//! HyStart++: the first slow start ends when the round-trip time increases, and not only with a
//! loss.
//!
//! Reference: RFC 9406.
//!
//! ```text
//! slow start --minimum RTT of a round above the last round's by the threshold--> conservative
//! conservative slow start (a quarter of the growth)
//!     --minimum RTT below that of its first round--> slow start
//!     --5 rounds--> congestion avoidance: ssthresh = cwnd
//! ```
//!
//! Differs from the RFC in: growth is 1 or 1/4 packet per ACK. Therefore the limit L = 8 on the
//! growth per ACK has no effect. With `byte_counting`, growth is 1 or 1/4 packet per segment,
//! without a limit.

use std::ops::ControlFlow;

use super::control::NewAck;
use super::window::Window;

/// Constants of RFC 9406, section 4.3. Times are in s.
const MIN_RTT_THRESH: f64 = 0.004;
const MAX_RTT_THRESH: f64 = 0.016;
const MIN_RTT_DIVISOR: f64 = 8.0;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;

#[derive(Clone, Debug)]
pub(super) struct HyStart {
    /// windowEnd: number of the segment whose acknowledgement ends the round; `None` before the
    /// first round.
    window_end: Option<u32>,
    /// Minimum round-trip time of the previous round. [s]
    last_round_min_rtt: f64,
    /// Minimum round-trip time of the current round. [s]
    current_round_min_rtt: f64,
    samples: u32,
    conservative: Option<Conservative>,
}

/// The conservative slow start (CSS) stage.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// cssBaselineMinRtt: minimum round-trip time of the round in which conservative slow start
    /// began. Only samples up to this beginning are included. [s]
    baseline_min_rtt: f64,
    /// Number of rounds of conservative slow start so far, including the round in which it began.
    rounds: u32,
}

impl HyStart {
    pub(super) fn new() -> HyStart {
        HyStart {
            window_end: None,
            last_round_min_rtt: f64::INFINITY,
            current_round_min_rtt: f64::INFINITY,
            samples: 0,
            conservative: None,
        }
    }

    /// Sets the growth per ACK in slow start. When slow start ends, sets ssthresh and returns
    /// `Break`.
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &NewAck) -> ControlFlow<()> {
        if window.cwnd >= window.ssthresh {
            return ControlFlow::Break(());
        }
        let begins = self.window_end.is_none_or(|end| ack.snd_una > end);
        if begins && self.begin_round(ack.snd_nxt).is_break() {
            window.ssthresh = window.cwnd;
            return ControlFlow::Break(());
        }
        if let Some(sample) = ack.rtt.last_sample() {
            self.current_round_min_rtt = self.current_round_min_rtt.min(sample.seconds());
            self.samples += 1;
        }
        if self.samples >= N_RTT_SAMPLE {
            self.compare_rounds();
        }
        window.slow_start_gain = match self.conservative {
            None => 1.0,
            Some(_) => 1.0 / CSS_GROWTH_DIVISOR,
        };
        ControlFlow::Continue(())
    }

    fn begin_round(&mut self, snd_nxt: u32) -> ControlFlow<()> {
        self.window_end = Some(snd_nxt);
        self.last_round_min_rtt = self.current_round_min_rtt;
        self.current_round_min_rtt = f64::INFINITY;
        self.samples = 0;
        if let Some(css) = &mut self.conservative {
            css.rounds += 1;
            if css.rounds > CSS_ROUNDS {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn compare_rounds(&mut self) {
        match self.conservative {
            None => {
                let last = self.last_round_min_rtt;
                let threshold = (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.current_round_min_rtt >= last + threshold {
                    self.conservative = Some(Conservative {
                        baseline_min_rtt: self.current_round_min_rtt,
                        rounds: 1,
                    });
                }
            }
            Some(css) if self.current_round_min_rtt < css.baseline_min_rtt => {
                self.conservative = None;
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::window_algorithm::WindowAlgorithm;
    use super::*;
    use crate::tcp::congestion::tests::{Driver, MS};

    /// A congestion control that is in slow start with HyStart++; `None` after the end of slow
    /// start.
    #[derive(Clone, Debug)]
    struct Watched(Option<HyStart>);

    impl WindowAlgorithm for Watched {
        fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
            let flow = self.0.as_mut().map(|h| h.on_ack(window, &ack));
            if flow.is_some_and(|flow| flow.is_break()) {
                self.0 = None;
            }
            window.grow();
        }
    }

    fn driver() -> Driver<Watched> {
        let mut driver = Driver::new(Watched(Some(HyStart::new())), 10.0);
        driver.window.ssthresh = driver.window.receive;
        driver
    }

    /// With a minimum RTT of 100 ms the threshold is 100/8 = 12.5 ms.
    #[test]
    fn a_rise_by_an_eighth_slows_growth_to_a_quarter_for_five_rounds() {
        let mut driver = driver();
        driver.round(100 * MS);
        driver.round(112 * MS);
        assert_eq!(driver.window.cwnd, 40.0); // doubled twice: an increase of 12 ms is below the threshold
        driver.round(130 * MS);
        // the eighth sample of the round begins conservative slow start: seven ACKs add 1 packet
        // each, and 33 ACKs add 1/4 packet each
        assert_eq!(driver.window.cwnd, 40.0 + 7.0 + 33.0 / 4.0);
        let mut cwnd = driver.window.cwnd;
        for _ in 0..4 {
            driver.round(130 * MS);
            let grown = driver.window.cwnd / cwnd;
            assert!((1.24..=1.25).contains(&grown), "{grown}");
            cwnd = driver.window.cwnd;
        }
        driver.round(130 * MS); // slow start has ended
        assert_eq!(driver.window.ssthresh, cwnd);
        let grown = driver.window.cwnd - cwnd;
        assert!((0.9..=1.0).contains(&grown), "{grown}");
        assert!(driver.algorithm.0.is_none());
    }

    #[test]
    fn a_temporary_rise_has_no_lasting_effect() {
        let mut driver = driver();
        driver.round(100 * MS);
        driver.round(120 * MS);
        assert!(driver.window.cwnd < 35.0);
        let before = driver.window.cwnd;
        driver.round(100 * MS);
        // the eighth sample of the round ends conservative slow start: seven ACKs add 1/4 packet
        // each, and all other ACKs add 1 packet each
        let acks = before.floor();
        assert_eq!(driver.window.cwnd, before + 7.0 / 4.0 + (acks - 7.0));
        assert_eq!(driver.window.ssthresh, driver.window.receive);
    }
}
