//! Westwood+: Reno that on a loss gives up what the path did not carry, instead of half of the window.
//!
//! Reference: L. A. Grieco, S. Mascolo, "Performance evaluation and comparison of Westwood+, New Reno,
//! and Vegas TCP congestion control", Computer Communication Review 34(2), 2004, section 2.
//!
//! ```text
//! b_k = d_k / Delta_k                           once a round trip: what was acknowledged in it
//! BWE = alpha BWE + (1 - alpha) b_k             alpha = 0.9
//! ssthresh = max(2, BWE RTTmin), cwnd = ssthresh   after three duplicate ACKs
//! ssthresh = max(2, BWE RTTmin), cwnd = 1          after a timeout
//! ```
//!
//! Growth is Reno's, recovery NewReno's. Where no queue builds up, BWE RTTmin is the window of the last ten
//! round trips: losses without congestion hardly shrink it.
//!
//! Differs from the paper in: BWE begins with its first sample, as in Linux; before that a loss halves.
//! What a recovery delivers counts in one sample that lasts until the first ACK behind it, instead of by a
//! count of duplicate ACKs.
//! Differs from Linux in: one filter of gain 1/10 instead of two in a row of 1/8; a round trip by sequence
//! numbers instead of the last sample, at least 50 ms; packets instead of bytes; RTTmin is never forgotten,
//! where Linux begins anew after a timeout.

use super::control::NewAck;
use super::window::{MIN_SSTHRESH, Window, half};
use super::window_algorithm::WindowAlgorithm;
use crate::kernel::time::{Span, Time};

/// Part of the estimate that a sample leaves. [-]
const ALPHA: f64 = 0.9;

#[derive(Clone, Debug)]
pub(super) struct Westwood {
    /// BWE, once there is a sample. [packets/s]
    bandwidth: Option<f64>,
    /// RTTmin.
    least_rtt: Span,
    /// The round trip under way.
    round: Option<Round>,
}

/// A round trip, which begins with an ACK and ends with the ACK of the first segment sent after it.
#[derive(Clone, Copy, Debug)]
struct Round {
    began: Time,
    /// First segment not acknowledged when it began.
    snd_una: u32,
    /// Next segment to send when it began.
    snd_nxt: u32,
}

impl Westwood {
    pub(super) fn new() -> Westwood {
        Westwood {
            bandwidth: None,
            least_rtt: Span(u64::MAX),
            round: None,
        }
    }

    /// A sample of the bandwidth. [packets/s]
    fn on_sample(&mut self, sample: f64) {
        let filtered = |estimate| ALPHA * estimate + (1.0 - ALPHA) * sample;
        self.bandwidth = Some(self.bandwidth.map_or(sample, filtered));
    }

    /// BWE RTTmin, what the path holds without a queue. [packets]
    fn held(&self) -> Option<f64> {
        let packets = self.bandwidth? * self.least_rtt.seconds();
        Some(packets.max(MIN_SSTHRESH))
    }
}

impl WindowAlgorithm for Westwood {
    fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
        if let Some(rtt) = ack.rtt.last_sample() {
            self.least_rtt = self.least_rtt.min(rtt);
        }
        let (snd_una, snd_nxt) = (ack.snd_una, ack.snd_nxt);
        let is_over = self.round.is_none_or(|round| snd_una > round.snd_nxt);
        if is_over {
            if let Some(round) = self.round
                && ack.now > round.began
            {
                let acked = f64::from(snd_una - round.snd_una);
                self.on_sample(acked / ack.now.since(round.began).seconds());
            }
            self.round = Some(Round {
                began: ack.now,
                snd_una,
                snd_nxt,
            });
        }
        window.grow();
    }

    fn decrease(&mut self, _window: &Window, flight: u32) -> f64 {
        self.held().unwrap_or_else(|| half(flight))
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u32, first: bool) {
        window.on_timeout(flight, first);
        if first && let Some(held) = self.held() {
            window.ssthresh = held;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::congestion::tests::{Driver, MS};

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
    }

    /// 20 segments in 100 ms, then 20 in 150 ms: 0.9 * 200 + 0.1 * 133.3 = 193.3 packets a second.
    #[test]
    fn the_estimate_follows_two_round_trips_worked_by_hand() {
        let mut driver = Driver::new(Westwood::new(), 20.0);
        driver.round(100 * MS);
        assert_eq!(driver.algorithm.bandwidth, None);
        driver.round(100 * MS); // its first ACK ends the first round
        near(driver.algorithm.bandwidth.unwrap(), 200.0);
        near(driver.algorithm.decrease(&driver.window, 21), 20.0);

        driver.algorithm.on_sample(400.0 / 3.0);
        near(driver.algorithm.bandwidth.unwrap(), 580.0 / 3.0);
        // RTTmin is 100 ms still
        near(driver.algorithm.decrease(&driver.window, 21), 58.0 / 3.0);
    }

    /// A loss takes away the queue that a longer round trip shows: 30 packets in 150 ms are 20 in 100 ms.
    #[test]
    fn a_loss_takes_the_queue_and_no_more() {
        let mut driver = Driver::new(Westwood::new(), 30.0);
        driver.algorithm.least_rtt = Span(100 * MS);
        driver.round(150 * MS);
        driver.window.cwnd = 30.0;
        driver.round(150 * MS);
        near(driver.algorithm.bandwidth.unwrap(), 200.0);
        near(driver.algorithm.decrease(&driver.window, 30), 20.0);
    }

    #[test]
    fn before_the_first_sample_it_is_reno() {
        let mut driver = Driver::new(Westwood::new(), 20.0);
        assert_eq!(driver.algorithm.decrease(&driver.window, 20), 10.0);
        driver.algorithm.on_timeout(&mut driver.window, 16, true);
        assert_eq!((driver.window.cwnd, driver.window.ssthresh), (1.0, 8.0));
    }

    #[test]
    fn a_timeout_begins_with_one_packet_and_keeps_what_the_path_holds() {
        let mut driver = Driver::new(Westwood::new(), 20.0);
        driver.round(100 * MS);
        driver.round(100 * MS);
        driver.algorithm.on_timeout(&mut driver.window, 6, true);
        assert_eq!(driver.window.cwnd, 1.0);
        near(driver.window.ssthresh, 20.0);
        // again for the same segment: ssthresh stays
        driver.algorithm.on_sample(0.0);
        driver.algorithm.on_timeout(&mut driver.window, 1, false);
        near(driver.window.ssthresh, 20.0);
        // a path that carries next to nothing
        driver.algorithm.bandwidth = Some(1.0);
        driver.algorithm.on_timeout(&mut driver.window, 1, true);
        assert_eq!(driver.window.ssthresh, 2.0);
    }
}
