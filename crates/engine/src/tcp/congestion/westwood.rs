//! Westwood+: Reno that reduces its window after a loss to the measured bandwidth-delay product,
//! and not to one half.
//!
//! Reference: L. A. Grieco, S. Mascolo, "Performance evaluation and comparison of Westwood+, New Reno,
//! and Vegas TCP congestion control", Computer Communication Review 34(2), 2004, section 2.
//!
//! ```text
//! b_k = d_k / Delta_k                           once per round trip: acknowledged segments per time
//! BWE = alpha BWE + (1 - alpha) b_k             alpha = 0.9
//! ssthresh = max(2, BWE RTTmin), cwnd = ssthresh   after three duplicate ACKs
//! ssthresh = max(2, BWE RTTmin), cwnd = 1          after a timeout
//! ```
//!
//! d_k is the number of segments acknowledged in round trip k, Delta_k its duration, BWE the
//! bandwidth estimate, and RTTmin the minimum round-trip time. The growth is Reno's, and recovery
//! is NewReno's. If there is no queue, BWE RTTmin is about the mean window of the last ten round
//! trips. Losses without congestion therefore hardly reduce the window.
//!
//! Differs from the paper in: BWE begins with its first sample, as in Linux, and before that a loss
//! halves the window; the segments of a recovery belong to one sample, which ends with the first
//! ACK after the recovery, whereas the paper counts duplicate ACKs. Differs from Linux in: one
//! filter of gain 1/10, not two consecutive filters of 1/8; a round trip is delimited by sequence
//! numbers, whereas in Linux it lasts as long as the last round-trip time sample, but at least 50
//! ms; packets are counted, not bytes; RTTmin remains after a timeout, whereas Linux measures it
//! again.
//!
//! The round trip that contains a pause of the application gives one low sample, as in Linux. With
//! a pause of any length, BWE decreases by at most a tenth.

use super::control::NewAck;
use super::window::{MIN_SSTHRESH, Window, half};
use super::window_algorithm::WindowAlgorithm;
use crate::kernel::time::{Span, Time};

/// Weight of the earlier bandwidth estimate when a sample is added. [-]
const ALPHA: f64 = 0.9;

#[derive(Clone, Debug)]
pub(super) struct Westwood {
    /// Bandwidth estimate BWE; `None` before the first sample. [packets/s]
    bandwidth: Option<f64>,
    /// Minimum round-trip time RTTmin.
    min_rtt: Span,
    /// Round trip in progress, whose acknowledged segments give the next bandwidth sample; `None`
    /// if no round trip has begun.
    round: Option<Round>,
}

/// A round trip, which begins with an ACK and ends with the ACK of the first segment sent after this ACK.
#[derive(Clone, Copy, Debug)]
struct Round {
    began: Time,
    /// Number of the first unacknowledged segment when the round trip began.
    snd_una: u32,
    /// Number of the next segment to send when the round trip began.
    snd_nxt: u32,
}

impl Westwood {
    pub(super) fn new() -> Westwood {
        Westwood {
            bandwidth: None,
            min_rtt: Span(u64::MAX),
            round: None,
        }
    }

    /// Adds a sample to the bandwidth estimate. [packets/s]
    fn on_sample(&mut self, sample: f64) {
        let filtered = |estimate| ALPHA * estimate + (1.0 - ALPHA) * sample;
        self.bandwidth = Some(self.bandwidth.map_or(sample, filtered));
    }

    /// Returns BWE RTTmin, the number of packets on the path without a queue; `None` before the
    /// first bandwidth sample. [packets]
    fn bandwidth_delay_product(&self) -> Option<f64> {
        let packets = self.bandwidth? * self.min_rtt.seconds();
        Some(packets.max(MIN_SSTHRESH))
    }
}

impl WindowAlgorithm for Westwood {
    fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
        if let Some(rtt) = ack.rtt.last_sample() {
            self.min_rtt = self.min_rtt.min(rtt);
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
        self.bandwidth_delay_product()
            .unwrap_or_else(|| half(flight))
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u32, first: bool) {
        window.on_timeout(flight, first);
        if first && let Some(packets) = self.bandwidth_delay_product() {
            window.ssthresh = packets;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::congestion::tests::{Driver, MS};

    fn near(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-6, "{actual} for {expected}");
    }

    /// 20 segments in 100 ms, and then 20 in 150 ms, give 0.9 * 200 + 0.1 * 133.3 = 193.3 packets
    /// per second.
    #[test]
    fn the_estimate_follows_two_round_trips_worked_by_hand() {
        let mut driver = Driver::new(Westwood::new(), 20.0);
        driver.round(100 * MS);
        assert_eq!(driver.algorithm.bandwidth, None);
        driver.round(100 * MS); // the first ACK of this round ends the first round trip
        near(driver.algorithm.bandwidth.unwrap(), 200.0);
        near(driver.algorithm.decrease(&driver.window, 21), 20.0);

        driver.algorithm.on_sample(400.0 / 3.0);
        near(driver.algorithm.bandwidth.unwrap(), 580.0 / 3.0);
        // RTTmin is still 100 ms, so ssthresh is 193.3 * 0.1 packets
        near(driver.algorithm.decrease(&driver.window, 21), 58.0 / 3.0);
    }

    /// A loss reduces the window only by the packets in the queue, which cause the longer
    /// round-trip time: from 30 packets in 150 ms to 20 packets in 100 ms.
    #[test]
    fn a_loss_removes_the_queue_and_no_more() {
        let mut driver = Driver::new(Westwood::new(), 30.0);
        driver.algorithm.min_rtt = Span(100 * MS);
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
    fn a_timeout_leaves_one_packet_and_the_path_as_threshold() {
        let mut driver = Driver::new(Westwood::new(), 20.0);
        driver.round(100 * MS);
        driver.round(100 * MS);
        driver.algorithm.on_timeout(&mut driver.window, 6, true);
        assert_eq!(driver.window.cwnd, 1.0);
        near(driver.window.ssthresh, 20.0);
        // a repeated timeout of the same segment does not change ssthresh
        driver.algorithm.on_sample(0.0);
        driver.algorithm.on_timeout(&mut driver.window, 1, false);
        near(driver.window.ssthresh, 20.0);
        // almost no bandwidth: ssthresh has its minimum
        driver.algorithm.bandwidth = Some(1.0);
        driver.algorithm.on_timeout(&mut driver.window, 1, true);
        assert_eq!(driver.window.ssthresh, 2.0);
    }
}
